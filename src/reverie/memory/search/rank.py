"""Turns features into a ranking score and a probability that the hit answers: two small linear models.

The weights come from `python -m bench.recall.fit`, which prints these tables from the development splits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

WORD_WEIGHTS: dict[str, float] = {
    "words": -0.06, "coverage": 0.54, "passage": 0.1, "group": 0.32, "pairs": 0.41, "about": 1.48, "reply": 0.82,
    "after_question": 0.35, "asking": -0.21, "time": 1.46, "date": 4.31, "personal": 1.23, "length": 0.05,
    "words_share": 1.5, "passage_share": 1.85, "day": 5.83,
}  # fmt: skip
"""Without vectors."""

VECTOR_WEIGHTS: dict[str, float] = {
    "words": 0.01, "coverage": 0.56, "passage": 0.21, "group": 0.36, "pairs": 0.41, "about": 1.43, "reply": 0.82,
    "after_question": 0.09, "asking": -0.37, "time": 1.34, "date": 4.11, "personal": 0.56, "length": 0.33,
    "similarity": -0.62, "whole_similarity": 1.88, "context_similarity": 5.28, "neighbour_similarity": 0.49,
    "group_similarity": -1.0, "sentence_similarity": 2.72, "whole_sentence_similarity": 1.97, "pair_similarity": 1.41,
    "run_similarity": 1.47, "day": 6.5,
}  # fmt: skip
"""With vectors; shares of the best candidate add nothing to similarities."""

PRIOR_WEIGHTS: dict[str, float] = {"recency": 0.4, "use": 0.1, "type": 0.1}
"""Small by intent: they order what is about equally relevant (one more word in a short text costs 0.25) and never
outvote the words. Not fitted: no split has them."""
TITLED_WEIGHT = 3.0
"""A proper name of the query stands in the document's name. Set by hand, as no split names its documents."""


def parts_of(values: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """What each measure adds to the ranking score; measures that add nothing are left out."""
    return {name: weights[name] * value for name, value in values.items() if value and name in weights}


def logistic(amount: float) -> float:
    """From any number to one between 0 and 1."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, amount))))
