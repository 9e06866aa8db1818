"""Measures → one ranking score, and the score → how likely the hit answers: two small linear models, written out.

The weights come from `python -m bench.recall.fit`, which prints these tables from the development splits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

WORD_WEIGHTS: dict[str, float] = {
    "words": 0.26, "coverage": 0.49, "passage": 0.47, "group": 0.39, "pairs": 0.3, "about": 0.96, "reply": 0.39,
    "after_question": 0.16, "asking": -0.13, "time": 0.38, "date": 0.84, "personal": 0.6, "length": 0.18,
}  # fmt: skip
"""Without vectors."""

VECTOR_WEIGHTS: dict[str, float] = {
    "words": 0.15, "coverage": 0.31, "passage": 0.43, "group": 0.34, "pairs": 0.3, "about": 0.79, "reply": 0.3,
    "after_question": 0.11, "asking": -0.14, "time": 0.34, "date": 0.84, "personal": 0.3, "length": 0.17,
    "similarity": 2.5, "whole_similarity": 2.2, "context_similarity": 3.2, "neighbour_similarity": 0.5,
    "group_similarity": 1.1,
}  # fmt: skip
"""With vectors."""

PRIOR_WEIGHTS: dict[str, float] = {"recency": 0.15, "use": 0.1, "type": 0.1}
"""Small by intent: they order what is equally relevant and never outvote the words. Not fitted: no split has them."""


def parts_of(values: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """What each measure adds to the ranking score; measures that add nothing are left out."""
    return {name: weights[name] * value for name, value in values.items() if value and name in weights}


def logistic(amount: float) -> float:
    """From any number to one between 0 and 1."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, amount))))
