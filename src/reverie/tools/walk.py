"""Walks the files of a folder, without those that `.gitignore` names and without version control files.

The rules are git's: the nearest `.gitignore` that says anything counts, an ignored folder is not entered, and above
the top of a repository nothing counts. Links to folders are not entered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.values import value

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj"})


@value
class IgnoreRules:
    """One `.gitignore`: where it stands, and what it says."""

    folder: str
    spec: GitIgnoreSpec


Rules = tuple[IgnoreRules, ...]
"""The outermost first."""


def list_files(root: Path) -> Iterator[os.DirEntry[str]]:
    """Every file below a folder, links to files among them, in no particular order."""
    yield from _list_folder(str(root), read_rules_above(root))


def read_rules_above(root: Path) -> Rules:
    """What the folders above say; nothing, when they ignore the folder itself, since it was asked for by name."""
    folders = []
    folder = root
    while not (folder / ".git").exists() and folder.parent != folder:
        folder = folder.parent
        folders.append(folder)
    rules: Rules = ()
    for above in reversed(folders):
        rules += _read_rules(str(above))
    below = root
    while below not in (folder, below.parent):
        if _is_ignored(str(below), rules, is_folder=True):
            return ()
        below = below.parent
    return rules


def _list_folder(folder: str, rules: Rules) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except OSError:
        return
    names = {entry.name for entry in entries}
    if ".git" in names:
        rules = ()
    if ".gitignore" in names:
        rules += _read_rules(folder)
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name in VERSION_CONTROL or _is_ignored(entry.path, rules, is_folder=is_folder):
            continue
        if is_folder:
            yield from _list_folder(entry.path, rules)
        elif _is_file(entry):
            yield entry


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_ignored(path: str, rules: Rules, *, is_folder: bool) -> bool:
    for rule in reversed(rules):
        inside = path[len(rule.folder) :].lstrip("/") + ("/" if is_folder else "")
        for pattern in reversed(rule.spec.patterns):
            if pattern.regex is not None and _names_entry(pattern.regex, inside):
                return bool(pattern.include)
    return False


def _names_entry(expression: re.Pattern[str], inside: str) -> bool:
    """Whether a pattern is about the entry itself. What it says of a folder says nothing of what is in there."""
    match = expression.match(inside)
    if match is None:
        return False
    if "ps_d" in expression.groupindex:  # where `pathspec` marks the slash behind a folder that is named
        return match["ps_d"] is None or match.end() == len(inside)
    return not expression.pattern.endswith("/") or match.end() < len(inside)  # `folder/**` is what is inside


def _read_rules(folder: str) -> Rules:
    from pathspec import GitIgnoreSpec

    try:
        text = Path(folder, ".gitignore").read_text(encoding="utf-8", errors="replace")
        return (IgnoreRules(folder, GitIgnoreSpec.from_lines(text.split("\n"))),)
    except (OSError, ValueError):
        return ()
