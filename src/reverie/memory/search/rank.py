"""Two small logistic models: how likely a memory helps with a request, by words alone and with vectors.

Both take the features of `features.py`. `python -m bench.recall.fit` fits them to stores of memories and requests and
prints these tables with the thresholds; the weights of
`BY_HAND` are set by hand, as no store tells them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

BY_HAND: dict[str, float] = {"recent": 0.2, "use": 0.1, "context": 1.0}
"""Small by intent: they order what is about equally likely."""
WORD_WEIGHTS: dict[str, float] = {
    "bias": -4.0, "coverage": 2.0, "words": 0.1,
}  # fmt: skip
VECTOR_WEIGHTS: dict[str, float] = {
    "bias": -6.0, "coverage": 2.0, "best_meaning": 4.0,
}  # fmt: skip
LINE_FROM = {"plain": 0.018, "asks": 0.032}
"""From this probability on a memory is named in a line; one that says for which requests it is meant must be likelier,
since it is likelier by chance too."""
WHOLE_FROM = {"plain": 0.20, "asks": 0.41}
"""From this probability on it is shown whole."""


def weigh(values: Mapping[str, float], *, has_vectors: bool) -> dict[str, float]:
    """What each feature adds to the log-odds; those that add nothing are left out."""
    weights = (VECTOR_WEIGHTS if has_vectors else WORD_WEIGHTS) | BY_HAND
    return {name: weights[name] * amount for name, amount in values.items() if amount and name in weights}


def probability(parts: Mapping[str, float], *, has_vectors: bool) -> float:
    """How likely a memory with these parts helps."""
    bias = (VECTOR_WEIGHTS if has_vectors else WORD_WEIGHTS)["bias"]
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, bias + sum(parts.values())))))


def is_worth_a_line(score: float, caution: float, *, has_asks: bool) -> bool:
    """Whether a memory of this probability is shown at all; `caution` is a factor of the odds."""
    return _odds(score) >= caution * _odds(LINE_FROM["asks" if has_asks else "plain"])


def is_worth_whole(score: float, caution: float, *, has_asks: bool) -> bool:
    """Whether a memory of this probability is shown whole."""
    return _odds(score) >= caution * _odds(WHOLE_FROM["asks" if has_asks else "plain"])


def _odds(probability: float) -> float:
    return probability / max(1e-12, 1 - probability)
