"""Which programs a repository's own configuration would make git run, found by reading; nothing is run.

A repository that was cloned has a configuration of the user's own; one that came in an archive may have anybody's, and
then `git status` is enough to start what it names. Finds too much rather than too little.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from reverie.files import read_small
from reverie.places.checkout import find_checkout

ASKING_GIT = (
    "git",
    "--no-pager",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "log.showSignature=false"),
    *("-c", "safe.bareRepository=explicit"),
    # A repository that lacks objects would fetch them, by a program of its choice.
    *(word for name in ("", "ssh.", "http.", "https.", "git.", "file.", "ext.")
      for word in ("-c", f"protocol.{name}allow=never")),
)  # fmt: skip
"""How we ask git about a project: without locks, and without what its configuration wants to be run, but for filters.

Filters have names of their own and cannot be switched off in general: see `configured_programs`.
"""

FILTERS = frozenset({"clean", "smudge", "process", "include", "unknown"})
"""What `configured_programs` answers where looking at files of the work tree may start a program."""

_KEY = (
    r"(?im)(?:^|\])[ \t\r]*(fsmonitor|clean|smudge|process|textconv|external|command|program|sshcommand|hookspath)"
    r"[ \t\r]*(?:=[ \t\"]*([^\n]*))?"
)
_INCLUDE = r"(?i)\[include"
_PROMISOR = r"(?i)promisor|partialclone"
_SWITCH = r"(?i)(?:true|false|yes|no|on|off|0|1)?[\"\s]*"
_LFS = r"git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?[\"\s]*"
"""Compiled where they are used: every command imports this package, few look at a configuration."""
_INDEX_HOOK = "post-index-change"


def configured_programs(directory: Path) -> frozenset[str]:
    """The keys that name programs in the configuration of the repositories around a directory; empty for most.

    `include` stands for a file that it includes, `unknown` for a configuration that cannot be looked at, `hook` for a
    hook that mere questions would run.
    """
    real = Path(os.path.realpath(directory))
    # An inner repository that git does not take for one leaves the word to an outer one.
    around = [folder for folder in (real, *real.parents) if os.path.lexists(folder / ".git")]
    return frozenset(name for folder in around for name in _named_at(folder))


def _named_at(folder: Path) -> Iterator[str]:
    checkout = find_checkout(folder)
    if checkout is None or checkout.top != folder:
        return  # an empty `.git` is no repository
    if checkout.git_dir is None:
        yield "unknown"
        return
    files = [checkout.git_dir / "config", checkout.git_dir / "config.worktree"]
    files += sorted((checkout.git_dir / "worktrees").glob("*/config.worktree"))
    for path in files:
        yield from _named_in(path, folder)
    if os.path.lexists(checkout.git_dir / "hooks" / _INDEX_HOOK):
        yield "hook"


def _named_in(path: Path, top: Path) -> Iterator[str]:
    content = read_small(path)
    if content is None:
        if os.path.lexists(path):
            yield "unknown"
        return
    text = content.decode("utf-8", "replace").replace("\\\n", "")
    if re.search(_INCLUDE, text):
        yield "include"
    for name, value in ((match[1].lower(), match[2] or "") for match in re.finditer(_KEY, text)):
        if name == "hookspath":
            folder = value.partition("#")[0].strip('" \t\r')
            if folder.startswith("~") or os.path.lexists(top / folder / _INDEX_HOOK):
                yield "hook"
        elif name == "sshcommand":
            if re.search(_PROMISOR, text):
                yield name
        elif not re.fullmatch(_SWITCH if name == "fsmonitor" else _LFS, value):
            yield name
