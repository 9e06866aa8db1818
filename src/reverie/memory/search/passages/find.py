"""Selects candidates among hundreds of thousands of passages for the search engine to rank.

Passages that have all the telling words come before those that have some, and very common words are not followed
through the whole index: in a large one even the words of a good query are in thousands of passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from reverie.memory.search.engine import SearchIndex
from reverie.memory.search.passages.database import Filter, PassageDatabase

if TYPE_CHECKING:
    from reverie.memory.search.database import Database, DocumentRow
    from reverie.memory.search.features import WeighedQuery

_CANDIDATES = 40
_IN_A_ROW = 15
"""How many of the candidates may come by having the words side by side, the newest of them."""
_NEVER = (0, 0)
_MOST = 400
"""How many candidates even a very long list of hits is chosen from."""
_COPIES = 3
"""How many times more passages are asked for than wanted: sessions that were forked hold the same ones again."""
_POSTINGS_READ = 12_000
"""How many passages one question may weigh; beyond, the newest are taken as they come."""


class PassageIndex(SearchIndex):
    """The engine over passages of transcripts instead of documents of its own."""

    def __init__(self, database: PassageDatabase, only: Filter, limit: int) -> None:
        # Searching asks of its database only what `PassageDatabase` answers in the same shapes.
        self._database = cast("Database", database)
        self._embedder = None
        self._passages = database
        self._only = only
        self._most = min(_MOST, max(_CANDIDATES, 2 * limit))
        self.in_a_row: frozenset[str] = frozenset()
        """The keys of the passages that have all words of the last query side by side."""

    def _candidates(self, weighed: WeighedQuery) -> list[int]:
        frequencies = self._passages.frequencies(weighed.stands_for)
        groups: dict[str, list[str]] = {}
        for look, (meant, _) in weighed.stands_for.items():
            if frequencies[look][0]:
                groups.setdefault(meant, []).append(look)
        telling = sorted(groups, key=lambda term: (-weighed.weights[term], term))
        sizes = [sum(frequencies[look][0] for look in groups[term]) for term in telling]
        words = [f"({_any(groups[term])})" for term in telling]
        asked = weighed.text.terms
        ids: list[int] = []
        if len(asked) > 1 and all(frequencies.get(term, _NEVER)[0] for term in asked):
            ids = self._passages.newest(f'"{" ".join(asked)}"', _IN_A_ROW, self._only)
        self.in_a_row = frozenset(map(str, ids))
        for question, postings in _questions(words, sizes):
            ask = self._passages.best if postings <= _POSTINGS_READ else self._passages.newest
            ids = self._passages.distinct([*ids, *ask(question, _COPIES * self._most, self._only)])
            if len(ids) >= self._most:
                break
        return ids[: self._most]

    def _with_neighbours(self, rows: list[DocumentRow]) -> list[DocumentRow]:
        """Add the passages just before and after the candidates: they explain them, and may be meant themselves."""
        taken = {(row.group, row.position) for row in rows}
        beside = {(row.group, row.position + step) for row in rows for step in (-1, 1) if row.group is not None}
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
