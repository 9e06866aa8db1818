"""Selects candidates among hundreds of thousands of passages and has them ranked.

Passages that have all the telling words come before those that have some, and very common words are not followed
through the whole index: in a large one even the words of a good query are in thousands of passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from reverie.memory.search.analyze import analyse_query
from reverie.memory.search.passages.database import Filter, PassageDatabase
from reverie.memory.search.passages.rank import PassageRow, RankedPassage, rank_passages
from reverie.memory.search.query import WeighedQuery, weigh_query

_CANDIDATES = 40
_IN_A_ROW = 15
"""How many of the candidates may come by having the words side by side, the newest of them."""
_MOST = 400
"""How many candidates even a very long list of hits is chosen from."""
_COPIES = 3
"""How many times more passages are asked for than wanted: sessions that were forked hold the same ones again."""
_POSTINGS_READ = 12_000
"""How many passages one question may weigh; beyond, the newest are taken as they come."""


class PassageFinder:
    """Finds passages for one query after another."""

    def __init__(self, database: PassageDatabase, only: Filter, limit: int) -> None:
        self._passages = database
        self._only = only
        self._most = min(_MOST, max(_CANDIDATES, 2 * limit))
        self.in_a_row: frozenset[str] = frozenset()
        """The keys of the passages that have all words of the last query side by side."""

    def find(self, text: str, today: date) -> list[RankedPassage]:
        """The passages that share a word with a text, best first."""
        if not text.strip():
            return []
        with self._passages.reading():
            weighed = weigh_query(analyse_query(text), self._passages)
            rows = self._with_neighbours(self._passages.rows(self._candidates(weighed)))
        return rank_passages(rows, weighed, text, today)

    def _candidates(self, weighed: WeighedQuery) -> list[int]:
        frequencies = self._passages.frequencies(weighed.stands_for)
        groups: dict[str, list[str]] = {}
        for look, (meant, _) in weighed.stands_for.items():
            if frequencies[look]:
                groups.setdefault(meant, []).append(look)
        telling = sorted(groups, key=lambda term: (-weighed.weights[term], term))
        sizes = [sum(frequencies[look] for look in groups[term]) for term in telling]
        words = [f"({_any(groups[term])})" for term in telling]
        asked = weighed.text.terms
        ids: list[int] = []
        if len(asked) > 1 and all(frequencies.get(term) for term in asked):
            ids = self._passages.newest(f'"{" ".join(asked)}"', _IN_A_ROW, self._only)
        self.in_a_row = frozenset(map(str, ids))
        for question, postings in _questions(words, sizes):
            ask = self._passages.best if postings <= _POSTINGS_READ else self._passages.newest
            ids = self._passages.distinct([*ids, *ask(question, _COPIES * self._most, self._only)])
            if len(ids) >= self._most:
                break
        return ids[: self._most]

    def _with_neighbours(self, rows: list[PassageRow]) -> list[PassageRow]:
        """Add the passages just before and after the candidates: they explain them, and may be meant themselves."""
        taken = {(row.group, row.position) for row in rows}
        beside = {(row.group, row.position + step) for row in rows for step in (-1, 1)}
        return rows + self._passages.rows_at(sorted(beside - taken))


def _questions(words: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    """What to ask, the most demanding first, and how many passages each question weighs.

    `words` come with the most telling first, `sizes` say how many passages have each.
    """
    for count in range(len(words), 1, -1):
        yield " AND ".join(words[:count]), min(sizes[:count])
    few, weighed = 1, sum(sizes[:1])
    while few < len(words) and weighed + sizes[few] <= _POSTINGS_READ:
        weighed += sizes[few]
        few += 1
    if words:
        yield " OR ".join(words[:few]), weighed


def _any(looks: Sequence[str]) -> str:
    return " OR ".join(f'"{look}"' for look in sorted(looks))
