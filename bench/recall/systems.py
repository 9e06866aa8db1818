"""The plain ways to search that anyone would try first, to compare with."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

Ranking = Callable[[str], list[str]]
"""A question → keys, best first."""
System = Callable[[Mapping[str, str]], Ranking]
"""Texts by their keys → a ranking over them."""

_WORD = re.compile(r"\w+")
_RRF = 60
"""The usual constant of reciprocal rank fusion."""


def fts5(texts: Mapping[str, str]) -> Ranking:
    """SQLite's FTS5 with Porter stemming and its own BM25; any word may match."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    database.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts.values()])
    keys = list(texts)

    def rank(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        rows = database.execute("SELECT rowid FROM texts(?) ORDER BY rank, rowid LIMIT 100", (match,))
        return [keys[number - 1] for (number,) in rows]

    return rank


def grep(texts: Mapping[str, str]) -> Ranking:
    """Counting the question's words, as one does with grep: more different words first, then more occurrences."""
    lowered = {key: text.lower() for key, text in texts.items()}

    def rank(question: str) -> list[str]:
        words = {word for word in _WORD.findall(question.lower()) if len(word) > 2}
        counts = {key: [text.count(word) for word in words] for key, text in lowered.items()}
        return sorted(counts, key=lambda key: (-sum(map(bool, counts[key])), -sum(counts[key]), key))

    return rank


def vectors(embedder: Embeds) -> System:
    """MiniLM alone: the best window of a text counts."""

    def build(texts: Mapping[str, str]) -> Ranking:
        windows = [(key, window) for key, text in texts.items() for window in embedder.windows(text)]
        matrix = embedder.embed([window for _, window in windows])

        def rank(question: str) -> list[str]:
            likeness = (matrix @ embedder.embed([question])[0]).tolist()
            order = sorted(range(len(windows)), key=lambda at: -likeness[at])
            return list(dict.fromkeys(windows[at][0] for at in order))

        return rank

    return build


def fused(first: System, second: System) -> System:
    """Reciprocal rank fusion of two rankings."""

    def build(texts: Mapping[str, str]) -> Ranking:
        rankings = (first(texts), second(texts))

        def rank(question: str) -> list[str]:
            scores: dict[str, float] = {}
            for ranking in rankings:
                for place, key in enumerate(ranking(question)):
                    scores[key] = scores.get(key, 0.0) + 1 / (_RRF + place)
            return sorted(scores, key=lambda key: (-scores[key], key))

        return rank

    return build
