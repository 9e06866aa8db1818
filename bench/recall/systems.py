"""The rankings that are compared: ours, and the plain ways that anyone would try first."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recall.data import NOW
from reverie.memory.search.document import Query, SearchDocument
from reverie.memory.search.engine import SearchIndex, embedding_text

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

Ranking = Callable[[str], list[str]]
"""A question → keys, best first."""
System = Callable[[Sequence[SearchDocument], Path], Ranking]
"""Documents and a folder to work in → a ranking over them."""

_WORD = re.compile(r"\w+")
_RRF = 60
"""The usual constant of reciprocal rank fusion."""


def ours(embedder: Embeds | None = None, *, abstains: bool = False, limit: int = 5) -> System:
    """Reverie's own engine."""

    def build(documents: Sequence[SearchDocument], folder: Path) -> Ranking:
        index = SearchIndex(folder / "index.sqlite", embedder)
        index.update(documents)
        if embedder is not None:
            index.add_vectors(documents, embedder)

        def rank(question: str) -> list[str]:
            return [hit.key for hit in index.search(Query(question, NOW, limit=limit, abstains=abstains))]

        return rank

    return build


def fts5(documents: Sequence[SearchDocument], _: Path) -> Ranking:
    """SQLite's FTS5 with Porter stemming and its own BM25; any word may match."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    database.executemany("INSERT INTO texts VALUES (?)", [(plain_text(document),) for document in documents])

    def rank(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        rows = database.execute("SELECT rowid FROM texts(?) ORDER BY rank, rowid LIMIT 100", (match,))
        return [documents[number - 1].key for (number,) in rows]

    return rank


def grep(documents: Sequence[SearchDocument], _: Path) -> Ranking:
    """Counting the question's words, as one does with grep: more different words first, then more occurrences."""
    texts = [plain_text(document).lower() for document in documents]

    def rank(question: str) -> list[str]:
        words = {word for word in _WORD.findall(question.lower()) if len(word) > 2}
        counts = [[text.count(word) for word in words] for text in texts]
        order = sorted(range(len(texts)), key=lambda at: (-sum(map(bool, counts[at])), -sum(counts[at]), at))
        return [documents[at].key for at in order]

    return rank


def vectors(embedder: Embeds) -> System:
    """MiniLM alone: the best window of a text counts."""

    def build(documents: Sequence[SearchDocument], _: Path) -> Ranking:
        windows = [(document.key, text) for document in documents for text in embedder.windows(plain_text(document))]
        matrix = embedder.embed([text for _, text in windows])

        def rank(question: str) -> list[str]:
            likeness = (matrix @ embedder.embed([question])[0]).tolist()
            order = sorted(range(len(windows)), key=lambda at: -likeness[at])
            return list(dict.fromkeys(windows[at][0] for at in order))

        return rank

    return build


def fused(first: System, second: System) -> System:
    """Reciprocal rank fusion of two rankings."""

    def build(documents: Sequence[SearchDocument], folder: Path) -> Ranking:
        rankings = (first(documents, folder), second(documents, folder))

        def rank(question: str) -> list[str]:
            scores: dict[str, float] = {}
            for ranking in rankings:
                for place, key in enumerate(ranking(question)):
                    scores[key] = scores.get(key, 0.0) + 1 / (_RRF + place)
            return sorted(scores, key=lambda key: (-scores[key], key))

        return rank

    return build


def plain_text(document: SearchDocument) -> str:
    """A document as one text, with its speaker in front."""
    return embedding_text(document)
