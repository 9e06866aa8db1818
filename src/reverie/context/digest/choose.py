"""Take the lines that tell the most within a limit.

A line is worth the identifiers which no chosen line tells yet; the best ratio of worth to size is taken first. Because
a line can only lose worth while others are taken, a stale ratio is an upper bound, and most need no second look.

The worth of an identifier says how likely it is needed again, on a scale on which one recent use is 1. The shape was
fitted to what the continuations of four real sessions used (`bench.fidelity` measures it on the others): what the two
sides wrote themselves comes back far more often than what only stood in some output, fades within a few dozen rounds,
and counts more with every use; what tools print again and again does not fade.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import exp2, fsum

from reverie.context.digest.line import DigestLine, Weigh
from reverie.context.facts.values import Facts, Term

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
    told_terms: Iterable[str] = (),
) -> list[DigestLine]:
    """The chosen lines, best first; a line that stands under another is never taken without it."""
    sizes = [weigh(line.text) + LINE_TOKENS for line in lines]
    heads = {line.key: number for number, line in enumerate(lines) if line.key}
    children: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line.under:
            children.setdefault(line.under, []).append(number)
    covered = set(told_terms)
    chosen: dict[int, None] = {}
    tokens_left = limit_tokens

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
        for number_needed in needed:
            line = lines[number_needed]
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
        if size > tokens_left:
            continue
        for number_needed in missing(number):
            chosen[number_needed] = None
            covered |= lines[number_needed].terms
            # Those under a line that is taken become cheaper; everything else only loses.
            for child in children.get(lines[number_needed].key, ()) if lines[number_needed].key else ():
                heapq.heappush(queue, (-ratio(child)[0], child))
        tokens_left -= size
    return [lines[number] for number in chosen]


HALF_LIFE_ROUNDS = 12.0
LASTING = 0.2
"""The part of the worth that does not fade."""
USED_WORTH = (0.0, 1.0, 1.3, 1.9, 2.6)
"""By the number of rounds in which it was written; more rounds count like the last."""
SEEN_WORTH = (0.0, 0.1, 0.35, 0.6)
"""By the number of rounds in which it only came back from a tool."""
VISIBLE_WORTH = 0.08
"""An identifier that also stands in what is kept anyway."""
ASKED_WORTH = 1.5
"""An identifier of the current request."""


def worths(facts: Facts, visible: Collection[str] = ()) -> dict[str, float]:
    """The worth of every identifier; those in `visible` count little."""
    current = facts.current_request
    request_text = current.text if current else ""
    return {
        name: _worth(one, facts.rounds)
        * (VISIBLE_WORTH if name in visible else 1.0)
        * (ASKED_WORTH if request_text and name in request_text else 1.0)
        for name, one in facts.terms.items()
    }


def _worth(term: Term, rounds: int) -> float:
    age = max(0, rounds - 1 - term.last_used)
    fade = LASTING + (1 - LASTING) * exp2(-age / HALF_LIFE_ROUNDS)
    return USED_WORTH[min(term.used, 4)] * fade + SEEN_WORTH[min(term.seen, 3)] * (0.5 if term.used else 1.0)
