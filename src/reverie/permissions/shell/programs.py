"""Which programs only read, with which options, and which of their words are paths.

A program is here because none of the listed uses writes a file, runs another program, asks the network or shows the
environment. `None` as a reader's answer means: this use is not known to be harmless.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from reverie.permissions.shell.flags import AllowedFlags, may_become_option
from reverie.permissions.shell.git import git_paths
from reverie.permissions.shell.script import Word
from reverie.permissions.shell.scripts import awk_paths, jq_paths, sed_paths

# `find`: its tests and the actions that only print. Everything else it can do runs programs or removes files.

_LEADING = frozenset({"-H", "-L", "-P"})
_FOLLOWING = frozenset({"-L", "-follow"})
_ALONE = frozenset(
    {"-print", "-print0", "-ls", "-not", "!", "-o", "-or", "-a", "-and", "(", ")", ",", "-prune", "-empty", "-quit"}
    | {"-true", "-false", "-follow", "-depth", "-d", "-xdev", "-mount", "-readable", "-writable", "-executable"}
    | {"-noleaf", "-nouser", "-nogroup", "-daystart", "-ignore_readdir_race"}
)
_VALUED = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type"}
    | {"-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-perm"}
    | {"-user", "-group", "-uid", "-gid", "-links", "-inum", "-lname", "-ilname", "-printf", "-newermt", "-fstype"}
)
_VALUED_BY_PATH = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})


def find_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The starting points and files it compares with; None when it might do more than look."""
    if any(word.value is None or may_become_option(word) for word in words):
        return None
    waiting = list(words)
    paths: list[Word] = []
    follows = any(word.value in _FOLLOWING for word in words)
    while waiting and waiting[0].value in _LEADING:
        waiting.pop(0)
    while waiting and (waiting[0].value or "")[:1] not in ("-", "(", "!", ",", ")", ""):
        paths.append(waiting.pop(0))
    paths = paths or [Word(".", ".")]
    while waiting:
        word = waiting.pop(0)
        if word.value in _ALONE:
            continue
        if (word.value not in _VALUED and word.value not in _VALUED_BY_PATH) or not waiting or word.has_glob:
            return None
        value = waiting.pop(0)
        if word.value in _VALUED_BY_PATH:
            paths.append(value)
    return tuple(replace(path, follows_links=follows) for path in paths)


Reader: TypeAlias = Callable[[Sequence[Word]], tuple[Word, ...] | None]
"""Takes the words after the program's name; answers with the paths among them, or None."""


def _paths(flags: AllowedFlags, *, following: Sequence[str] | None = None) -> Reader:
    """Every operand is a path, or the present folder without one. `following` options, where given, follow links."""

    def read(words: Sequence[Word]) -> tuple[Word, ...] | None:
        parsed = flags.parse(words)
        if parsed is None or following is None or not parsed.has(*following):
            return None if parsed is None else parsed.operands
        return _following(parsed.operands or (Word(".", "."),))

    return read


def _following(paths: Sequence[Word]) -> tuple[Word, ...]:
    return tuple(replace(path, follows_links=True) for path in paths)


def _after_pattern(flags: AllowedFlags, pattern_options: Sequence[str], *, following: Sequence[str]) -> Reader:
    """The first operand is a pattern unless an option gives it; the others are paths."""

    def read(words: Sequence[Word]) -> tuple[Word, ...] | None:
        parsed = flags.parse(words)
        if parsed is None:
            return None
        paths = parsed.operands if parsed.has(*pattern_options) else parsed.operands[1:]
        return _following(paths or (Word(".", "."),)) if parsed.has(*following) else paths

    return read


def _diff(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """Of two folders it compares the files, wherever links lead."""
    operands = _DIFF.operands(words)
    return None if operands is None else _following(operands)


def _ls_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    parsed = _LISTING.parse(words)
    if parsed is None:
        return None
    follows = parsed.has("R", "recursive") and parsed.has("L", "dereference")
    return _following(parsed.operands or (Word(".", "."),)) if follows else parsed.operands


def _strings(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """`@file` stands for the words in a file."""
    operands = AllowedFlags("af", valued="nt").operands(words)
    return None if any((word.value or "").startswith("@") for word in words) else operands


def _no_paths(flags: AllowedFlags) -> Reader:
    """Operands are names or text, not paths."""
    return lambda words: None if flags.operands(words) is None else ()


def _at_most_one(flags: AllowedFlags) -> Reader:
    """A second operand would be written to."""

    def read(words: Sequence[Word]) -> tuple[Word, ...] | None:
        operands = flags.operands(words)
        return None if operands is None or len(operands) > 1 or any(word.has_glob for word in operands) else operands

    return read


def _bare(words: Sequence[Word]) -> tuple[Word, ...] | None:
    return None if words else ()


def _text(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """What is only printed may be anything that can be told; a pattern lists names of files, so it counts as a path."""
    return None if any(word.value is None for word in words) else tuple(word for word in words if word.has_glob)


def _printf(words: Sequence[Word]) -> tuple[Word, ...] | None:
    # `-v name` and `%n` assign to a variable, `PATH` too.
    if not words or words[0].value is None or words[0].has_glob or not _PRINTED.fullmatch(words[0].value):
        return None
    return _text(words)


_PRINTED = re.compile(r"(?!-)(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d+)?[bcdeEfgGioqsuxX])*")


def _date(words: Sequence[Word]) -> tuple[Word, ...] | None:
    operands = _DATE.operands(words)
    is_format = operands is not None and all((word.value or "").startswith("+") for word in operands)
    return () if is_format else None


def _cd(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """Only to a place that can be told: not home, not back."""
    operands = AllowedFlags("LP").operands(words)
    if operands is None or len(operands) != 1 or operands[0].has_glob or operands[0].value in ("-", ""):
        return None
    return operands


def _command(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """Only the question where a program is; `read_only` looks behind any other use."""
    asks = len(words) >= 2 and words[0].value in ("-v", "-V")
    return () if asks and all(word.value is not None for word in words) else None


def _test(words: Sequence[Word]) -> tuple[Word, ...] | None:
    values = [word.value for word in words]
    match values:
        case ["-f" | "-d" | "-e" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h", str()]:
            return (words[1],)
        case ["-n" | "-z", str()]:
            return ()
        case [str(), "=" | "!=", str()] if values[0] and values[0][0] not in "-!(":
            return ()
        case _:
            return None


def _bracket_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    return _test(words[:-1]) if words and words[-1].value in ("]", "]]") else None


def _version(words: Sequence[Word]) -> tuple[Word, ...] | None:
    return () if [word.value for word in words] in (["--version"], ["-V"]) else None


_DATE = AllowedFlags("uR", valued="d", optional="I", long="utc universal date= iso-8601? rfc-3339= rfc-email")
_LISTING = AllowedFlags(
    "aAlhrtRS1dFiGgonkmpqsucCxUvXfLHNQbBD",
    long="all almost-all human-readable recursive reverse size classify directory inode color? full-time sort= time= "
    "time-style= group-directories-first hide= ignore= si numeric-uid-gid no-group format= author dereference",
    harmless=True,
)
_GREP = AllowedFlags(
    "abcEFGHhILlnoPqRrsTUvwxZzi",
    valued="eABCmdD",
    long="extended-regexp fixed-strings perl-regexp basic-regexp regexp= ignore-case no-ignore-case invert-match "
    "word-regexp line-regexp count color? colour? files-with-matches files-without-match max-count= only-matching "
    "quiet silent no-messages byte-offset with-filename no-filename line-number null after-context= "
    "before-context= context= text binary-files= include= exclude= exclude-dir= recursive "
    "dereference-recursive directories= null-data label=",
    numbers=True,
    harmless=True,
)
_RIPGREP = AllowedFlags(
    "aFiHIlLnNopPqsSUuvwx0c.",
    valued="eABCgtTmjMdEr",
    long="regexp= after-context= before-context= context= glob= iglob= type= type-not= type-list max-count= max-depth= "
    "max-columns= max-filesize= files files-with-matches files-without-match count count-matches fixed-strings "
    "ignore-case case-sensitive smart-case invert-match word-regexp line-regexp line-number no-line-number "
    "with-filename no-filename heading no-heading only-matching quiet hidden no-ignore no-ignore-vcs no-ignore-parent "
    "multiline multiline-dotall pcre2 pretty color= colors= column no-column sort= sortr= stats json passthru null "
    "replace= trim vimgrep text binary unrestricted one-file-system no-messages no-config threads= path-separator= "
    "context-separator= encoding= glob-case-insensitive byte-offset debug no-unicode crlf",
)
_SORT = AllowedFlags(
    "bdfgiMhnRrVcCmsuz",
    valued="kt",
    long="numeric-sort reverse unique key= field-separator= human-numeric-sort version-sort ignore-case stable check? "
    "general-numeric-sort month-sort random-sort dictionary-order ignore-leading-blanks zero-terminated merge "
    "parallel=",
)
_DIFF = AllowedFlags(
    "abBcdeEHinNpqrstTuwyZ",
    valued="CUxWIF",
    long="unified? context? brief recursive side-by-side ignore-case ignore-all-space ignore-space-change "
    "ignore-blank-lines new-file text report-identical-files exclude= color? suppress-common-lines "
    "strip-trailing-cr minimal width= label=",
)
_TREE = AllowedFlags(
    "adfixlpsughDFqNQrtcUCASnvJX",
    valued="LIP",
    long="dirsfirst filesfirst gitignore noreport prune du si inodes device charset= filelimit= matchdirs ignore-case "
    "sort? timefmt= fromfile metafirst",
)
# Without `-c`, which reads the files that a list names.
_CHECKSUM = AllowedFlags("btz", long="binary text zero tag", harmless=True)

READERS: Mapping[str, Reader] = {
    "ls": _ls_paths,
    "dir": _ls_paths,
    "cat": _paths(
        AllowedFlags(
            "AbeEnstTuv", long="number number-nonblank show-all show-ends show-tabs squeeze-blank", harmless=True
        )
    ),
    "head": _paths(
        AllowedFlags("qvz", valued="nc", long="lines= bytes= quiet silent verbose", numbers=True, harmless=True)
    ),
    "tail": _paths(
        AllowedFlags(
            "qvzrfF", valued="nc", long="lines= bytes= quiet silent verbose follow? retry", numbers=True, harmless=True
        )
    ),
    "wc": _paths(AllowedFlags("clmwL", long="bytes chars lines words max-line-length", harmless=True)),
    "grep": _after_pattern(_GREP, ("e", "regexp"), following=("R", "dereference-recursive")),
    "egrep": _after_pattern(_GREP, ("e", "regexp"), following=("R", "dereference-recursive")),
    "fgrep": _after_pattern(_GREP, ("e", "regexp"), following=("R", "dereference-recursive")),
    "rg": _after_pattern(_RIPGREP, ("e", "regexp", "files", "type-list"), following=("L",)),
    "find": find_paths,
    "git": git_paths,
    "sed": sed_paths,
    "awk": awk_paths,
    "gawk": awk_paths,
    "jq": jq_paths,
    "sort": _paths(_SORT),
    "uniq": _at_most_one(
        AllowedFlags(
            "cdDiuz", valued="fsw", long="count repeated unique ignore-case skip-fields= skip-chars= check-chars="
        )
    ),
    "cut": _paths(
        AllowedFlags(
            "nsz",
            valued="bcdf",
            long="bytes= characters= delimiter= fields= complement only-delimited output-delimiter=",
        )
    ),
    "tr": _no_paths(AllowedFlags("cCdst", long="complement delete squeeze-repeats truncate-set1")),
    "nl": _paths(AllowedFlags("p", valued="abdfhilnsvw", long="body-numbering= number-width=", harmless=True)),
    "tac": _paths(AllowedFlags("br", valued="s", harmless=True)),
    "rev": _paths(AllowedFlags(harmless=True)),
    "paste": _paths(AllowedFlags("sz", valued="d", long="delimiters= serial")),
    "column": _paths(AllowedFlags("tnex", valued="sco", long="table separator=")),
    "fold": _paths(AllowedFlags("bs", valued="w", long="bytes spaces width=")),
    "expand": _paths(AllowedFlags("i", valued="t")),
    "comm": _paths(AllowedFlags("123", long="check-order nocheck-order output-delimiter= total")),
    "join": _paths(AllowedFlags("iz", valued="12jtaveo")),
    "cmp": _paths(AllowedFlags("bls", valued="in", long="print-bytes verbose quiet silent")),
    "diff": _diff,
    "tree": _paths(_TREE, following=("l",)),
    "stat": _paths(
        AllowedFlags("Lfxtnqr", valued="c", long="dereference file-system format= printf= terse", harmless=True)
    ),
    "file": _paths(
        AllowedFlags("bhiLkNnr0", valued="F", long="brief mime mime-type mime-encoding dereference separator=")
    ),
    "du": _paths(
        AllowedFlags(
            "abcDhHkLlmPSsx0",
            valued="dtB",
            long="all bytes human-readable summarize max-depth= apparent-size total exclude= one-file-system "
            "threshold= si",
            harmless=True,
        ),
        following=("L",),
    ),
    "df": _paths(
        AllowedFlags(
            "ahHiklmPTv", valued="tBx", long="all human-readable inodes print-type total type= exclude-type= si"
        )
    ),
    "readlink": _paths(AllowedFlags("efmnqsvz", long="canonicalize canonicalize-existing no-newline", harmless=True)),
    "realpath": _paths(
        AllowedFlags("eLmPqsz", long="canonicalize-existing canonicalize-missing strip no-symlinks", harmless=True)
    ),
    "basename": _no_paths(AllowedFlags("az", valued="s", long="multiple suffix=")),
    "dirname": _no_paths(AllowedFlags("z")),
    "od": _paths(
        AllowedFlags(
            "abcdfilosvx",
            valued="AjNt",
            optional="w",
            long="address-radix= format= read-bytes= skip-bytes=",
            harmless=True,
        )
    ),
    "hexdump": _paths(AllowedFlags("bcCdovx", valued="ns", harmless=True)),
    "xxd": _at_most_one(AllowedFlags("abEeipu", valued="cglos")),
    "strings": _strings,
    "md5sum": _paths(_CHECKSUM),
    "sha1sum": _paths(_CHECKSUM),
    "sha256sum": _paths(_CHECKSUM),
    "sha512sum": _paths(_CHECKSUM),
    "b2sum": _paths(_CHECKSUM),
    "cksum": _paths(AllowedFlags(harmless=True)),
    "cd": _cd,
    "test": _test,
    "[": _bracket_paths,
    "[[": _bracket_paths,
    "echo": _text,
    "printf": _printf,
    "pwd": _no_paths(AllowedFlags("LP")),
    "true": _bare,
    "false": _bare,
    ":": _bare,
    "date": _date,
    "sleep": _no_paths(AllowedFlags()),
    "seq": _no_paths(AllowedFlags("w", valued="fs")),
    "which": _no_paths(AllowedFlags("a")),
    "type": _no_paths(AllowedFlags("aptP")),
    "command": _command,
    "uname": _no_paths(AllowedFlags("asnrvmpio", long="all kernel-name kernel-release machine")),
    "whoami": _bare,
    "id": _no_paths(AllowedFlags("ugGnr")),
    "groups": _bare,
    "hostname": _bare,
    "uptime": _bare,
    "nproc": _bare,
    "arch": _bare,
    "free": _no_paths(AllowedFlags("bkmghtw")),
    **dict.fromkeys(
        ("python", "python3", "node", "npm", "pip", "pip3", "gcc", "clang", "ruby", "perl", "make"), _version
    ),
}
"""By the program's name. `cd` moves the place from which later paths count; `read_only` follows it."""
