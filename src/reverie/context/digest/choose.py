"""Take the lines that tell the most within a limit.

A line is worth the identifiers which no chosen line tells yet; the best ratio of worth to size is taken first. Because
a line can only lose worth while others are taken, a stale ratio is an upper bound, and most need no second look.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from reverie.context.digest.line import DigestLine, Weigh

LEAST_RATIO = 0.004
"""What tells less than this per token is left out even when there is room: it would only be read and paid for."""
LINE_TOKENS = 1.5
"""A line's own mark and line end."""


def choose(
    lines: Sequence[DigestLine],
    worths: Mapping[str, float],
    *,
    limit_tokens: float,
    weigh: Weigh,
    told: Iterable[str] = (),
) -> list[DigestLine]:
    """The chosen lines, best first; a line that stands under another is never taken without it."""
    sizes = [weigh(line.text) + LINE_TOKENS for line in lines]
    heads = {line.key: number for number, line in enumerate(lines) if line.key}
    children: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line.under:
            children.setdefault(line.under, []).append(number)
    covered = set(told)
    chosen: dict[int, None] = {}
    left = limit_tokens

    def missing(number: int) -> list[int]:
        """The line and the lines above it that are not taken yet."""
        needed = [number]
        while lines[needed[0]].under in heads:
            head = heads[lines[needed[0]].under]
            if head in chosen or head in needed:
                break
            needed.insert(0, head)
        return needed

    def ratio(number: int) -> tuple[float, float]:
        needed = missing(number)
        gain, told_by_these = 0.0, set[str]()
        for one in needed:
            line = lines[one]
            fresh = line.terms - covered - told_by_these
            # Exact, so that the order in which a set gives its names, which no two processes share, changes nothing.
            gain += line.floor + line.factor * fsum(worths.get(name, 0.0) for name in fresh)
            told_by_these |= fresh
        size = sum(sizes[one] for one in needed)
        return gain / size, size

    queue = [(-ratio(number)[0], number) for number in range(len(lines))]
    heapq.heapify(queue)
    while queue:
        stale, number = heapq.heappop(queue)
        if number in chosen:
            continue
        now, size = ratio(number)
        if now < LEAST_RATIO:
            continue
        if queue and -now > queue[0][0] and -now > stale:
            heapq.heappush(queue, (-now, number))
            continue
        if size > left:
            continue
        for one in missing(number):
            chosen[one] = None
            covered |= lines[one].terms
            # Those under a line that is taken become cheaper; everything else only loses.
            for child in children.get(lines[one].key, ()) if lines[one].key else ():
                heapq.heappush(queue, (-ratio(child)[0], child))
        left -= size
    return [lines[number] for number in chosen]
