"""What a query looks for: its terms and their substitutes, each weighed by how telling it is in this store."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Protocol

from reverie.memory.search.analyze import QueryText, is_weak, synonyms
from reverie.memory.search.spelling import corrections
from reverie.values import value

SYNONYM_WORTH = 0.6
_MOST_TERMS = 24
"""A pasted page is searched by its most telling words, and no more of them are taken for misspelt."""
_WEAK_WORTH = 0.5
_PARTICLE_WORTH = 0.2
"""Of a pair of characters that only joins a word to the next."""
_LEAST_WEIGHT = 0.05
_LEAST_DOCUMENTS = 100
"""How telling a word is, is judged as if the store had at least so many: among six memories one word that none of them
has would else outweigh all that are found."""


@value
class IndexTotals:
    """The size of a whole index."""

    documents: int
    length: int
    passages: int


class TermSource(Protocol):
    """What an index says of its terms."""

    def totals(self) -> IndexTotals: ...

    def frequencies(self, query_terms: Iterable[str]) -> dict[str, int]: ...

    def find_similar_spellings(self, term: str) -> list[str]: ...


@value
class WeighedQuery:
    """What a query looks for, weighed by one store."""

    text: QueryText
    weights: Mapping[str, float]
    """Term → how telling it is here."""
    stands_for: Mapping[str, tuple[str, float]]
    """Term to look for → (the query's term, how much it is worth): the terms themselves, synonyms, corrections."""
    corrected: Mapping[str, tuple[str, ...]]
    """A term the store does not have → the terms taken in its place."""
    total: float
    """The sum of the weights of the query's own terms, also of those that the store does not have."""
    known: float
    """The share of it that the store has."""
    mean_length: float
    mean_passage: float
    context: frozenset[str] = frozenset()
    """Terms of what was said before: they order what the query itself finds."""

    @property
    def is_telling(self) -> bool:
        """Whether any term is more than a word of every request: "yes, do that" concerns no memory."""
        return not all(map(is_weak, self.text.terms))


def weigh_query(text: QueryText, source: TermSource, context: Iterable[str] = ()) -> WeighedQuery:
    """Weigh the terms of a query, and those of what was said before it."""
    totals = source.totals()
    said_before = frozenset(context).difference(text.terms)
    query_terms = (*text.terms, *sorted(said_before))
    frequencies = source.frequencies(query_terms)
    stands_for: dict[str, tuple[str, float]] = {}
    weights: dict[str, float] = {}
    corrected: dict[str, tuple[str, ...]] = {}
    total = known = 0.0
    unknown = 0
    for term in query_terms:
        count = frequencies[term]
        if not count and term not in said_before and unknown < _MOST_TERMS:
            unknown += 1
            similar = corrections(term, source.find_similar_spellings)
            if similar:
                corrected[term] = tuple(similar)
                stands_for |= {other: (term, 1.0 - 0.1 * steps) for other, steps in similar.items()}
                count = max(source.frequencies(similar).values())
        weight = weigh_term(term, count, totals.documents)
        weights[term] = weight
        stands_for[term] = (term, 1.0)
        if term in said_before:
            continue
        total += weight
        known += weight if count else 0.0
        for other in sorted(synonyms(term)):
            if other not in frequencies:
                stands_for.setdefault(other, (term, SYNONYM_WORTH))
    if len(weights) > _MOST_TERMS:
        found = source.frequencies(stands_for)
        indexed = {meant for look, (meant, _) in stands_for.items() if found[look]}
        strongest = set(sorted(indexed, key=lambda term: (term in said_before, -weights[term], term))[:_MOST_TERMS])
        stands_for = {look: meant for look, meant in stands_for.items() if meant[0] in strongest}
    return WeighedQuery(
        text=text,
        weights=weights,
        stands_for=stands_for,
        corrected=corrected,
        total=total,
        known=known / total if total else 0.0,
        mean_length=max(1.0, totals.length / max(1, totals.documents)),
        mean_passage=max(1.0, totals.length / max(1, totals.passages)),
        context=said_before,
    )


def weigh_term(term: str, documents: int, every: int) -> float:
    """How telling a term is that so many of all documents have."""
    telling = math.log(1 + max(0.0, max(_LEAST_DOCUMENTS, every) - documents + 0.5) / (documents + 0.5))
    worth = 1.0 if not is_weak(term) else _WEAK_WORTH if term.isascii() else _PARTICLE_WORTH
    return max(_LEAST_WEIGHT, telling) * worth


def find_lines(text: str, stands_for: Mapping[str, tuple[str, float]]) -> dict[tuple[int, int], dict[str, float]]:
    """The lines of a text that have any term: where each begins and ends → the query's term → how often.

    In the text every term stands between spaces, so that it is found whole by looking for it with them.
    """
    lines: dict[tuple[int, int], dict[str, float]] = {}
    find = text.find
    for look, (meant, worth) in stands_for.items():
        term = f" {look} "
        at = find(term)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = find("\n", at)
            if end < 0:
                end = len(text)
            count = 0
            while 0 <= at < end:
                count += 1
                at = find(term, at + len(term) - 1)
            here = lines.setdefault((start, end), {})
            here[meant] = max(here.get(meant, 0.0), count * worth)
    return lines


_SATURATION = 0.9
"""BM25's k1: how fast a repeated word stops adding."""
_LENGTH_SHARE = 0.3
"""BM25's b: how much a long text is discounted."""


def saturate(counts: Mapping[str, float], relative_length: float) -> dict[str, float]:
    """Counts of terms in a text → what they are worth, from 0 to 1."""
    slack = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative_length)
    return {term: count / (count + slack) for term, count in counts.items()}
