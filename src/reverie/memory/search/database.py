"""The search tables of the index: the incremental update, and the reads that ranking needs.

The file, its schema and its recovery are `index_file.py`'s. After a recovery `read_known()` is empty, which tells the
caller to index everything again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from reverie.memory.index_file import FIELDS, IndexFile
from reverie.memory.search.analyze import Analysed, analyse, terms
from reverie.memory.search.document import Known, SearchDocument
from reverie.values import value

FIELD_WEIGHTS = (2.5, 2.0, 1.0, 1.5, 2.0, 2.0, 1.0)
"""How much one occurrence counts: a word in the name says more about a file than a word in its text."""
LINE_FIELDS = ("title", "summary", "anchors", "situation", "asks")
"""The fields of the first lines of a document's text; the body's passages follow, a line each."""
_MOST_VALUES = 500
_SHORTEST_CORRECTED = 4
"""Shorter words have too many neighbours to guess what was meant."""

# Only names that stand in this file are put into statements; values are always bound.
# ruff: noqa: S608
_COLUMNS = ", ".join(
    f"d.{name}"
    for name in (
        "id",
        "key",
        "grp",
        "pos",
        "kind",
        "observed",
        "uses",
        "length",
        "asking",
        "personal",
        "has_time",
        "about",
        "text",
    )
)


_BODY = FIELDS.index("body")
_INSERT_DOCUMENT = (
    "INSERT INTO documents(key, grp, pos, kind, observed, mtime_ns, size, digest, uses, length, passages, asking,"
    f" personal, has_time, about, text) VALUES ({', '.join('?' * 16)})"
)
_INSERT_POSTINGS = f"INSERT INTO postings(rowid, {', '.join(FIELDS)}) VALUES ({', '.join('?' * (1 + len(FIELDS)))})"
_DELETE_POSTINGS = _INSERT_POSTINGS.replace("(rowid", "(postings, rowid").replace("(?", "('delete', ?", 1)


class DocumentRow(NamedTuple):
    """A document as ranking reads it; a tuple, since a query makes a hundred of them."""

    id: int
    key: str
    group: str | None
    position: int
    type: str | None
    observed: int | None
    """Day number, as `date.toordinal`."""
    uses: int
    length: int
    asking: float
    personal: float
    has_time: int
    about: str
    text: str
    """Its terms as `join_terms` writes them."""


@value
class IndexTotals:
    """The size of the whole index."""

    documents: int
    length: int
    passages: int


class Database:
    """The search tables of an open index file."""

    def __init__(self, file: IndexFile) -> None:
        self.file = file
        self._connection = file.connection
        self._frequencies: dict[str, tuple[int, int]] = {}
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

    def read_known(self) -> dict[str, Known]:
        """Every document's key with what tells whether its file changed."""
        rows = self._connection.execute("SELECT key, mtime_ns, size, digest FROM documents")
        return {key: Known(mtime_ns, size, digest) for key, mtime_ns, size, digest in rows}

    def update(self, changed: Iterable[SearchDocument], removed: Iterable[str]) -> None:
        """Put the changed documents in place of their old state and drop the removed ones, in one transaction."""
        with self._changing():
            for key in removed:
                self._drop(key)
            words: set[str] = set()
            documents = length = passages = 0
            for document in changed:
                self._drop(document.key)
                texts = self._insert(document)
                documents += 1
                length += _count(texts)
                passages += texts[_BODY].count("\n") + 1
                for text in texts:
                    words.update(text.split())
            self._count(documents, length, passages)
            new = [(word,) for word in words if len(word) >= _SHORTEST_CORRECTED and word.isalpha()]
            self._connection.executemany("INSERT OR IGNORE INTO words(word) VALUES (?)", sorted(new))

    def totals(self) -> IndexTotals:
        return IndexTotals(*self._connection.execute("SELECT documents, length, passages FROM totals").fetchone())

    def frequencies(self, query_terms: Iterable[str]) -> dict[str, tuple[int, int]]:
        """Term → (documents that have it, how often it occurs); counted once per state of the index."""
        version = self.version()
        if version != self._frequencies_of:
            self._frequencies.clear()
            self._frequencies_of = version
        missing = [term for term in query_terms if term not in self._frequencies]
        self._frequencies.update(dict.fromkeys(missing, (0, 0)))
        for part in _parts(missing):
            sql = f"SELECT term, doc, cnt FROM vocabulary WHERE term IN ({_marks(part)})"
            self._frequencies.update({term: (doc, cnt) for term, doc, cnt in self._connection.execute(sql, part)})
        return {term: self._frequencies[term] for term in query_terms}

    def subjects(self, query_terms: Sequence[str]) -> frozenset[str]:
        """Those of these terms that some document names as what it is about."""
        subjects: set[str] = set()
        for part in _parts(query_terms):
            sql = f"SELECT term FROM subjects WHERE documents > 0 AND term IN ({_marks(part)})"
            subjects.update(term for (term,) in self._connection.execute(sql, part))
        return frozenset(subjects)

    def best(self, query_terms: Sequence[str], limit: int, *, share: float = 1.0) -> list[int]:
        """The ids of the documents that BM25 puts first for any of these terms; below 1, among that newest share."""
        question = " OR ".join(f'"{term}"' for term in query_terms)
        weights = ", ".join(map(str, FIELD_WEIGHTS))
        last = self._connection.execute("SELECT max(id) FROM documents").fetchone()[0] or 0
        sql = f"SELECT rowid FROM postings(?) WHERE rowid > ? ORDER BY bm25(postings, {weights}), rowid LIMIT ?"
        rows = self._connection.execute(sql, (question, int(last * (1.0 - share)), limit))
        return [number for (number,) in rows]

    def rows(self, ids: Sequence[int]) -> list[DocumentRow]:
        """The documents with these ids."""
        sql = f"SELECT {_COLUMNS} FROM documents d WHERE d.id IN ({_marks(ids)})"
        return list(map(DocumentRow._make, self._connection.execute(sql, list(ids))))

    def neighbours(self, group: str, first: int, last: int) -> list[DocumentRow]:
        """The documents of a group from one position to another."""
        sql = f"SELECT {_COLUMNS} FROM documents d WHERE d.grp = ? AND d.pos BETWEEN ? AND ?"
        return list(map(DocumentRow._make, self._connection.execute(sql, (group, first, last))))

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

    def write_vectors(
        self, vectors: Mapping[str, Sequence[tuple[int, bytes]]], sentences: Mapping[str, tuple[bytes, bytes]]
    ) -> None:
        """Store the vectors of documents: key → (part, bytes), and key → what `pack_sentences` made of it."""
        with self._changing():
            for key, parts in vectors.items():
                row = self._connection.execute("SELECT id FROM documents WHERE key = ?", (key,)).fetchone()
                if row is None:
                    continue
                self._connection.execute("DELETE FROM vectors WHERE document = ?", row)
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", [(row[0], part, data) for part, data in parts]
                )
                self._connection.execute("DELETE FROM sentences WHERE document = ?", row)
                if key in sentences:
                    self._connection.execute("INSERT INTO sentences VALUES (?, ?, ?)", (row[0], *sentences[key]))

    def vectors(self) -> Iterator[tuple[int, int, bytes]]:
        """Every vector: document id, part, bytes."""
        yield from self._connection.execute("SELECT document, part, vector FROM vectors")

    def sentences(self, ids: Sequence[int]) -> list[tuple[int, bytes, bytes]]:
        """What `pack_sentences` made of the sentences of these documents, for those that have several."""
        sql = f"SELECT document, vectors, lengths FROM sentences WHERE document IN ({_marks(ids)}) ORDER BY document"
        return self._connection.execute(sql, list(ids)).fetchall()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self.file.writing():
            yield
            self._connection.execute("UPDATE totals SET changes = changes + 1")

    def _drop(self, key: str) -> None:
        row = self._connection.execute(
            "SELECT id, length, passages, about, text FROM documents WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return
        self._connection.execute(_DELETE_POSTINGS, (row[0], *_columns(row[4], row[3])))
        self._connection.execute("DELETE FROM documents WHERE id = ?", (row[0],))
        self._connection.execute("DELETE FROM vectors WHERE document = ?", (row[0],))
        self._connection.execute("DELETE FROM sentences WHERE document = ?", (row[0],))
        self._count(-1, -row[1], -row[2])
        self._count_subjects(row[3], -1)

    def _count_subjects(self, about: str, change: int) -> None:
        if about:
            self._connection.executemany(
                "INSERT INTO subjects VALUES (?, ?) ON CONFLICT(term) DO UPDATE SET documents = documents + ?",
                [(term, change, change) for term in sorted(set(about.split()))],
            )

    def _count(self, documents: int, length: int, passages: int) -> None:
        self._connection.execute(
            "UPDATE totals SET documents = documents + ?, length = length + ?, passages = passages + ?",
            (documents, length, passages),
        )

    def _insert(self, document: SearchDocument) -> tuple[str, ...]:
        read = analyse(document.body)
        texts = _fields(document, read)
        cursor = self._connection.execute(
            _INSERT_DOCUMENT,
            (
                document.key,
                document.group,
                document.position,
                document.type,
                document.observed.toordinal() if document.observed else None,
                document.mtime_ns,
                document.size,
                digest_of(document),
                document.uses,
                _count(texts),
                read.passages.count("\n") + 1,
                read.asking,
                read.personal,
                read.has_time,
                texts[-1],
                join_terms(*texts[:-1]),
            ),
        )
        self._connection.execute(_INSERT_POSTINGS, (cursor.lastrowid, *texts))
        self._count_subjects(texts[-1], 1)
        return texts


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A pasted text has more words than a statement may have values."""
    for start in range(0, len(values), _MOST_VALUES):
        yield values[start : start + _MOST_VALUES]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def digest_of(document: SearchDocument) -> bytes:
    """A short hash of everything that a query can find in a document."""
    from hashlib import blake2b

    texts = (document.name, document.description, document.body, document.when)
    parts = (*texts, *document.anchors, "", *document.about, "", *document.asks)
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _count(texts: Iterable[str]) -> int:
    return sum(text.count(" ") + text.count("\n") + 1 for text in texts if text)


def _fields(document: SearchDocument, read: Analysed) -> tuple[str, ...]:
    lines = (
        document.name,
        document.description,
        None,
        *map("\n".join, (document.anchors, (document.when,), document.asks, document.about)),
    )
    return tuple(read.passages if line is None else " ".join(terms(line)) for line in lines)


def join_terms(title: str, summary: str, body: str, anchors: str, situation: str, asks: str) -> str:
    """The terms of a document in one text: a line for each of `LINE_FIELDS`, then the passages of its body.

    Each term stands between spaces, so that it is found whole by looking for it with them.
    """
    return f" {title} \n {summary} \n {anchors} \n {situation} \n {asks} \n {body.replace(_LINE_END, _JOINED_END)} "


def _columns(text: str, about: str) -> tuple[str, ...]:
    """The fields of a document again, from what `join_terms` made of them."""
    title, summary, anchors, situation, asks, body = text.split("\n", len(LINE_FIELDS))
    return title, summary, body, anchors, situation, asks, about


_LINE_END, _JOINED_END = "\n", " \n "
