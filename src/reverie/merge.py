"""Base, mine, theirs → the merged text, or the places where both sides changed the same lines.

A line-based three-way merge with the outcome of git's: edits that touch or lie next to one another conflict unless they
are equal. It knows nothing of what the lines mean; topics are merged key by key in `memory/topic_merge.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Merged:
    """Both sides in one text."""

    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """Lines that both sides changed, each in its own way."""

    line: int
    """Number of the first of these lines in the base, counted from 1."""
    base: tuple[str, ...]
    mine: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflicted:
    """At least one overlap; nothing is chosen."""

    parts: tuple[str | Region, ...]
    """Lines on which the sides agree, and the places where they do not, in order."""
    line_end: str = "\n"

    @property
    def regions(self) -> tuple[Region, ...]:
        return tuple(part for part in self.parts if isinstance(part, Region))

    def text(self) -> str:
        """Both sides between markers, for a person."""
        return self._joined(lambda r: ("<<<<<<< mine", *r.mine, "=======", *r.theirs, ">>>>>>> theirs"))

    def union(self) -> str:
        """The lines of both sides one after the other, for texts in which an order too many harms less than a loss."""
        return self._joined(lambda region: tuple(dict.fromkeys((*region.mine, *region.theirs))))

    def _joined(self, show: Callable[[Region], tuple[str, ...]]) -> str:
        lines: list[str] = []
        for part in self.parts:
            lines += (part,) if isinstance(part, str) else show(part)
        return self.line_end.join(lines)


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Base lines `first:last` became `lines`."""

    first: int
    last: int
    lines: tuple[str, ...]


def merge(base: str, mine: str, theirs: str) -> Merged | Conflicted:
    """Bring the changes of both sides together."""
    if mine == theirs or theirs == base:
        return Merged(mine)
    if mine == base:
        return Merged(theirs)
    if any("\r\n" in text for text in (base, mine, theirs)):
        # An editor that changed every line end has changed no line.
        result = _merge(*(text.replace("\r\n", "\n") for text in (base, mine, theirs)))
        return _with_line_end(result, _chosen_line_end(base, mine, theirs))
    return _merge(base, mine, theirs)


def _merge(base: str, mine: str, theirs: str) -> Merged | Conflicted:
    # Splitting at "\n" makes a missing last line end a line like any other.
    base_lines = tuple(base.split("\n"))
    mine_hunks = _hunks(base_lines, tuple(mine.split("\n")))
    theirs_hunks = _hunks(base_lines, tuple(theirs.split("\n")))
    parts: list[str | Region] = []
    done = 0
    for first, last, ours, others in _meetings(mine_hunks, theirs_hunks):
        parts += base_lines[done:first]
        done = last
        chosen = _choose(base_lines, first, last, ours, others)
        parts += (chosen,) if isinstance(chosen, Region) else chosen
    parts += base_lines[done:]
    agreed = [part for part in parts if isinstance(part, str)]
    return Merged("\n".join(agreed)) if len(agreed) == len(parts) else Conflicted(tuple(parts))


def _choose(
    base: tuple[str, ...], first: int, last: int, mine: list[_Hunk], theirs: list[_Hunk]
) -> tuple[str, ...] | Region:
    before, left, right = base[first:last], _apply(base, first, last, mine), _apply(base, first, last, theirs)
    if right in (before, left):
        return left
    if left == before:
        return right
    return Region(first + 1, before, left, right)


def _apply(base: tuple[str, ...], first: int, last: int, hunks: list[_Hunk]) -> tuple[str, ...]:
    lines: list[str] = []
    for hunk in hunks:
        lines += base[first : hunk.first]
        lines += hunk.lines
        first = hunk.last
    return (*lines, *base[first:last])


def _hunks(base: tuple[str, ...], other: tuple[str, ...]) -> list[_Hunk]:
    head = _common(base, other)
    tail = _common(base[head:][::-1], other[head:][::-1])
    old, new = base[head : len(base) - tail], other[head : len(other) - tail]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [_Hunk(head + i1, head + i2, new[j1:j2]) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _meetings(mine: list[_Hunk], theirs: list[_Hunk]) -> Iterator[tuple[int, int, list[_Hunk], list[_Hunk]]]:
    """Group the hunks of both sides that overlap or touch; a group with hunks of one side only is one hunk."""
    left, right = list(mine), list(theirs)
    while left or right:
        starts_left = not right or (bool(left) and left[0].first <= right[0].first)
        group: tuple[list[_Hunk], list[_Hunk]] = ([], [])
        seed = left.pop(0) if starts_left else right.pop(0)
        group[0 if starts_left else 1].append(seed)
        first, last = seed.first, seed.last
        grown = True
        while grown:
            grown = False
            for side, queue in enumerate((left, right)):
                # Two hunks of one side never touch, so a group can only grow through the other side.
                while queue and queue[0].first <= last and group[1 - side]:
                    hunk = queue.pop(0)
                    group[side].append(hunk)
                    last = max(last, hunk.last)
                    grown = True
        yield first, last, *group


def _chosen_line_end(base: str, mine: str, theirs: str) -> str:
    styles = ["\r\n" if "\r\n" in text else "\n" for text in (base, mine, theirs) if "\n" in text]
    changed = [style for style in styles if style != styles[0]]
    return changed[0] if changed else styles[0]


def _with_line_end(result: Merged | Conflicted, end: str) -> Merged | Conflicted:
    if isinstance(result, Merged):
        return Merged(result.text.replace("\n", end))
    return Conflicted(result.parts, end)
