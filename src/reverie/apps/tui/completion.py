"""Completion at the cursor: slash commands at the start, paths after `@`.

`complete` is pure; the prompt shows the result. The files of a project come from git, else from a bounded directory
walk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from reverie.files.git import ask_git
from reverie.values import value

MOST = 8
_PATH = re.compile(r"(?:^|(?<=\s))@(\S*)$")


@value
class Choice:
    """One way to go on."""

    text: str
    """What takes the place of the word."""
    label: str
    help: str = ""


@value
class Completion:
    """The word before the cursor and what it could become."""

    start: int
    """Where the word begins, in characters of its line."""
    choices: tuple[Choice, ...]


NONE = Completion(0, ())


def complete(
    before: str, *, is_first_line: bool, commands: Sequence[tuple[str, str]], files: Callable[[], Sequence[str]]
) -> Completion:
    """Complete what stands on the line before the cursor; `commands` are names without slash and their help."""
    if is_first_line and re.fullmatch(r"/\S*", before):
        typed = before[1:].casefold()
        fitting = [each for each in commands if each[0].casefold().startswith(typed)]
        fitting += [each for each in commands if typed and typed in each[0].casefold() and each not in fitting]
        return Completion(0, tuple(Choice(f"/{name} ", f"/{name}", sentence) for name, sentence in fitting))
    match = _PATH.search(before)
    if match is None:
        return NONE
    ranked = rank(match[1], files())
    choices = tuple(Choice(f"@{path}" + ("" if path.endswith("/") else " "), path) for path in ranked)
    return Completion(match.start(), choices)


def rank(typed: str, paths: Sequence[str]) -> list[str]:
    """The paths that a few letters mean, the likeliest first."""
    letters = typed.casefold()
    if not letters:
        return sorted(paths, key=lambda path: (path.rstrip("/").count("/"), path))[:MOST]
    scored = []
    for path in paths:
        score = _score(letters, path.casefold())
        if score is not None:
            scored.append((score, len(path), path))
    return [path for _, _, path in sorted(scored)[:MOST]]


def _score(wanted: str, path: str) -> int | None:
    """How well letters fit a path; less is better, None is not at all."""
    name = path.rstrip("/").rpartition("/")[2]
    if path.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    if wanted in name:
        return 2
    if wanted in path:
        return 3
    letters = iter(path)
    return 4 if all(letter in letters for letter in wanted) else None


MOST_FILES = 20_000
_GIT_SECONDS = 3.0
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", "target", "dist", ".mypy_cache"})


def list_project_files(directory: Path) -> list[str]:
    """Paths below a directory, relative to it, with folders ending in a slash."""
    paths = _list_by_git(directory)
    files = _list_by_walk(directory) if paths is None else paths
    folders = {f"{parent}/" for file in files for parent in map(str, Path(file).parents) if parent != "."}
    return sorted(folders) + sorted(files)


def _list_by_git(directory: Path) -> list[str] | None:
    output = ask_git(directory, "ls-files", "-z", "--cached", "--others", "--exclude-standard", seconds=_GIT_SECONDS)
    if output is None:
        return None
    names = output.split("\0")
    return [name for name in names if name][:MOST_FILES]


def _list_by_walk(directory: Path) -> list[str]:
    paths: list[str] = []
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        paths += [str((Path(folder) / name).relative_to(directory)) for name in sorted(files)]
        if len(paths) >= MOST_FILES:
            break
    return paths[:MOST_FILES]
