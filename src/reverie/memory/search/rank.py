"""Two small logistic models: how likely a memory helps with a request, by words alone and with vectors.

Both take the features of `features.py`. `python -m bench.recall.fit` fits them to stores of memories and requests and
prints these tables with the thresholds; the weights of
`BY_HAND` are set by hand, as no store tells them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

BY_HAND: dict[str, float] = {"recent": 0.2, "use": 0.1, "context": 1.0, "in_file": 3.0, "in_tool": 2.5}
"""The first three are small by intent and order what is about equally likely. Whoever wrote that a rule holds for
`*.sql` wants to see it when such a file is in play."""
WORD_WEIGHTS: dict[str, float] = {
    "bias": -7.031, "words": 0.007, "words_lead": 0.238, "best_coverage": 3.504, "title": 2.766, "length": 0.188,
    "file_words": 0.215, "file_situation": 0.038, "in_always": 0.206, "in_task": 0.951, "in_word": 0.533,
    "situation_share": 0.334, "ask_share": 1.901, "ask_lead": 0.219, "ask_likeness": 3.266, "has_asks": -0.97,
    "feedback": 0.204, "user": 0.233, "request_terms": 1.273, "request_short": -0.812, "request_known": -0.761,
    "request_asks": -0.468, "request_orders": 0.401, "verbatim": 0.507, "verbatim_words": -0.285,
    "verbatim_words_share": 0.708, "verbatim_words_lead": 0.288, "verbatim_coverage": -0.639,
    "verbatim_passage_share": 2.456, "verbatim_pairs": 0.459, "verbatim_length": -0.307, "verbatim_title": -3.963,
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
