"""The paths that a word of a command may stand for: literal, by glob, and through links."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from reverie.permissions.shell.script import Word

ANYWHERE = Path("/")
"""Stands for a path that cannot be told."""
_MAX_ENTRIES = 20_000
"""How many names in folders are looked at before a question is asked."""
_MARKS = "*?["


def resolve_cd(words: Sequence[Word], places: Sequence[Path], home: Path | None) -> list[Path]:
    """Where a `cd` may lead: `..` as the system reads it behind a link, and as the shell does, by the text."""
    folders = [absolute(word, place, home) for word in words for place in places]
    return list(dict.fromkeys((*folders, *(Path(os.path.normpath(path)) for path in folders))))


def paths_of_word(word: Word, place: Path, home: Path | None) -> list[Path]:
    """Everything that a word makes a program look at; `ANYWHERE` among it when that cannot be told."""
    paths = [absolute(word, place, home)]
    if word.has_glob:
        paths += _matches(word, place)
    if word.follows_links:
        paths += [link for path in list(paths) for link in _links_below(path)]
    return paths


def absolute(word: Word, place: Path, home: Path | None) -> Path:
    """A word as a path, from a place or from home; of a pattern, the folder in which it begins."""
    value = word.value or ""
    if word.has_tilde and home is not None:
        return home / value[1:].lstrip("/")
    if word.has_glob:
        before, pattern = _split(value)
        # A `..` behind the pattern is not hidden.
        value = (before or ".") + "/.." * pattern.count("..")
    return _join(place, value)


def _matches(word: Word, place: Path) -> Iterator[Path]:
    """What a pattern matches, and the links on the way; finds too much rather than too little."""
    before, pattern = _split(word.value or "")
    if word.has_tilde:
        yield ANYWHERE
        return
    parts = pattern.split("/")
    folders = [_join(place, before)]
    looked = 0
    for depth, part in enumerate(parts, start=1):
        if not _has_mark(part):
            folders = [_join(folder, part) for folder in folders]
            yield from folders
            continue
        below: list[Path] = []
        for entry in (entry for folder in folders for entry in _entries(folder)):
            looked += 1
            is_matched = "[" in part or fnmatchcase(entry.name, part)
            # A name that begins with a dash may become an option.
            if looked > _MAX_ENTRIES or (is_matched and entry.name.startswith("-") and depth == 1 and not before):
                yield ANYWHERE
                return
            if is_matched:
                below.append(Path(entry.path))
                if entry.is_symlink() or depth == len(parts):
                    yield Path(entry.path)
        folders = below


def _links_below(folder: Path) -> Iterator[Path]:
    """Every link below a folder, without following any."""
    looked = 0
    waiting = [folder]
    while waiting:
        for entry in _entries(waiting.pop()):
            looked += 1
            if looked > _MAX_ENTRIES:
                yield ANYWHERE
                return
            if entry.is_symlink():
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, _MAX_ENTRIES + 1))
    except (OSError, ValueError):
        return []


def _split(value: str) -> tuple[str, str]:
    """A pattern, and the folder before it with its slash."""
    first = min((value.find(mark) for mark in _MARKS if mark in value), default=len(value))
    end = value.rfind("/", 0, first) + 1
    return value[:end], value[end:]


def _has_mark(part: str) -> bool:
    return any(mark in part for mark in _MARKS)


def _join(place: Path, value: str) -> Path:
    return Path(os.path.join(place, value))  # noqa: PTH118 - keeps `..`, as the system does
