"""Who is cheaper at the same fidelity: each other strategy at every budget it was given, against ours.

Two questions. Is some strategy, at any budget, both cheaper and more faithful than ours? And with a budget at which its
visible fidelity is at most one point below ours, what does it cost?
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from bench.fidelity.measure import OURS, Bill, Sample

WITHIN = 0.01
"""Shares of visible identifiers that differ by no more are taken as equal."""


@dataclass(frozen=True, slots=True)
class Point:
    """One strategy with one budget over some sessions."""

    strategy: str
    multiple: float
    visible: float
    tokens: float
    cost_usd: float
    overflows: int
    """Requests that would have been larger than the window and so refused."""


def points(found: Sequence[Sample], billed: Sequence[Bill], window_tokens: int) -> list[Point]:
    """Strategies with budgets for which there are both samples and bills of the same sessions as ours has."""
    mine = {(one.session, one.at) for one in found if one.strategy == OURS and one.window_tokens == window_tokens}
    made: list[Point] = []
    for strategy, by in dict.fromkeys((one.strategy, one.multiple) for one in found):
        own = [one for one in found if (one.window_tokens, one.strategy, one.multiple) == (window_tokens, strategy, by)]
        paid = [
            one.spending
            for one in billed
            if (one.window_tokens, one.strategy, one.multiple) == (window_tokens, strategy, by)
        ]
        if {(one.session, one.at) for one in own} == mine and len(paid) == len({one.session for one in own}):
            made.append(
                Point(
                    strategy,
                    by,
                    mean(one.score.visible_share for one in own),
                    mean(one.tokens for one in own),
                    sum(one.cost_usd for one in paid),
                    sum(one.overflows for one in paid),
                )
            )
    return made


def verdict(found: Sequence[Point]) -> Iterable[str]:
    """The answers to both questions in lines."""
    ours = next(one for one in found if one.strategy == OURS)
    better = [one for one in found if one is not ours and beats(one, ours)]
    yield f"ours: visible {ours.visible:.1%}, {ours.tokens:.0f} tokens, {ours.cost_usd:.2f} USD"
    yield "cheaper and more faithful: " + ("; ".join(map(_told, better)) or "none")
    for strategy in dict.fromkeys(one.strategy for one in found if one is not ours):
        own = [one for one in found if one.strategy == strategy]
        equal = [one for one in own if one.visible >= ours.visible - WITHIN]
        if not equal:
            best = max(own, key=lambda one: one.visible)
            yield f"{strategy}: never within a point of ours; best {_told(best)}"
            continue
        cheapest = min(equal, key=lambda one: (one.overflows > 0, one.cost_usd))
        word = (
            "refused requests" if cheapest.overflows else "dearer" if cheapest.cost_usd >= ours.cost_usd else "CHEAPER"
        )
        yield f"{strategy}: {word}; {_told(cheapest)}"


def beats(one: Point, ours: Point) -> bool:
    """Whether a strategy is both cheaper and more faithful, and its requests would all have been taken."""
    return not one.overflows and one.cost_usd < ours.cost_usd and one.visible > ours.visible


def _told(one: Point) -> str:
    refused = f", {one.overflows} requests larger than the window" if one.overflows else ""
    return (
        f"{one.strategy} at {one.multiple:g}× our size: {one.visible:.1%},"
        f" {one.tokens:.0f} tokens, {one.cost_usd:.2f} USD{refused}"
    )
