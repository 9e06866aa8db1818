"""Measures → one ranking score, and the score → how likely the hit answers: two small linear models, written out.

The weights come from `python -m bench.recall.fit`, which prints these tables from the development splits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

WORD_WEIGHTS: dict[str, float] = {
    "words": -0.02, "coverage": 1.06, "passage": 0.36, "group": 0.4, "pairs": 0.19, "about": 1.49, "reply": 0.74,
    "after_question": 0.31, "asking": 0.0, "time": 1.56, "date": 5.01, "personal": 2.01, "length": 0.27,
}  # fmt: skip
"""Without vectors."""

VECTOR_WEIGHTS: dict[str, float] = {
    "words": -0.0, "coverage": 0.75, "passage": 0.16, "group": 0.37, "pairs": 0.31, "about": 1.28, "reply": 0.53,
    "after_question": 0.19, "asking": -0.27, "time": 1.51, "date": 4.94, "personal": 1.23, "length": 0.32,
    "similarity": 2.28, "whole_similarity": 2.43, "context_similarity": 4.73, "neighbour_similarity": 0.09,
    "group_similarity": 0.41,
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
