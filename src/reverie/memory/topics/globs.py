"""Globs over project paths, as the lines of a `.gitignore` mean them.

Without a slash a pattern matches names at any depth, with one it starts at the root; `**` spans directories; what
matches a directory holds for everything below; `{a,b}` are alternatives. Matching takes linear time per name.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from functools import cache

MAX_ALTERNATIVES = 64
"""What braces unfold into; the rest of them is left out."""


def glob_matches(pattern: str, path: str) -> bool:
    """Whether a file lies under a pattern; an absolute path may match at any of its directories."""
    path = path.replace("\\", "/").removeprefix("./")
    names = [name for name in path.split("/") if name]
    return any(_reaches(parts, names, is_absolute=path.startswith("/")) for parts in _alternatives(pattern))


def _reaches(parts: tuple[str, ...], names: list[str], *, is_absolute: bool) -> bool:
    """Follow the parts of a pattern through the names of a path; all places reached so far at once."""
    places = set(range(len(names))) if is_absolute else {0}
    for part in parts:
        if part == "**":
            places = set(range(min(places), len(names) + 1)) if places else set()
        else:
            places = {place + 1 for place in places if place < len(names) and _name(part).match(names[place])}
    return bool(places - {0})


@cache
def _name(part: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(part))


@cache
def _alternatives(pattern: str) -> tuple[tuple[str, ...], ...]:
    found = []
    for _, body in zip(range(MAX_ALTERNATIVES), _unfolded(pattern.strip().removeprefix("./")), strict=False):
        parts = tuple(re.sub(r"\*{3,}", "**", part) for part in body.split("/") if part)
        is_anchored = "/" in body.rstrip("/")
        found += [parts if is_anchored else ("**", *parts)] if parts else []
    return tuple(found)


def _unfolded(pattern: str) -> Iterator[str]:
    """The pattern without braces, one text per choice."""
    braces = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _unfolded(pattern[: braces.start()] + choice + pattern[braces.end() :])
