"""Makes shell commands: every program that counts as a reader, with known and unknown options, in every kind of syntax.

Nothing in it is meant to be harmless. Most commands are asked about; those that are not are run by
`test_shell_fuzz.py`, which looks at what they did. What tries to start something starts `./evil`; what tries to write
writes a name with `made` in it.
"""

from __future__ import annotations

import random
import string

from reverie.permissions.shell.programs import READERS

EVIL = "./evil"


def _split(text: str) -> tuple[str, ...]:
    """The entries of a list; in them `⏎` and `→` stand for a new line and a tab."""
    entries = text.strip("\n").replace("\n", " ").split("¦")
    return tuple(entry.strip(" ").replace("⏎", "\n").replace("→", "\t") for entry in entries)


_FILES = _split(
    r"""
a.txt ¦ b.txt ¦ src/app.py ¦ sub/x.txt ¦ sub/deep/y.txt ¦ data.json ¦ list ¦ f1 ¦ -dash ¦ @list ¦ . ¦ src ¦ sub ¦
sub/deep ¦ bin ¦ *.txt ¦ s* ¦ ?.txt ¦ [ab].txt ¦ sub/* ¦ */* ¦ .* ¦ - ¦ 'a b.txt' ¦ 3 ¦ HEAD ¦ .git/config ¦
.git/HEAD ¦ docs ¦ made.txt ¦ ./made ¦ sub/made.txt
"""
)
_OUTSIDE = _split(
    r"""
out ¦ out/secret.txt ¦ o* ¦ */secret.txt ¦ link.txt ¦ l* ¦ ../other/secret.txt ¦ sub/../../other/* ¦
a/../../other/secret.txt ¦ up/../other/secret.txt ¦ sub/up ¦ ~/.gitconfig ¦ ~ ¦ .. ¦ ../*/* ¦ loop ¦
@../other/secret.txt ¦ sub/@l ¦ ./-x/../../other/secret.txt ¦ out/ ¦ {out,a}/secret.txt ¦ $HOME/.gitconfig
"""
)
_CODE = _split(
    r"""
$(./evil) ¦ `./evil` ¦ 'a[$(./evil)]' ¦ "a[$(./evil)]" ¦ 'x[0$(./evil)]=1' ¦ <(./evil) ¦ >(./evil) ¦
$((a[$(./evil)])) ¦ '$(./evil)' ¦ "$(./evil)" ¦ ${x:-$(./evil)} ¦ ${x@P} ¦ ';./evil;' ¦ ";./evil;" ¦
$'\x24(./evil)' ¦ $'a\'; ./evil #' ¦ \$(./evil) ¦ {a,$(./evil)} ¦ $[a[$(./evil)]] ¦ ${!x} ¦ $x ¦ ${x%%a*} ¦
'\'./evil ¦ "\"./evil" ¦ # ./evil ¦ a#⏎./evil ¦ a\⏎./evil ¦ ${x/a/$(./evil)} ¦ $(<./evil)
"""
)
_TEXTS = _split(
    r"""
x ¦ alpha ¦ 'two words' ¦ "q" ¦ 1 ¦ 0 ¦ 3 ¦ +2 ¦ 1,2 ¦ %s ¦ 'aaa%n' ¦ PATH ¦ RANDOM ¦ ENV ¦ x=1 ¦ '' ¦ HEAD ¦
main ¦ HEAD~1 ¦ HEAD:a.txt ¦ HEAD..main ¦ -- ¦ :/first ¦ made ¦ refs/heads/made ¦ $? ¦ "$?" ¦ ! ¦ = ¦ !=
"""
)
_VARIABLES = _split(
    r"""
x ¦ f ¦ i ¦ file ¦ PATH ¦ RANDOM ¦ SECONDS ¦ OPTIND ¦ SRANDOM ¦ HISTCMD ¦ IFS ¦ CDPATH ¦ BASH_ENV ¦ ENV ¦
LD_PRELOAD ¦ PAGER ¦ GIT_PAGER ¦ GIT_DIR ¦ GIT_EXTERNAL_DIFF ¦ GIT_SSH_COMMAND ¦ GIT_CONFIG_COUNT ¦ LANG ¦
LANGUAGE ¦ TZ ¦ LC_ALL ¦ PS4 ¦ PROMPT_COMMAND ¦ SHELLOPTS ¦ BASHOPTS ¦ POSIXLY_CORRECT ¦ GLOBIGNORE ¦ HOME ¦
LESSOPEN ¦ MANPAGER ¦ EDITOR ¦ GREP_OPTIONS ¦ TAR_OPTIONS ¦ AWKPATH ¦ LINENO ¦ EPOCHSECONDS ¦ BASHPID ¦ UID ¦
COLUMNS ¦ CI ¦ NO_COLOR ¦ PWD ¦ OLDPWD ¦ _ ¦ EXECIGNORE ¦ HISTFILE ¦ TMPDIR ¦ LOCPATH ¦ MAGIC ¦ REPLY ¦ DIRSTACK ¦
GROUPS ¦ FUNCNAME ¦ BASH_CMDS ¦ BASH_ALIASES ¦ COMP_WORDBREAKS ¦ RIPGREP_CONFIG_PATH ¦ TIMEFORMAT
"""
)
_BUILTINS = _split(
    r"""
read x ¦ let x=1 ¦ let 'a[$(./evil)]=1' ¦ mapfile -C ./evil -c 1 x ¦ compgen -C ./evil ¦ trap ./evil EXIT ¦
eval ./evil ¦ exec ./evil ¦ . ./evil ¦ source ./evil ¦ enable -f ./lib.so x ¦ declare -i x=1 ¦ export x=1 ¦
printf -v 'a[$(./evil)]' x ¦ test -v 'a[$(./evil)]' ¦ [ -v 'a[$(./evil)]' ] ¦ [[ -v a[$(./evil)] ]] ¦
hash -p ./evil ls ¦ [[ 'a[$(./evil)]' -eq 1 ]] ¦ [ 1 -eq 'a[$(./evil)]' ] ¦ wait -p 'a[$(./evil)]' ¦
unset 'a[$(./evil)]' ¦ umask 0 ¦ ulimit -a ¦ coproc ./evil ¦ fc -e ./evil ¦ alias ls=./evil ¦
shopt -s expand_aliases ¦ set -o history ¦ getopts ab x ¦ pushd sub ¦ f() { ./evil; } ¦ ls() { ./evil; } ¦
select x in a; do break; done ¦ local x=1 ¦ readonly x=1 ¦ history -w made ¦ caller ¦ bind -x '"a":./evil' ¦
complete -F x y ¦ kill -0 1 ¦ jobs -x ./evil ¦ times ¦ builtin cd sub ¦ command -p ls ¦ help cd ¦ let x ¦
((x=1)) ¦ ((a[$(./evil)])) ¦ printf 'aaa%n' PATH ¦ printf '%(%s)T' ¦ printf %q x ¦ printf '%*d' 3 4 ¦
printf %b x
"""
)
_RUNNERS = _split(
    r"""
command ¦ builtin ¦ timeout 5 ¦ time ¦ time -p ¦ nice ¦ nice -n 5 ¦ env ¦ env -i ¦ nohup ¦ exec ¦ eval ¦ xargs ¦
command -- ¦ timeout -k1 5 ¦ ! ¦ stdbuf -o0 ¦ setsid ¦ sh -c ¦ bash -c ¦ \ ¦ 'command' ¦ sudo ¦ coproc ¦ - ¦
time --
"""
)
_SED_PIECES = _split(
    r"""
s ¦ / ¦ / ¦ / ¦ [ ¦ ] ¦ ]/ ¦ [^]/] ¦ g ¦ p ¦ e ¦ w made ¦ r ../other/secret.txt ¦ ; ¦ ⏎ ¦ \ ¦ | ¦ a ¦ I ¦ 1 ¦ $ ¦
, ¦ ! ¦ { ¦ } ¦ /a/ ¦ s/a/b/ ¦ s|a|b|e ¦ 1e ./evil ¦ W made ¦ y/a/b/ ¦ F ¦ b ¦ :x ¦ q ¦ n ¦ \n ¦ [[:alpha:]]
"""
)
_SED = _split(
    r"""
p ¦ 1,2p ¦ $d ¦ s/a/b/ ¦ s/[a-z]/x/g ¦ /al/p ¦ s|/|x| ¦ s/[[:space:]]// ¦ 1!G;h;$!d ¦ s/a/b/w made ¦ s/.*/./e ¦
s/[]/]/g;/e;s/p;/a/p ¦ s/[^]/]*/x/;/w made/p ¦ r ../other/secret.txt ¦ R out/secret.txt ¦ 1e ¦ w made ¦
s/x/y/;e ./evil
"""
)
_AWK = _split(
    r"""
{print} ¦ {print $1} ¦ NR==1 ¦ /al/ ¦ {print length($0)} ¦ BEGIN{system("./evil")} ¦ {print > "made"} ¦
BEGIN{printf 1} ¦ BEGIN{"./evil"|getline} ¦ {while((getline x < "out/secret.txt")>0) print x} ¦ @load "x" ¦
BEGIN{ARGV[1]="out/secret.txt"} ¦ {print | "./evil"} ¦ BEGIN{print ENVIRON[1]} ¦ /"/{system("./evil")}/"/ ¦
BEGIN { print substr("x",1) } ¦ {gsub(/a/,"b");print}
"""
)
_JQ = _split(
    r"""
. ¦ .a ¦ keys ¦ length ¦ env ¦ $ENV ¦ input ¦ input_filename ¦ import "x" as x; . ¦ .a|tostring ¦ getpath(["a"]) ¦
include "x"; . ¦ @sh ¦ [paths] ¦ "x"|modulemeta ¦ $__prog_args ¦ inputs ¦ debug ¦ get_search_list ¦
ltrimstr("a") ¦ halt
"""
)
_HARMFUL = _split(
    r"""
-o made ¦ --output=made ¦ -omade ¦ --compress-program=./evil ¦ -S1 ¦ -T . ¦ --files0-from=list ¦ -f list ¦
--pre ./evil ¦ -exec ./evil {} ; ¦ -exec ./evil {} \; ¦ -delete ¦ -ok ./evil \; ¦ -fprint made ¦ -fls made ¦
-execdir ./evil + ¦ -files0-from list ¦ -r ¦ -i ¦ -w ¦ -c 'x' ¦ -e x ¦ -R ¦ -L ¦ -l ¦ --follow ¦ -s made ¦ -d @1 ¦
--set=1 ¦ --from-file list ¦ -L . ¦ -z ¦ --ext-diff ¦ --textconv ¦ --show-signature ¦
--open-files-in-pager=./evil ¦ -O./evil ¦ --no-index ¦ --exec=./evil ¦ -D x ¦ --exclude-from=out/secret.txt ¦
--reference=out ¦ --time-style=+%n ¦ --contents out/secret.txt ¦ --batch ¦ --help ¦ --version ¦
--batch-all-objects --batch ¦ --filters ¦ -p HEAD:a.txt ¦ --list ¦ --list made ¦ --sort --list made ¦
--format --list made ¦ --format=%G? ¦ '--format=%(signature)' ¦ --pretty=evil ¦ --use-mailmap ¦ --global --list ¦
--system -l ¦ --get user.name ¦ -d made ¦ --color=always ¦ --stat ¦ --name-only ¦ -p ¦ -5 ¦ -n1 ¦ -n 1 ¦ -a ¦ -v ¦
--all ¦ --follow a.txt ¦ --recurse-submodules
"""
)
_GIT_GLOBAL = _split(
    r"""
--no-pager ¦ -c core.fsmonitor=./evil ¦ -c alias.x=!./evil ¦ -C out ¦ --git-dir=docs ¦ --exec-path=bin ¦ -p ¦
--paginate
"""
)
_GIT = _split(
    r"""
status ¦ diff ¦ log ¦ show ¦ log -p ¦ whatchanged ¦ shortlog HEAD ¦ rev-list --all ¦ diff-tree HEAD ¦
diff-index HEAD ¦ diff-files ¦ blame a.txt ¦ grep al ¦ ls-files ¦ ls-tree HEAD ¦ cat-file -p HEAD ¦
rev-parse HEAD ¦ describe --always --dirty ¦ merge-base HEAD main ¦ name-rev HEAD ¦ show-ref ¦ for-each-ref ¦
check-ignore -v a.txt ¦ check-attr -a a.txt ¦ count-objects -v ¦ branch ¦ tag ¦ remote -v ¦ remote get-url o ¦
stash list ¦ stash show ¦ worktree list ¦ reflog ¦ config --list ¦ version ¦ fetch ¦ pull ¦ push ¦ commit -m x ¦
add . ¦ checkout main ¦ gc ¦ fsck ¦ difftool ¦ bisect start ¦ x ¦ st ¦ archive HEAD ¦ branch made ¦ tag made ¦
update-ref refs/heads/made HEAD ¦ remote update ¦ reflog expire --all ¦ stash ¦ worktree add made ¦ notes ¦
config x.y z ¦ symbolic-ref HEAD refs/heads/made ¦ ls-remote ¦ submodule status ¦ var GIT_EDITOR ¦
credential fill ¦ help log
"""
)
_JOINTS = (";", "&&", "||", "|", "&", "\n", "|&", ";\n", " ; ", "|| ! ")
_REDIRECTS = _split(
    r"""
> made ¦ >> made ¦ 2>made ¦ &>made ¦ >|made ¦ <> made ¦ > /dev/null ¦ 2>&1 ¦ 2>/dev/null ¦ < a.txt ¦
< out/secret.txt ¦ <<< x ¦ <<< $(./evil) ¦ {x}>made ¦ >&made ¦ 0<&- ¦ >&- ¦ <&3 ¦ < <(./evil) ¦ > >(./evil) ¦
< l* ¦ 3<a.txt ¦ > $x ¦ 1>&2 ¦ <<E⏎$(./evil)⏎E⏎ ¦ <<'E'⏎$(./evil)⏎E⏎ ¦ <<-E⏎→x⏎→E⏎ ¦ <<E\⏎E⏎./evil⏎E⏎ ¦
<<E; ./evil⏎E⏎ ¦ 2>&1 > made
"""
)
_NOISE = "'\"\\$`(){}[]<>|&;#~*?!\n\t =-@%+,.:^/0a"


class Commands:
    """An endless, seeded source of commands."""

    def __init__(self, seed: int, git_share: float = 0.3) -> None:
        self._random = random.Random(seed)
        self._git_share = git_share
        self._readers = sorted(READERS)

    def command(self) -> str:
        """The next one."""
        made = self._list(depth=0)
        if self._maybe(0.15):
            made = self._noisy(made)
        return made

    def _list(self, depth: int) -> str:
        parts = [self._compound(depth)]
        while self._maybe(0.25) and len(parts) < 4:
            parts += [self._one(_JOINTS), self._compound(depth)]
        return " ".join(parts)

    def _compound(self, depth: int) -> str:
        inner = self._list if depth < 2 else lambda _: self._simple()
        body = inner(depth + 1) if self._maybe(0.3) else self._simple()
        kinds = {
            "plain": 60,
            "for": 10,
            "while": 2,
            "if": 3,
            "group": 3,
            "subshell": 3,
            "negated": 2,
            "builtin": 7,
            "assigned": 5,
            "runner": 6,
            "case": 1,
            "printed": 3,
        }
        match self._random.choices(list(kinds), list(kinds.values()))[0]:
            case "for":
                words = " ".join(self._word() for _ in range(self._random.randint(1, 2)))
                return f"for {self._variable()} in {words}; do {body}; done"
            case "while":
                return f"{self._one(('while', 'until'))} {self._simple()}; do {body}; break; done"
            case "if":
                return f"if {self._simple()}; then {body}; else {self._simple()}; fi"
            case "group":
                return f"{{ {body}; }} {self._redirect()}"
            case "subshell":
                return f"({body}) {self._redirect()}"
            case "negated":
                return f"! {body}"
            case "builtin":
                return self._one(_BUILTINS)
            case "assigned":
                return f"{self._variable()}={self._word()}{self._one((' ', '; '))}{body}"
            case "runner":
                return f"{self._one(_RUNNERS)} {self._simple()}"
            case "case":
                return f"case {self._word()} in {self._word()}) {body};; esac"
            case "printed":
                return f"echo {self._one(('$(', '`', '<(', '$((', '${x:-$('))}{body}{self._one((')', '`', '))', ')}'))}"
            case _:
                return self._simple()

    def _simple(self) -> str:
        program = "git" if self._maybe(self._git_share) else self._one(self._readers)
        match program:
            case "git":
                before = self._one(_GIT_GLOBAL) if self._maybe(0.1) else ""
                words = [before, self._one(_GIT)]
            case "sed":
                random_script = "".join(self._one(_SED_PIECES) for _ in range(self._random.randint(1, 9)))
                words = [
                    "-n" if self._maybe(0.5) else "",
                    _quoted(random_script if self._maybe(0.5) else self._one(_SED)),
                ]
            case "awk" | "gawk":
                words = [_quoted(self._one(_AWK))]
            case "jq":
                words = [_quoted(self._one(_JQ))]
            case "find":
                words = [self._word(), self._one(("", "-name x", "-type f", "-maxdepth 2"))]
            case "tail":
                words = ["-n 3"]
            case "sleep":
                words = ["0"]
            case "[" | "[[" | "test":
                closing = {"[": "]", "[[": "]]", "test": ""}[program]
                return f"{program} {self._one(('-f', '-v', '-R', '-n', '-o', '-t', 'x ='))} {self._word()} {closing}"
            case _:
                words = []
        if self._maybe(0.35):
            words.append(self._option())
        words += [self._word() for _ in range(self._random.randint(0, 2))]
        if self._maybe(0.04):
            program = self._one(
                (f"/bin/{program}", f"'{program}'", f"\\{program}", f"./bin/{program}", f"{program[:1]}'{program[1:]}'")
            )
        return " ".join((program, *filter(None, words), *([self._redirect()] if self._maybe(0.12) else [])))

    def _option(self) -> str:
        if self._maybe(0.5):
            return self._one(_HARMFUL)
        letters = "".join(self._random.choices(string.ascii_letters + string.digits, k=self._random.randint(1, 2)))
        value = self._one(("", "", "made", " made", " 1", f" {EVIL}"))
        # These wait for more, or print for ever.
        return f"-{letters}{value}" if not set("fF") & set(letters) else ""

    def _word(self) -> str:
        return self._one(self._random.choices((_FILES, _TEXTS, _OUTSIDE, _CODE), (50, 25, 17, 8))[0])

    def _variable(self) -> str:
        return self._one(_VARIABLES)

    def _redirect(self) -> str:
        return self._one(_REDIRECTS) if self._maybe(0.5) else ""

    def _noisy(self, text: str) -> str:
        for _ in range(self._random.randint(1, 3)):
            place = self._random.randrange(len(text) + 1)
            gone = self._random.randint(0, 1)
            text = text[:place] + self._random.choice(("", *_NOISE)) + text[place + gone :]
        return text

    def _one(self, choices: tuple[str, ...] | list[str]) -> str:
        return self._random.choice(choices)

    def _maybe(self, share: float) -> bool:
        return self._random.random() < share


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
