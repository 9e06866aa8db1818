"""When to say nothing: how likely a hit answers the query, from a few features and a small logistic model.

The coefficients are fitted by `python -m bench.recall.fit` on real questions, on questions asked of a stranger's
store, and on everyday requests that concern no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.memory.search.features import Measured, Wanted
from reverie.memory.search.rank import logistic

WORD_COEFFICIENTS: dict[str, float] = {"bias": 0.0}
VECTOR_COEFFICIENTS: dict[str, float] = {"bias": 0.0}
WORD_THRESHOLD = 0.0
VECTOR_THRESHOLD = 0.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """What of a query and its candidates as a whole bears on whether anything is known."""

    features: dict[str, float]
    has_vectors: bool

    @staticmethod
    def of(wanted: Wanted, ranked: Sequence[Measured], *, has_vectors: bool) -> Confidence:
        """Measure a query against its candidates, best first."""
        return Confidence(query_features(wanted, ranked), has_vectors)


@dataclass(frozen=True, slots=True)
class Likely:
    """How likely a hit answers, and whether that is enough to show it."""

    probability: float
    is_enough: bool


def query_features(wanted: Wanted, ranked: Sequence[Measured]) -> dict[str, float]:
    """The features of a query; the same for all its hits."""
    del wanted, ranked
    return {}


def confidence(judge: Confidence, each: Measured, score: float) -> Likely:
    """Judge one hit."""
    del each
    table = VECTOR_COEFFICIENTS if judge.has_vectors else WORD_COEFFICIENTS
    probability = logistic(table["bias"] + 0 * score)
    return Likely(probability, is_enough=True)
