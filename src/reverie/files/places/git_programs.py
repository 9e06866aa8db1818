"""Which settings of a repository could make git run a program, or show a file elsewhere, as git itself reads them.

A repository that was cloned has a configuration of the user's own; one that came in an archive may have anybody's, and
then `git status` is enough to start what it names. Git is asked, with everything switched off, which repository it
would take and what its configuration says; only settings that are known to be harmless pass.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files import is_inside
from reverie.files.git import run_git
from reverie.files.places.checkout import find_checkout

_HARMLESS = r"""
    core\.(?:
        repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|protect(?:hfs|ntfs)|symlinks
        |autocrlf|eol|safecrlf|abbrev|quotepath|untrackedcache|commitgraph|multipackindex|preloadindex|compression
        |loosecompression|bigfilethreshold|packedgit\w+|deltabasecachelimit|whitespace|commentchar|commentstring|checkstat
        |trustctime|sharedrepository|fscache|longpaths|sparsecheckout(?:cone)?|splitindex|fsync\w*|notesref
        |editor|sshcommand|askpass|hookspath|worktree
    )
  | (?:user|author|committer|init|advice|gui|branch|commit|tag|push|pull|fetch|rebase|rerere|gc|maintenance|pack|index
      |feature|apply|clean|checkout|notes|versionsort|i18n|credential|http|url|am|stash|worktree|alias|difftool
      |mergetool|sequence|color|column|gitflow|github|hub|coderabbit)\..*
  | blame\.(?!ignorerevsfile)\w+
  | merge\.[\w-]+ | merge\..*\.(?:name|recursive)
  | status\.(?!submodulesummary)[\w-]+
  | grep\.(?:linenumber|column|patterntype|extendedregexp|fullname|threads)
  | log\.(?:abbrevcommit|date|decorate|excludedecoration|follow|graphcolors|mailmap|showroot|diffmerges)
  | diff\.(?:
        algorithm|autorefreshindex|colormoved\w*|context|dirstat|indentheuristic|interhunkcontext|mnemonicprefix
        |noprefix|renamelimit|renames|relative|stat\w+width|suppressblankempty|tool|guitool|wordregex|wserrorhighlight
        |ignoresubmodules
    )
  | diff\..*\.(?:binary|x?funcname|wordregex|algorithm|cachetextconv)
  | remote\.(?:pushdefault|.*\.(?:
        url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|skipdefaultupdate|skipfetchall|proxy|gh-resolved
    ))
  | submodule\.(?:active|recurse|fetchjobs|.*\.(?:url|active|branch|ignore|path|update|fetchrecursesubmodules))
  | extensions\.(?:worktreeconfig|objectformat|refstorage|preciousobjects|noop|relativeworktrees)
  | lfs\.(?:repositoryformatversion|fetch\w+|.*\.(?:access|locksverify))
"""
"""Settings that start nothing when git is asked a question.

Programs of transports (`core.sshCommand`, `credential.helper`) count as such: a question starts a transport only in a
repository that lacks objects, and what declares one (`remote.*.promisor`) is not on the list.
"""
_SWITCH = r"(?i)|true|false|yes|no|on|off|0|1"
_LFS = r"true|git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?"
_OFF_BY_FLAGS = r"diff\..*|gpg\..*|remote\..*|extensions\.partialclone|core\.(?:fsmonitor|pager)|log\..*|merge\..*|hook"
"""What our own calls switch off in any case (`reverie.files.git`)."""
_INDEX_HOOK = "hooks/post-index-change"
"""The one hook that a mere question runs."""
_GITLINK = b"160000 "
_MAX_REPOSITORIES = 50
_MAX_ENTRIES = 20_000
_ALTERNATES = frozenset({"alternates", "http-alternates"})
_JUDGED_APART = frozenset({"hooks", "modules", "lfs"})
ELSEWHERE = "elsewhere"
"""Stands for a repository that shows contents of other folders."""
UNKNOWN = "unknown"
"""Stands for a repository that git does not tell about."""


def configured_programs(directory: Path) -> frozenset[str]:
    """The settings, not known to be harmless, that count for git in this directory and in the submodules below it.

    Empty for most repositories, and where there is none. `hook` stands for a hook that mere questions would run,
    `elsewhere` for a repository that would show contents of other folders, `unknown` for one that cannot be judged.
    """
    seen: dict[Path, None] = {}
    try:
        return frozenset(_find_programs(Path(os.path.realpath(directory)), seen))
    except (Unavailable, OSError, ValueError):
        return frozenset({UNKNOWN})


def may_look_at_files(directory: Path) -> bool:
    """Whether our own git calls may look at the files of a work tree without starting a program of the repository."""
    return all(re.fullmatch(_OFF_BY_FLAGS, key) for key in configured_programs(directory))


def _find_programs(directory: Path, seen: dict[Path, None]) -> Iterator[str]:
    asked = ("--show-toplevel", "--absolute-git-dir", "--git-path", _INDEX_HOOK)
    located = run_git(directory, "rev-parse", *asked, as_user=True)
    if located.returncode:
        # Outside of any repository, or in one that has no work tree or that this git does not take.
        around = (folder / name for folder in (directory, *directory.parents) for name in (".git", "HEAD"))
        if any(os.path.lexists(path) for path in around):
            yield UNKNOWN
        return
    top, git_dir, hook, *_ = map(os.fsdecode, located.stdout.split(b"\n"))
    if Path(top) in seen:
        return
    seen[Path(top)] = None
    at_top = run_git(Path(top), "rev-parse", "--absolute-git-dir").stdout
    # A work tree that leads elsewhere would show files of others; a bare repository has none.
    if len(seen) > _MAX_REPOSITORIES or os.fsdecode(at_top.removesuffix(b"\n")) != git_dir:
        yield UNKNOWN
        return
    if os.path.lexists(directory / hook) or os.path.lexists(Path(top, hook)):
        yield "hook"
    yield from _find_foreign_contents(Path(top), Path(git_dir))
    yield from _find_in_settings(directory, Path(top))
    yield from _find_in_submodules(Path(top), seen)


def _find_foreign_contents(top: Path, git_dir: Path) -> Iterator[str]:
    """Where a repository would show the contents of other folders: of a foreign one, by links, by alternates."""
    checkout = find_checkout(top)
    if checkout is None or checkout.git_dir is None:
        yield UNKNOWN
        return
    looked = 0
    waiting = list({git_dir, checkout.git_dir})
    while waiting:
        with os.scandir(waiting.pop()) as scan:
            entries = list(islice(scan, _MAX_ENTRIES))
        for entry in entries:
            looked += 1
            if looked >= _MAX_ENTRIES or (entry.is_symlink() and entry.name != "hooks") or entry.name in _ALTERNATES:
                yield ELSEWHERE
                return
            if entry.is_dir(follow_symlinks=False) and len(entry.name) != 2 and entry.name not in _JUDGED_APART:
                waiting.append(Path(entry.path))


def _find_in_settings(directory: Path, top: Path) -> Iterator[str]:
    listed = run_git(directory, "config", "--list", "--show-scope", "-z")
    if listed.returncode:
        yield UNKNOWN
        return
    fields = listed.stdout.decode("utf-8", "replace").split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if key == "blame.ignorerevsfile" and is_inside(top, top / value):
            continue
        if scope != "command" and not _is_harmless(key, value):
            yield key


def _is_harmless(key: str, value: str) -> bool:
    if key == "core.fsmonitor":
        return re.fullmatch(_SWITCH, value) is not None
    if key.startswith("filter.lfs."):
        return re.fullmatch(_LFS, value) is not None
    return _harmless_keys().fullmatch(key) is not None


@functools.cache
def _harmless_keys() -> re.Pattern[str]:
    return re.compile(_HARMLESS, re.VERBOSE | re.DOTALL)


def _find_in_submodules(top: Path, seen: dict[Path, None]) -> Iterator[str]:
    """A question about the work tree is handed on to every submodule that is there, with that one's own settings."""
    entries = run_git(top, "ls-files", "--stage", "-z")
    if entries.returncode:
        yield UNKNOWN
        return
    for entry in entries.stdout.split(b"\0"):
        if entry.startswith(_GITLINK):
            folder = top / os.fsdecode(entry.partition(b"\t")[2])
            if os.path.lexists(folder / ".git"):
                yield from _find_programs(folder, seen)
