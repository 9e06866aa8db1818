"""Glob patterns for file names: `*`, `?`, `[…]`, `{a,b}`, and `**` for any folders."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from functools import cache

from reverie.values import value

MAX_ALTERNATIVES = 64
"""What braces unfold into; the rest is left out."""
ANY_FOLDERS = "**"
_SPECIAL = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


@value
class GlobPattern:
    """A pattern over paths with forward slashes, relative to where the search starts."""

    alternatives: tuple[tuple[re.Pattern[str] | None, ...], ...]
    """Each a row of names; None stands for any number of folders."""

    def matches(self, path: str) -> bool:
        """Whether a file lies under the pattern."""
        names = path.split("/")
        return any(_reaches(parts, names) for parts in self.alternatives)


@cache
def glob_pattern(pattern: str) -> GlobPattern:
    """Compile a pattern; never fails, an unfinished bracket is taken literally."""
    unfolded = [body for _, body in zip(range(MAX_ALTERNATIVES), _unfolded(pattern), strict=False)]
    return GlobPattern(tuple(tuple(_part(part) for part in _parts(body)) for body in unfolded))


def fixed_start(pattern: str) -> tuple[str, str]:
    """The folders that a pattern names outright, and the rest of it."""
    parts = pattern.split("/")
    place = next((place for place, part in enumerate(parts) if _SPECIAL.search(part)), len(parts) - 1)
    place = min(place, len(parts) - 1)
    return "/".join(parts[:place]) or ("/" if pattern.startswith("/") else ""), "/".join(parts[place:])


def _reaches(parts: tuple[re.Pattern[str] | None, ...], names: list[str]) -> bool:
    """Follow the parts through the names; all places reached so far at once, so it takes no exponential time."""
    places = {0}
    for part in parts:
        if part is None:
            places = set(range(min(places), len(names) + 1)) if places else set()
        else:
            places = {place + 1 for place in places if place < len(names) and part.match(names[place])}
    return len(names) in places


def _part(part: str) -> re.Pattern[str] | None:
    return None if part == ANY_FOLDERS else re.compile(fnmatch.translate(part))


def _parts(body: str) -> list[str]:
    parts = [part for part in body.split("/") if part not in {"", "."}]
    return [*parts, "*"] if parts and parts[-1] == ANY_FOLDERS else parts


def _unfolded(pattern: str) -> Iterator[str]:
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _unfolded(pattern[: braces.start()] + choice + pattern[braces.end() :])
