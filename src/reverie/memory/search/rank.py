"""Two small logistic models: how likely a memory helps with a request, by words alone and with vectors.

Both take the features of `features.py`. `python -m bench.recall.fit` fits them to stores of memories and requests and
prints these tables with the thresholds; the weights of
`BY_HAND` are set by hand, as no store tells them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

BY_HAND: dict[str, float] = {"recent": 0.05, "use": 0.05, "context": 1.0, "in_file": 2.5, "in_tool": 2.5}
"""Age and use are small by intent and order what is about equally likely. Whoever wrote that a rule holds for
`*.sql` wants to see it when such a file is in play."""
WORD_WEIGHTS: dict[str, float] = {
    "bias": -7.003, "words_lead": 0.24, "best_coverage": 3.307, "title": 2.894, "length": 0.136, "file_words": 0.141,
    "file_situation": 0.059, "in_always": 0.311, "in_task": 0.895, "in_word": 0.516, "situation_share": 0.374,
    "ask_share": 1.828, "ask_lead": 0.205, "ask_likeness": 3.716, "has_asks": -1.05, "feedback": 0.227, "user": 0.162,
    "request_terms": 1.214, "request_short": -0.613, "request_known": -0.559, "request_asks": -0.384,
    "request_orders": 0.453, "verbatim": -0.039, "verbatim_words": -0.25, "verbatim_words_share": 0.897,
    "verbatim_words_lead": 0.226, "verbatim_coverage": -0.47, "verbatim_passage_share": 2.55, "verbatim_pairs": 0.467,
    "verbatim_length": -0.39, "verbatim_title": -3.935,
}  # fmt: skip
VECTOR_WEIGHTS: dict[str, float] = {
    "bias": -7.356, "words_lead": 0.111, "best_coverage": 1.991, "title": 1.827, "file_words": 0.203,
    "file_situation": 0.009, "in_always": 0.228, "in_task": 0.794, "in_word": 0.441, "situation_share": 0.078,
    "ask_share": 1.585, "ask_lead": 0.166, "has_asks": -1.633, "feedback": 0.227, "user": 0.358,
    "request_terms": 1.018, "request_short": -0.83, "request_known": -0.687, "request_asks": -0.305,
    "request_orders": 0.347, "text_meaning_lead": 0.496, "ask_meaning_lead": 0.38, "best_meaning_lead": 0.317,
    "verbatim": 0.042, "verbatim_words": -0.255, "verbatim_words_share": 0.17, "verbatim_words_lead": 0.244,
    "verbatim_coverage": 0.653, "verbatim_passage_share": 2.007, "verbatim_pairs": 0.432, "verbatim_length": -0.084,
    "verbatim_title": -3.713, "verbatim_best_meaning": 1.503, "verbatim_best_meaning_lead": -0.164,
}  # fmt: skip
_BY_WORDS, _WITH_VECTORS = WORD_WEIGHTS | BY_HAND, VECTOR_WEIGHTS | BY_HAND
THRESHOLDS = {
    "words": {"plain": (0.0115, 0.19), "asks": (0.016, 0.47)},
    "vectors": {"plain": (0.012, 0.33), "asks": (0.009, 0.66)},
}
"""From which probability on a memory is named in a line, and from which on it is shown whole. One that says for which
requests it is meant must be likelier to be shown whole, since it is likelier by chance too."""
VERBATIM_LINE = 0.005
"""A text kept as it was said is named sooner: it has no name of its own that a request could meet."""


def weigh(values: Mapping[str, float], *, has_vectors: bool) -> dict[str, float]:
    """What each feature adds to the log-odds; those that add nothing are left out."""
    weights = _WITH_VECTORS if has_vectors else _BY_WORDS
    return {name: weights[name] * amount for name, amount in values.items() if amount and name in weights}


def probability(parts: Mapping[str, float], *, has_vectors: bool) -> float:
    """How likely a memory with these parts helps."""
    bias = (VECTOR_WEIGHTS if has_vectors else WORD_WEIGHTS)["bias"]
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, bias + sum(parts.values())))))


def is_worth_a_line(score: float, caution: float, *, has_vectors: bool, has_asks: bool, is_verbatim: bool) -> bool:
    """Whether a memory of this probability is shown at all; `caution` is a factor of the odds."""
    line = VERBATIM_LINE if is_verbatim else _thresholds(has_vectors=has_vectors, has_asks=has_asks)[0]
    return _odds(score) >= caution * _odds(line)


def is_worth_whole(score: float, caution: float, *, has_vectors: bool, has_asks: bool) -> bool:
    """Whether a memory of this probability is shown whole."""
    return _odds(score) >= caution * _odds(_thresholds(has_vectors=has_vectors, has_asks=has_asks)[1])


def _thresholds(*, has_vectors: bool, has_asks: bool) -> tuple[float, float]:
    return THRESHOLDS["vectors" if has_vectors else "words"]["asks" if has_asks else "plain"]


def _odds(probability: float) -> float:
    return probability / max(1e-12, 1 - probability)
