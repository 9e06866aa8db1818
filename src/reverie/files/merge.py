"""Three-way merge of texts: the merged text, or the conflicting regions.

A line-based three-way merge with the outcome of git's: edits that touch or lie next to one another conflict unless they
are equal. It knows nothing of what the lines mean; topics are merged key by key in `memory/topics/merge.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from reverie.values import value


@value
class MergedText:
    """Both sides in one text."""

    text: str


@value
class ConflictRegion:
    """Lines that both sides changed, each in its own way."""

    line: int
    """Number of the first of these lines in the base, counted from 1."""
    base: tuple[str, ...]
    mine: tuple[str, ...]
    theirs: tuple[str, ...]


@value
class Conflicted:
    """At least one overlap; nothing is chosen."""

    parts: tuple[str | ConflictRegion, ...]
    """Lines on which the sides agree, and the places where they do not, in order."""
    line_end: str = "\n"

    def text(self) -> str:
        """Both sides between markers, for a person."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                lines.append(part)
            else:
                lines += ["<<<<<<< mine", *part.mine, "=======", *part.theirs, ">>>>>>> theirs"]
        return self.line_end.join(lines)


@value
class _Hunk:
    """Base lines `first:last` became `lines`."""

    first: int
    last: int
    lines: tuple[str, ...]


def merge(base: str, mine: str, theirs: str) -> MergedText | Conflicted:
    """Bring the changes of both sides together."""
    if mine == theirs or theirs == base:
        return MergedText(mine)
    if mine == base:
        return MergedText(theirs)
    if any("\r\n" in text for text in (base, mine, theirs)):
        # An editor that changed every line end has changed no line.
        result = _merge(*(text.replace("\r\n", "\n") for text in (base, mine, theirs)))
        return _with_line_end(result, _chosen_line_end(base, mine, theirs))
    return _merge(base, mine, theirs)


def _merge(base: str, mine: str, theirs: str) -> MergedText | Conflicted:
    # Splitting at "\n" makes a missing last line end a line like any other.
    base_lines = tuple(base.split("\n"))
    mine_hunks = _hunks(base_lines, tuple(mine.split("\n")))
    theirs_hunks = _hunks(base_lines, tuple(theirs.split("\n")))
    parts: list[str | ConflictRegion] = []
    done = 0
    for first, last, ours, others in _meetings(mine_hunks, theirs_hunks):
        parts += base_lines[done:first]
        done = last
        chosen = _choose(base_lines, first, last, ours, others)
        parts += (chosen,) if isinstance(chosen, ConflictRegion) else chosen
    parts += base_lines[done:]
    agreed = [part for part in parts if isinstance(part, str)]
    return MergedText("\n".join(agreed)) if len(agreed) == len(parts) else Conflicted(tuple(parts))


def _choose(
    base: tuple[str, ...], first: int, last: int, mine: list[_Hunk], theirs: list[_Hunk]
) -> tuple[str, ...] | ConflictRegion:
    before, left, right = base[first:last], _apply(base, first, last, mine), _apply(base, first, last, theirs)
    if right in (before, left):
        return left
    if left == before:
        return right
    return ConflictRegion(first + 1, before, left, right)


def _apply(base: tuple[str, ...], first: int, last: int, hunks: list[_Hunk]) -> tuple[str, ...]:
    lines: list[str] = []
    for hunk in hunks:
        lines += base[first : hunk.first]
        lines += hunk.lines
        first = hunk.last
    return (*lines, *base[first:last])


def _hunks(base: tuple[str, ...], other: tuple[str, ...]) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    old = new = 0
    for first, second in [*_align_lines(base, other), (len(base), len(other))]:
        if first > old or second > new:
            hunks.append(_Hunk(old, first, other[new:second]))
        old, new = first + 1, second + 1
    return hunks


def _align_lines(base: Sequence[str], other: Sequence[str], depth: int = 0) -> list[tuple[int, int]]:
    """Pairs of equal lines, in order: by lines that occur once on each side, between them by the shortest edit.

    Unlike `difflib` this stays fast on texts that repeat a line, and Markdown repeats the empty one.
    """
    head = _common(base, other)
    tail = _common(base[head:][::-1], other[head:][::-1])
    pairs = [(n, n) for n in range(head)]
    old, new = base[head : len(base) - tail], other[head : len(other) - tail]
    anchors = _rising(_once_in_both(old, new)) if depth < MAX_DEPTH else []
    if anchors:
        done = (0, 0)
        for first, second in [*anchors, (len(old), len(new))]:
            between = _align_lines(old[done[0] : first], new[done[1] : second], depth + 1)
            pairs += [(head + done[0] + i, head + done[1] + j) for i, j in between]
            if first < len(old):
                pairs.append((head + first, head + second))
            done = (first + 1, second + 1)
    elif old and new:
        pairs += [(head + i, head + j) for i, j in _shortest_edit(old, new)]
    return pairs + [(len(base) - tail + n, len(other) - tail + n) for n in range(tail)]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _once_in_both(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    counts_old, counts_new = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(new) if counts_new[line] == 1}
    return [(place, places[line]) for place, line in enumerate(old) if counts_old[line] == 1 and line in places]


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest selection whose second numbers ascend as the first ones do."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else None)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


MAX_DEPTH = 50
"""How often lines are sought that occur once between lines that occur once; a text can be made to need very many."""

MAX_EDITS = 600
"""Texts that differ in more repeated lines than this are taken as wholly different, which can only add conflicts."""


def _shortest_edit(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal lines on a shortest way from one text to the other (Myers, 1986)."""
    reached = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), MAX_EDITS) + 1):
        trace.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            came_from = _came_from(reached, diagonal, edits)
            x = reached[came_from] + (came_from < diagonal)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _walk_back(trace, len(old), len(new))
    return []


def _walk_back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for edits in range(len(trace) - 1, -1, -1):
        diagonal = x - y
        came_from = _came_from(trace[edits], diagonal, edits)
        edited = trace[edits][came_from] + (came_from < diagonal)
        pairs += [(place, place - diagonal) for place in range(x - 1, edited - 1, -1)]
        x = trace[edits][came_from]
        y = x - came_from
    return pairs[::-1]


def _came_from(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """The neighbouring diagonal from which one more edit gets further: above a line is added, below one is dropped."""
    is_above = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
    return diagonal + 1 if is_above else diagonal - 1


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


def _with_line_end(result: MergedText | Conflicted, end: str) -> MergedText | Conflicted:
    if isinstance(result, MergedText):
        return MergedText(result.text.replace("\n", end))
    return Conflicted(result.parts, end)
