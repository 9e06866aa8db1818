"""Glob patterns of `paths:` and `excludes`, relative to their base; `**` spans folders, `{a,b}` are alternatives.

A pattern that ends in a plain name also holds for everything below a folder of that name; one that ends in a wildcard
means exactly what it says. Matching is linear in the path, since a project writes these patterns and may be hostile.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache

MAX_PATTERNS = 1_000
"""What the braces of one list may unfold into."""
MAX_CHARS = 4 * 1024 * 1024
_LONGEST_UNFOLDED = 4_096
"""A longer pattern is no pattern that somebody wrote; it is used as it stands."""

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_WILD = re.compile(r"[*?\[]")


def unfolded(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns without braces; one that would break the budget of the whole list stays as it is."""
    found: dict[str, None] = {}
    chars = 0
    for pattern in patterns:
        choices = _choices(pattern, MAX_PATTERNS - len(found), MAX_CHARS - chars)
        chars += sum(map(len, choices))
        found.update(dict.fromkeys(choices))
    return tuple(found)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern without braces matches a path relative to the pattern's base."""
    parts = [part for part in pattern.removeprefix("./").split("/") if part]
    names = [name for name in path.split("/") if name]
    if not parts or any(_is_broken(part) for part in parts):
        return False
    places = {0}
    for part in parts:
        if part == "**":
            places = set(range(min(places), len(names) + 1))
        else:
            places = {place + 1 for place in places if place < len(names) and _is_name(part, names[place])}
        if not places:
            return False
    covers_below = _WILD.search(parts[-1]) is None
    return bool(places - {0}) if covers_below else len(names) in places


def _choices(pattern: str, room: int, room_chars: int) -> list[str]:
    if len(pattern) > _LONGEST_UNFOLDED:
        return [pattern]
    done: list[str] = []
    open_ones = [pattern]
    while open_ones:
        text = open_ones.pop()
        braces = _BRACES.search(text)
        if braces is not None:
            choices = braces[1].split(",")
            open_ones += [text[: braces.start()] + choice + text[braces.end() :] for choice in reversed(choices)]
            continue
        done.append(text)
        room_chars -= len(text)
        if len(done) > room or room_chars < 0:
            return [pattern]
    return done


def _is_broken(part: str) -> bool:
    """Whether a bracket opens a set of characters that nothing closes."""
    opened = part.find("[")
    while opened >= 0:
        closed = part.find("]", opened + 2)
        if closed < 0:
            return True
        opened = part.find("[", closed)
    return False


def _is_name(part: str, name: str) -> bool:
    # Folders are called `[id]` in projects whose routes are files.
    return part == name or _compiled(part).match(name) is not None


@lru_cache(maxsize=1_024)
def _compiled(part: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(part))
