"""The search tables of the index: the incremental update, and the reads that ranking needs.

The file, its schema and its recovery are `index_file.py`'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from reverie.memory.index_file import FIELDS, IndexFile
from reverie.memory.search.analyze import cut_passages, terms
from reverie.memory.search.document import SearchDocument
from reverie.memory.search.query import IndexTotals
from reverie.memory.search.spelling import SHORTEST_CORRECTED
from reverie.memory.search.topic_table import when_to_row

FIELD_WEIGHTS = {
    "title": 2.5, "summary": 2.0, "anchors": 1.5, "about": 1.5, "situation": 2.0, "asks": 2.0, "body": 1.0,
}  # fmt: skip
"""How much one occurrence counts: a word in the name says more about a file than a word in its text."""
LINE_FIELDS = FIELDS[:5]
"""The fields of the first lines of a document's text; a line for each of its asks follows, then the body's passages."""
_MOST_VALUES = 500

# Only names that stand in this file are put into statements; values are always bound.
# ruff: noqa: S608
_COLUMNS = "id, key, kind, is_verbatim, observed, situation, asks, length, text"
_INSERT_DOCUMENT = (
    "INSERT INTO documents(key, kind, is_verbatim, observed, situation, asks, length, passages, text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_POSTINGS = f"INSERT INTO postings(rowid, {', '.join(FIELDS)}) VALUES ({', '.join('?' * (1 + len(FIELDS)))})"
_DELETE_POSTINGS = _INSERT_POSTINGS.replace("(rowid", "(postings, rowid").replace("(?", "('delete', ?", 1)


class DocumentRow(NamedTuple):
    """A document as ranking reads it; a tuple, since a query makes a hundred of them."""

    id: int
    key: str
    type: str | None
    is_verbatim: int
    observed: int | None
    """Day number, as `date.toordinal`."""
    situation: str | None
    """As `when_to_row` writes it, in JSON."""
    asks: int
    """How many lines of the text are asks."""
    length: int
    """How many terms it has, without situations and asks."""
    text: str
    """Its terms as `join_terms` writes them."""


class Database:
    """The search tables of an open index file."""

    def __init__(self, file: IndexFile) -> None:
        self.file = file
        self._connection = file.connection
        self._frequencies: dict[str, int] = {}
        self._frequencies_of = -1

    def version(self) -> int:
        """A number that changes whenever any process changed what a query can find."""
        changes: int = self._connection.execute("SELECT changes FROM totals").fetchone()[0]
        return changes

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let all reads inside see one state of the index, under one lock."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def update(self, changed: Iterable[SearchDocument], removed: Iterable[str]) -> None:
        """Put the changed documents in place of their old state and drop the removed ones, in one transaction."""
        with self._changing():
            for key in removed:
                self._drop(key)
            words: set[str] = set()
            for document in changed:
                self._drop(document.key)
                words.update(self._insert(document).split())
            new = [(word,) for word in words if len(word) >= SHORTEST_CORRECTED and word.isalpha()]
            self._connection.executemany("INSERT OR IGNORE INTO words(word) VALUES (?)", sorted(new))

    def totals(self) -> IndexTotals:
        return IndexTotals(*self._connection.execute("SELECT documents, length, passages FROM totals").fetchone())

    def frequencies(self, query_terms: Iterable[str]) -> dict[str, int]:
        """Term → how many documents have it; counted once per state of the index."""
        version = self.version()
        if version != self._frequencies_of:
            self._frequencies.clear()
            self._frequencies_of = version
        missing = [term for term in query_terms if term not in self._frequencies]
        self._frequencies.update(dict.fromkeys(missing, 0))
        for part in _parts(missing):
            sql = f"SELECT term, doc FROM vocabulary WHERE term IN ({_marks(part)})"
            self._frequencies.update(self._connection.execute(sql, part).fetchall())
        return {term: self._frequencies[term] for term in query_terms}

    def best(self, query_terms: Sequence[str], limit: int, *, share: float = 1.0) -> list[int]:
        """The ids of the documents that BM25 puts first for any of these terms; below 1, among that newest share."""
        question = " OR ".join(f'"{term}"' for term in query_terms)
        weights = ", ".join(str(FIELD_WEIGHTS[name]) for name in FIELDS)
        last = self._connection.execute("SELECT max(id) FROM documents").fetchone()[0] or 0
        sql = f"SELECT rowid FROM postings(?) WHERE rowid > ? ORDER BY bm25(postings, {weights}), rowid LIMIT ?"
        rows = self._connection.execute(sql, (question, int(last * (1.0 - share)), limit))
        return [number for (number,) in rows]

    def rows(self, ids: Sequence[int]) -> list[DocumentRow]:
        """The documents with these ids."""
        sql = f"SELECT {_COLUMNS} FROM documents WHERE id IN ({_marks(ids)})"
        return list(map(DocumentRow._make, self._connection.execute(sql, list(ids))))

    def globs(self) -> list[str]:
        """Every glob over files by which some document says when it holds."""
        return [
            glob for (glob,) in self._connection.execute("SELECT DISTINCT name FROM situations WHERE kind = 'file'")
        ]

    def holding(self, kind: str, name: str, limit: int) -> list[int]:
        """The ids of the documents that hold for a `file` glob, a `tool` or a `task`, the latest first."""
        sql = "SELECT document FROM situations WHERE kind = ? AND name = ? ORDER BY age, document LIMIT ?"
        return [number for (number,) in self._connection.execute(sql, (kind, name, limit))]

    def find_similar_spellings(self, term: str, limit: int = 200) -> list[str]:
        """Words of the index that hold a longer part of an unknown one: one wrong letter leaves a half intact."""
        half = max(3, len(term) // 2)
        middle = (len(term) - half) // 2
        parts = {term[:half], term[-half:], term[middle : middle + half]}
        question = " OR ".join(f'"{part}"' for part in sorted(parts))
        rows = self._connection.execute("SELECT word FROM spellings(?) LIMIT ?", (question, limit))
        return [word for (word,) in rows]

    def without_vectors(self) -> list[str]:
        """The keys of the documents that have no vectors yet."""
        sql = "SELECT key FROM documents WHERE id NOT IN (SELECT document FROM vectors) ORDER BY id"
        return [key for (key,) in self._connection.execute(sql)]

    def write_vectors(self, vectors: Mapping[str, tuple[Mapping[int, bytes], bytes]]) -> None:
        """Store the vectors of documents: key → (part → its vector, the vectors of all sentences end to end)."""
        with self._changing():
            for key, (parts, sentences) in vectors.items():
                row = self._connection.execute("SELECT id FROM documents WHERE key = ?", (key,)).fetchone()
                if row is None:
                    continue
                self._connection.execute("DELETE FROM vectors WHERE document = ?", row)
                self._connection.executemany(
                    "INSERT INTO vectors VALUES (?, ?, ?)", [(row[0], part, data) for part, data in parts.items()]
                )
                self._connection.execute("INSERT OR REPLACE INTO sentences VALUES (?, ?)", (row[0], sentences))

    def vectors(self) -> Iterator[tuple[int, int, bytes]]:
        """Every vector: document id, part, bytes."""
        yield from self._connection.execute("SELECT document, part, vector FROM vectors")

    def sentences(self, ids: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of the sentences of these documents, end to end."""
        sql = f"SELECT document, vectors FROM sentences WHERE document IN ({_marks(ids)}) ORDER BY document"
        return self._connection.execute(sql, list(ids)).fetchall()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self.file.writing():
            yield
            self._connection.execute("UPDATE totals SET changes = changes + 1")

    def _drop(self, key: str) -> None:
        sql = "SELECT id, length, passages, asks, text FROM documents WHERE key = ?"
        row = self._connection.execute(sql, (key,)).fetchone()
        if row is None:
            return
        number, length, passages, asks, text = row
        self._connection.execute(_DELETE_POSTINGS, (number, *_split_terms(text, asks)))
        self._connection.execute("DELETE FROM documents WHERE id = ?", (number,))
        self._connection.execute("DELETE FROM situations WHERE document = ?", (number,))
        self._connection.execute("DELETE FROM vectors WHERE document = ?", (number,))
        self._connection.execute("DELETE FROM sentences WHERE document = ?", (number,))
        self._count(-1, -length, -passages)

    def _insert(self, document: SearchDocument) -> str:
        """Index a document; return its terms."""
        ask_lines = tuple(" ".join(terms(ask)) for ask in document.asks)
        about = "\n".join(document.about)
        lines = (document.name, document.description, "\n".join(document.anchors), about, document.situation)
        fields = [" ".join(terms(line)) for line in lines]
        body = cut_passages(document.body)
        text = join_terms(fields, ask_lines, body)
        length = sum(map(_count_terms, (*fields[:4], body)))
        passages = body.count("\n") + 1
        cursor = self._connection.execute(
            _INSERT_DOCUMENT,
            (
                document.key,
                document.type,
                document.is_verbatim,
                document.observed.toordinal() if document.observed else None,
                json.dumps(when_to_row(document.when), ensure_ascii=False) if document.when else None,
                len(ask_lines),
                length,
                passages,
                text,
            ),
        )
        self._connection.execute(_INSERT_POSTINGS, (cursor.lastrowid, *fields, "\n".join(ask_lines), body))
        self._insert_situations(cursor.lastrowid, document)
        self._count(1, length, passages)
        return text

    def _insert_situations(self, number: int | None, document: SearchDocument) -> None:
        """What calls a document up; words of a request are found as other words are."""
        if document.when is None:
            return
        age = -document.observed.toordinal() if document.observed else 0
        names = {
            "file": document.when.files,
            "tool": map(str.casefold, document.when.tools),
            "task": document.when.tasks,
        }
        rows = {(kind, name, age, number) for kind, own in names.items() for name in own}
        self._connection.executemany("INSERT INTO situations VALUES (?, ?, ?, ?)", sorted(rows))

    def _count(self, documents: int, length: int, passages: int) -> None:
        self._connection.execute(
            "UPDATE totals SET documents = documents + ?, length = length + ?, passages = passages + ?",
            (documents, length, passages),
        )


def join_terms(fields: Sequence[str], asks: Sequence[str], body: str) -> str:
    """The terms of a document in one text: a line for each of `LINE_FIELDS`, for each ask, and for each passage.

    Each term stands between spaces, so that it is found whole by looking for it with them.
    """
    lines = "\n".join((*fields, *asks, body))
    return f" {lines.replace(_LINE_END, _JOINED_END)} "


def _split_terms(text: str, asks: int) -> tuple[str, ...]:
    """The fields of a document again, from what `join_terms` made of them."""
    lines = text[1:-1].split(_JOINED_END)
    before_body = len(LINE_FIELDS) + asks
    return (
        *lines[: len(LINE_FIELDS)],
        "\n".join(lines[len(LINE_FIELDS) : before_body]),
        "\n".join(lines[before_body:]),
    )


_LINE_END, _JOINED_END = "\n", " \n "


def _count_terms(text: str) -> int:
    return text.count(" ") + text.count("\n") + 1 if text else 0


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A pasted text has more words than a statement may have values."""
    for start in range(0, len(values), _MOST_VALUES):
        yield values[start : start + _MOST_VALUES]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
