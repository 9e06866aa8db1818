"""Glob patterns over paths with forward slashes: `*`, `?` and `[…]` in a name, `**` for folders, `{a,b}` for choices.

Three kinds of patterns share the matching and differ in what a match covers: those of search tools (`GlobPattern`),
those of memories (`matches_like_gitignore`) and those of instruction files (`matches_below`). A pattern may come from a
hostile project, so it is followed name by name through the path, all places at once: that takes linear time, where one
regular expression for the whole pattern (as `pathspec` makes) may backtrack for ever.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice

from reverie.patterns import lazy_regex
from reverie.values import value

MAX_ALTERNATIVES = 64
"""What the braces of one pattern unfold into; the rest is left out."""
MAX_PATTERNS = 1_000
"""What the braces of a list of patterns may unfold into."""
MAX_CHARS = 4 * 1024 * 1024
_LONGEST_UNFOLDED = 4_096
"""A longer pattern is no pattern that somebody wrote; it is used as it stands."""
_ANY_FOLDERS = "**"
_BRACES = lazy_regex(r"\{([^{}]*,[^{}]*)\}")
_WILD = lazy_regex(r"[*?\[]")
_SPECIAL = lazy_regex(r"[*?\[{]")


@value
class GlobPattern:
    """A pattern over paths relative to where a search starts; it matches whole paths."""

    alternatives: tuple[tuple[str, ...], ...]
    """Each a row of names."""

    def matches(self, path: str) -> bool:
        """Whether a file lies under the pattern."""
        names = path.split("/")
        return any(len(names) in _reach(parts, names) for parts in self.alternatives)


@cache
def glob_pattern(pattern: str) -> GlobPattern:
    """Compile a pattern; never fails, an unfinished bracket is taken literally."""
    return GlobPattern(tuple(tuple(_whole(body)) for body in islice(_unfold(pattern), MAX_ALTERNATIVES)))


def split_fixed_start(pattern: str) -> tuple[str, str]:
    """The folders that a pattern names outright, and the rest of it."""
    parts = pattern.split("/")
    place = next((place for place, part in enumerate(parts) if _SPECIAL.search(part)), len(parts) - 1)
    place = min(place, len(parts) - 1)
    return "/".join(parts[:place]) or ("/" if pattern.startswith("/") else ""), "/".join(parts[place:])


def matches_like_gitignore(pattern: str, path: str) -> bool:
    """Whether a file lies under a pattern, as the lines of a `.gitignore` mean it, with braces.

    Without a slash a pattern matches names at any depth, with one it starts at the root; what matches a directory holds
    for everything below. An absolute path may match at any of its directories.
    """
    path = path.replace("\\", "/").removeprefix("./")
    names = [name for name in path.split("/") if name]
    starts = range(len(names)) if path.startswith("/") else (0,)
    return any(_reach(parts, names, starts) - {0} for parts in _gitignore_parts(pattern))


def matches_below(pattern: str, path: str) -> bool:
    """Whether a pattern without braces matches a path relative to the pattern's base.

    One that ends in a plain name also holds for everything below a folder of that name; one that ends in a wildcard
    means exactly what it says. A bracket that nothing closes matches nothing.
    """
    parts = [part for part in pattern.removeprefix("./").split("/") if part]
    names = [name for name in path.split("/") if name]
    if not parts or any(_is_broken(part) for part in parts):
        return False
    places = _reach(parts, names)
    return len(names) in places if _WILD.search(parts[-1]) else bool(places - {0})


def unfold_all(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns without braces; one that would break the budget of the whole list stays as it is."""
    unfolded: dict[str, None] = {}
    chars = 0
    for pattern in patterns:
        choices = _unfold_within(pattern, MAX_PATTERNS - len(unfolded), MAX_CHARS - chars)
        chars += sum(map(len, choices))
        unfolded.update(dict.fromkeys(choices))
    return tuple(unfolded)


def _reach(parts: Sequence[str], names: Sequence[str], starts: Iterable[int] = (0,)) -> set[int]:
    """The places in the names at which the parts may end; all places reached so far are followed at once."""
    places = set(starts)
    for part in parts:
        if not places:
            break
        if part == _ANY_FOLDERS:
            places = set(range(min(places), len(names) + 1))
        else:
            places = {place + 1 for place in places if place < len(names) and _fits_name(part, names[place])}
    return places


def _fits_name(part: str, name: str) -> bool:
    # Folders are called `[id]` in projects whose routes are files.
    return part == name or _compiled(part).match(name) is not None


@lru_cache(maxsize=1_024)
def _compiled(part: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(part))


def _whole(body: str) -> list[str]:
    parts = [part for part in body.split("/") if part not in {"", "."}]
    return [*parts, "*"] if parts and parts[-1] == _ANY_FOLDERS else parts


@cache
def _gitignore_parts(pattern: str) -> tuple[tuple[str, ...], ...]:
    rows = []
    for body in islice(_unfold(pattern.strip().removeprefix("./")), MAX_ALTERNATIVES):
        parts = tuple(re.sub(r"\*{3,}", _ANY_FOLDERS, part) for part in body.split("/") if part)
        is_anchored = "/" in body.rstrip("/")
        rows += [parts if is_anchored else (_ANY_FOLDERS, *parts)] if parts else []
    return tuple(rows)


def _unfold(pattern: str) -> Iterator[str]:
    """The pattern without braces, one text per choice, in their order."""
    waiting = [pattern]
    while waiting:
        text = waiting.pop()
        braces = _BRACES.search(text)
        if braces is None:
            yield text
            continue
        choices = braces[1].split(",")
        waiting += [text[: braces.start()] + choice + text[braces.end() :] for choice in reversed(choices)]


def _unfold_within(pattern: str, room: int, room_chars: int) -> list[str]:
    if len(pattern) > _LONGEST_UNFOLDED:
        return [pattern]
    choices: list[str] = []
    for text in _unfold(pattern):
        choices.append(text)
        room_chars -= len(text)
        if len(choices) > room or room_chars < 0:
            return [pattern]
    return choices


def _is_broken(part: str) -> bool:
    """Whether a bracket opens a set of characters that nothing closes."""
    opened = part.find("[")
    while opened >= 0:
        closed = part.find("]", opened + 2)
        if closed < 0:
            return True
        opened = part.find("[", closed)
    return False
