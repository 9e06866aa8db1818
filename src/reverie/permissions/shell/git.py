"""Which `git` commands and options only read and run no other program.

What the repository's own configuration makes git run (a file system monitor, a text converter) may have come with an
archive, and so may a folder that pretends to be a repository: where there is any, git is not asked without a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from reverie.files.places.git_programs import configured_programs
from reverie.permissions.shell.flags import AllowedFlags, Parsed
from reverie.permissions.shell.script import Word

_Check: TypeAlias = Callable[[Sequence[Word], Parsed], bool]
"""Whether these words, told apart, only ask."""

_DIFF_LONG = (
    "stat? shortstat numstat dirstat? summary compact-summary name-only name-status patch no-patch unified= raw color? "
    "no-color word-diff? word-diff-regex= color-words? color-moved? ignore-all-space ignore-space-change "
    "ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol cached staged merge-base find-renames? find-copies? "
    "find-copies-harder no-renames diff-filter= relative? no-relative no-ext-diff no-textconv minimal patience "
    "histogram diff-algorithm= anchored= check full-index binary abbrev? quiet exit-code text function-context "
    "ignore-submodules? src-prefix= dst-prefix= no-prefix patch-with-stat inter-hunk-context= pickaxe-all "
    "pickaxe-regex cc combined-all-paths indent-heuristic ita-invisible-in-index rotate-to= skip-to= "
)
_LOG_LONG = (
    "oneline graph decorate? no-decorate decorate-refs= all branches? tags? remotes? glob= exclude= since= after= "
    "until= before= since-as-filter= author= committer= grep= grep-reflog= all-match invert-grep regexp-ignore-case "
    "extended-regexp fixed-strings perl-regexp max-count= skip= reverse first-parent merges no-merges min-parents= "
    "max-parents= follow pretty? format= abbrev-commit no-abbrev-commit date= topo-order date-order author-date-order "
    "left-right left-only right-only cherry cherry-pick cherry-mark boundary simplify-by-decoration full-history dense "
    "sparse ancestry-path? source notes? no-notes use-mailmap mailmap no-mailmap walk-reflogs show-pulls encoding= "
    "relative-date parents children count log-size expand-tabs? no-expand-tabs diff-merges= remerge-diff "
)
_DIFF = AllowedFlags("puswbBDRazWtcm", valued="SGU", optional="MCX", long=_DIFF_LONG)
_LOG = AllowedFlags("puswbiEFPgzaRtcmW", valued="nSGLU", optional="MC", long=_DIFF_LONG + _LOG_LONG, numbers=True)
_LISTING_LONG = (
    "list contains? no-contains? merged? no-merged? points-at= sort= format= color? no-color column? no-column "
    "ignore-case"
)


def _any(_words: Sequence[Word], _parsed: Parsed) -> bool:
    return True


def _no_operand(_words: Sequence[Word], parsed: Parsed) -> bool:
    return not parsed.operands


def _listing(_words: Sequence[Word], parsed: Parsed) -> bool:
    """`branch` and `tag` make what they are given as an operand, unless an option asks for a list."""
    asks = ("l", "list", "contains", "no-contains", "merged", "no-merged", "points-at")
    return not parsed.operands or parsed.has(*asks)


def _begins(*first: str) -> _Check:
    return lambda words, _parsed: bool(words) and words[0].value in first


def _empty_or(*first: str) -> _Check:
    return lambda words, parsed: not parsed.operands or words[0].value in first


def _config(_words: Sequence[Word], parsed: Parsed) -> bool:
    """The repository's own settings; of the user's, which may hold keys, only those that say who and what."""
    if parsed.has("list", "l"):
        return parsed.has("local") and not parsed.operands
    if len(parsed.operands) != 1:
        return False
    is_open = _OPEN_SETTINGS.fullmatch(parsed.operands[0].value or "") is not None
    return is_open or (parsed.has("local") and parsed.has("get", "get-all", "get-regexp"))


_OPEN_SETTINGS = re.compile(
    r"user\.(?:name|email)|core\.\w+|init\.defaultbranch|(?:branch|submodule)\..*|remote\.[^:]*\.(?:url|pushurl|fetch)"
    r"|(?:pull|push|fetch|merge|diff|commit|tag|rebase)\.\w+",
    re.IGNORECASE,
)


_QUESTIONS: Mapping[str, tuple[AllowedFlags, _Check]] = {
    "status": (
        AllowedFlags(
            "sbvz",
            optional="u",
            long="short branch porcelain? long verbose untracked-files? ignored? show-stash "
            "ahead-behind no-ahead-behind renames no-renames find-renames? column? no-column null",
        ),
        _any,
    ),
    "diff": (_DIFF, _any),
    "log": (_LOG, _any),
    "show": (_LOG, _any),
    "shortlog": (
        AllowedFlags("nsec", long="numbered summary email all no-merges merges since= until= group= author="),
        _any,
    ),
    "rev-list": (_LOG, _any),
    "diff-tree": (AllowedFlags("prtmsczRMCuw", long=_DIFF_LONG + "root no-commit-id pretty? format="), _any),
    "diff-index": (_DIFF, _any),
    "diff-files": (_DIFF, _any),
    "blame": (
        AllowedFlags(
            "wselfntpcb",
            valued="L",
            optional="MC",
            long="porcelain line-porcelain show-email date= abbrev? root "
            "show-name show-number incremental ignore-rev= color-lines color-by-age reverse first-parent since=",
        ),
        _any,
    ),
    "grep": (
        AllowedFlags(
            "aiIvwhHEGPFnlLcpWrzqo",
            valued="eABCm",
            long="cached untracked text ignore-case word-regexp invert-match full-name extended-regexp "
            "perl-regexp fixed-strings line-number column files-with-matches files-without-match name-only count "
            "color? no-color break heading show-function context= after-context= before-context= function-context "
            "and or not all-match quiet only-matching max-depth= max-count= recursive no-recursive threads= "
            "exclude-standard",
            numbers=True,
        ),
        _any,
    ),
    "ls-files": (
        AllowedFlags(
            "cdmoiuktvzsf",
            valued="x",
            long="cached deleted modified others ignored stage unmerged killed "
            "exclude= exclude-standard error-unmatch full-name abbrev? eol deduplicate directory no-empty-directory "
            "format= debug with-tree=",
        ),
        _any,
    ),
    "ls-tree": (
        AllowedFlags("drtlz", long="name-only name-status long full-name full-tree abbrev? object-only format="),
        _any,
    ),
    "cat-file": (AllowedFlags("tsep", long="batch? batch-check? batch-all-objects"), _any),
    "rev-parse": (
        AllowedFlags(
            "q",
            long="verify quiet short? abbrev-ref? symbolic symbolic-full-name show-toplevel show-prefix show-cdup "
            "git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository "
            "is-shallow-repository all branches? tags? remotes? show-superproject-working-tree default= revs-only "
            "show-object-format git-path=",
        ),
        _any,
    ),
    "describe": (
        AllowedFlags(
            long="all tags always dirty? broken? long abbrev? match= exclude= exact-match candidates= contains "
            "first-parent"
        ),
        _any,
    ),
    "merge-base": (AllowedFlags("a", long="all octopus independent is-ancestor fork-point"), _any),
    "name-rev": (AllowedFlags(long="tags refs= exclude= all name-only no-undefined always"), _any),
    "show-ref": (AllowedFlags("dqs", long="head heads tags branches verify quiet dereference hash? abbrev?"), _any),
    "for-each-ref": (
        AllowedFlags(
            long="count= sort= format= points-at= merged? no-merged? contains? no-contains? ignore-case color?"
        ),
        _any,
    ),
    "check-ignore": (AllowedFlags("qvnz", long="quiet verbose non-matching no-index"), _any),
    "check-attr": (AllowedFlags("az", long="all cached"), _any),
    "count-objects": (AllowedFlags("vH", long="verbose human-readable"), _no_operand),
    "branch": (
        AllowedFlags("arvli", long=f"all remotes verbose show-current abbrev? no-abbrev {_LISTING_LONG}"),
        _listing,
    ),
    "tag": (AllowedFlags("li", optional="n", long=_LISTING_LONG), _listing),
    "remote": (AllowedFlags("v", long="verbose all push"), _empty_or("get-url")),
    "stash": (_LOG, _begins("list", "show")),
    "worktree": (AllowedFlags("vz", long="porcelain verbose"), _begins("list")),
    "reflog": (_LOG, _empty_or("show")),
    "config": (
        AllowedFlags(
            "lz",
            long="list get get-all get-regexp local name-only show-origin show-scope null type= bool int",
        ),
        _config,
    ),
    "version": (AllowedFlags(), _no_operand),
}
_SIGNATURES = re.compile(r"%G|%\(\*?signature")
"""In a format it makes git run the signature checker."""


def git_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """Words that may be paths; None when this is no plain question to git."""
    rest = list(words)
    while rest and rest[0].value in ("--no-pager", "--no-optional-locks", "--literal-pathspecs"):
        rest.pop(0)
    if len(rest) == 1 and rest[0].value == "--version":
        return ()
    question = _QUESTIONS.get((rest[0].value or "") if rest else "")
    if question is None or rest[0].has_glob:
        return None
    flags, only_asks = question
    options = rest[1:]
    parsed = flags.parse(options)
    if parsed is None or not only_asks(options, parsed):
        return None
    if any(_SIGNATURES.search(word.value or "") for word in options):
        return None
    return parsed.operands


def is_strange_repository(directory: Path) -> bool:
    """Whether a mere question to git, asked here, might run a program that the repository names."""
    return bool(configured_programs(directory))
