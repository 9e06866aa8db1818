"""Two small linear models: one orders the candidates, the other says how likely a hit answers the query.

The weights and coefficients come from `python -m bench.recall.fit`, which prints these tables. The second model decides
when recall returns nothing (it abstains): it is fitted on real questions, on questions asked of a stranger's store, and
on everyday requests that concern no memory. Some coefficients are set by hand, since those data ask about named people
and have no titles: `known_names` is held down; `complete` and `single` (one document has every telling word of the
query) are held up, for among unrelated queries that is rare; so is `titled` (a proper name of the query or two of its
telling words stand in the document's name), for whoever says "Tidewater" means the memory of that name. `personal` is
held down: a stranger's first-person question fits first-person talk as well. Whether anything is shown is decided by
the best hit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from reverie.memory.search.analyze import is_weak
from reverie.memory.search.features import Candidate, WeighedQuery

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

WORD_COEFFICIENTS: dict[str, float] = {
    "bias": -4.362, "unknown": -1.203, "strange_names": -0.325, "known_names": 5.0, "terms": -0.623, "matched": 0.153,
    "complete": 3.5, "nearly": 0.992, "single": 2.5, "titled": 6.5, "coverage": 0.468, "passage": 0.244, "pairs": 0.654,
    "gap": 0.138, "personal": 1.6,
}  # fmt: skip
WORD_THRESHOLD = 0.18
VECTOR_COEFFICIENTS: dict[str, float] = {
    "bias": -8.875, "unknown": 0.571, "strange_names": -0.756, "known_names": 5.0, "terms": -0.021, "matched": 0.152,
    "complete": 3.5, "nearly": 0.463, "single": 2.5, "titled": 6.5, "coverage": 0.653, "passage": -0.069,
    "pairs": 0.461, "gap": 0.223, "personal": 0.8, "whole_similarity": 2.253, "context_similarity": 2.552,
    "whole_sentence_similarity": 7.706,
}  # fmt: skip
VECTOR_THRESHOLD = 0.18
"""Below this probability of the best hit nothing is returned. Everyday requests pass once in twenty at most, and so do
strangers' questions on the whole; those in the first person pass more often (see `bench/NOTES.md`)."""
RUNNER_UP_THRESHOLD = 0.05
"""A hit behind the best is left out below this: of twenty such hits not one helps. A question may need several
memories, so it is lower than what the best must reach."""

_COMPARED = 11
"""With how many runners-up a hit is compared; where a store has fewer, the others count as nothing."""


def parts_of(values: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """What each measure adds to the ranking score; measures that add nothing are left out."""
    return {name: weights[name] * value for name, value in values.items() if value and name in weights}


def logistic(amount: float) -> float:
    """From any number to one between 0 and 1."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, amount))))


def query_features(weighed: WeighedQuery, measured: Sequence[Candidate]) -> dict[str, float]:
    """What of a query as a whole bears on whether anything is known; the same for all its hits."""
    seen: set[str] = set()
    for each in measured:
        seen.update(each.found)
        seen.update(each.fields.get("about", ()))
    weights = weighed.weights
    strong = _strong(weighed, seen)
    unknown = sum(weights[term] for term in strong if term not in seen)
    return {
        "unknown": unknown / max(1e-9, sum(weights[term] for term in strong)),
        "strange_names": float(min(2, sum(term not in seen for term in weighed.text.proper))),
        "known_names": float(bool(weighed.names)),
        "terms": math.log1p(min(8, len(strong))),
    }


def hit_features(
    weighed: WeighedQuery, each: Candidate, score: float, others: Sequence[float], of_query: Mapping[str, float]
) -> dict[str, float]:
    """The features of one hit: the query's, what was measured of it, and by how much it leads."""
    runners_up = others[:_COMPARED]
    strong = _strong(weighed, each.found)
    matched = sum(term in each.found for term in strong)
    return {
        **each.values,
        **of_query,
        "matched": float(matched),
        "complete": float(len(strong) > 1 and matched == len(strong)),
        "nearly": float(len(strong) > 2 and matched == len(strong) - 1),
        "single": float(len(strong) == matched == 1),
        "titled": float(_is_titled(weighed, strong, each)),
        "gap": score - sum(runners_up) / _COMPARED,
    }


def says_nothing(weighed: WeighedQuery) -> bool:
    """Whether a query has no telling word at all: "yes, do that" concerns no memory."""
    return not weighed.names and not _strong(weighed)


def probability(features: Mapping[str, float], *, has_vectors: bool) -> float:
    """How likely a hit with these features answers."""
    table = VECTOR_COEFFICIENTS if has_vectors else WORD_COEFFICIENTS
    return logistic(table["bias"] + sum(table[name] * features.get(name, 0.0) for name in table if name != "bias"))


def least_likely(place: int, *, has_vectors: bool) -> float:
    """From which probability on a hit in this place is shown; the best decides for all, another only for itself."""
    if place:
        return RUNNER_UP_THRESHOLD
    return VECTOR_THRESHOLD if has_vectors else WORD_THRESHOLD


def _is_titled(weighed: WeighedQuery, strong: Sequence[str], each: Candidate) -> bool:
    """Whether the document is named by a proper name of the query, or by two of its telling words."""
    title = each.fields.get("title", ())
    return any(term in title for term in weighed.text.proper) or sum(term in title for term in strong) > 1


def _strong(weighed: WeighedQuery, found_terms: Collection[str] = ()) -> list[str]:
    """The telling terms of a query, without those that only join a word which was found to its neighbour."""
    terms = [term for term in weighed.text.terms if term not in weighed.names]
    pairs = [term for term in terms if len(term) == 2 and not term.isascii()]
    known_pairs = [pair for pair in pairs if pair in found_terms]
    joined = [pair for pair in pairs if pair in found_terms or is_weak(pair)]
    seams = {
        pair
        for pair in pairs
        if (_ends(known_pairs, pair[0]) and _begins(joined, pair[1]))
        or (_ends(joined, pair[0]) and _begins(known_pairs, pair[1]))
    }
    return [term for term in terms if not is_weak(term) and (term in found_terms or term not in seams)]


def _ends(pairs: Sequence[str], character: str) -> bool:
    return any(pair[1] == character for pair in pairs)


def _begins(pairs: Sequence[str], character: str) -> bool:
    return any(pair[0] == character for pair in pairs)
