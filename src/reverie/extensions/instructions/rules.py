"""Folders of rules, and the front matter of one: `paths:` says for which files it counts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from reverie.values import value

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<head>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEYS_ONLY = re.compile(r"(?:(?:[a-z][\w-]*[ \t]*:.*|[ \t]+\S.*|-[ \t].*|#.*|[ \t]*)\n)*")
"""Lines of keys as metadata has them, in small letters, with their values; anything else is text."""
_PATHS_LINE = re.compile(r"^paths[ \t]*:[ \t]*(?P<inline>.*)$(?P<items>(?:\n[ \t]*-[ \t].*)*)", re.MULTILINE)
_MAX_FOLDERS = 1_000
"""Folders below one folder of rules; links may lead to a whole disk."""


@value
class Body:
    """A file cut into what is about it and what it says."""

    text: str
    globs: tuple[str, ...] = ()


def list_rules(folder: Path) -> tuple[Path, ...]:
    """All `*.md` below a folder, links followed and none twice, in the order of their paths."""
    found: list[Path] = []
    seen: set[str] = set()
    open_ones = [folder]
    while open_ones and len(seen) < _MAX_FOLDERS:
        here = open_ones.pop()
        real = os.path.realpath(here)
        if real in seen:
            continue
        seen.add(real)
        for path in _entries(here):
            if path.is_dir():
                open_ones.append(path)
            elif path.suffix.lower() == ".md":
                found.append(path)
    return tuple(sorted(found, key=lambda path: path.relative_to(folder).parts))


def split_front_matter(text: str) -> Body:
    """The text without its front matter, and the patterns of `paths:` in it. A text that only looks so stays whole."""
    head = _FRONT_MATTER.match(text)
    if head is None:
        return Body(text)
    import yaml

    if not _KEYS_ONLY.fullmatch(head["head"]):
        return Body(text)  # prose between two rulers
    try:
        # Every scalar stays text: `- 1.0` is a pattern, not a number.
        known: object = yaml.load(head["head"], yaml.BaseLoader)  # noqa: S506 - makes nothing but text, lists and maps
    except (yaml.YAMLError, RecursionError, ValueError):
        # An unquoted `**/*.py` is the commonest pattern and no YAML.
        return Body(text[head.end() :], tuple(_loose(head["head"])))
    paths = known.get("paths") if isinstance(known, dict) else None
    return Body(text[head.end() :], tuple(_patterns(paths)))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _patterns(paths: object) -> Iterator[str]:
    if isinstance(paths, str):
        yield from _split(paths)
    elif isinstance(paths, list):
        yield from (path.strip() for path in paths if isinstance(path, str) and path.strip())


def _loose(head: str) -> Iterator[str]:
    found = _PATHS_LINE.search(head)
    if found is None:
        return
    items = re.findall(r"\n[ \t]*-[ \t]+(.*)", found["items"])
    listed = items or _split(found["inline"].strip().removeprefix("[").removesuffix("]"))
    yield from (pattern for item in listed if (pattern := item.strip().strip("\"'")))


def _split(text: str) -> list[str]:
    """Patterns on one line, parted by commas outside of braces."""
    return [part for piece in re.split(r",(?![^{}]*\})", text) if (part := piece.strip())]
