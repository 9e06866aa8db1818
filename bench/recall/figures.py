"""recall@5 and its 95 % interval by bootstrap over questions."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.recall.data import Question

_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with the interval in which it would lie for like questions."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}–{self.high:.3f}]"


def recall(question: Question, hits: Sequence[str], limit: int = 5) -> float:
    """The share of a question's pieces of evidence that the first hits hold."""
    top = set(hits[:limit])
    return sum(not top.isdisjoint(piece) for piece in question.pieces) / len(question.pieces)


def figure(values: Sequence[float], seed: int = 7) -> Figure:
    """The mean of values and its bootstrap interval."""
    draw = random.Random(seed)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return Figure(statistics.fmean(values), means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)], len(values))
