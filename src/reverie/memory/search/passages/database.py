"""The index file of a project's transcripts: SQLite with FTS5, derived and safe to delete at any time.

Owns the schema, the writes of `update` and the reads that ranking asks for. Of each passage it holds
where it lies and its terms, which ranking needs and without which it could not be taken out again; never its text.
Several processes may use it at once.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import NamedTuple

from reverie.memory.search.passages.cut import ROLES
from reverie.memory.search.passages.rank import PassageRow
from reverie.memory.search.query import IndexTotals
from reverie.values import value

_VERSION = 2
_BUSY_SECONDS = 60.0
"""Another process may be writing a batch of a few megabytes on a busy machine."""
_ATTEMPTS, _PAUSE_SECONDS = 20, 0.1
"""How often and how patiently a file is tried again that another process may be making."""
_PENDING_BYTES = 16_000_000
"""How much FTS5 gathers before it writes a segment: fewer segments, less merging."""
_SECONDS_PER_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_SPELLED = 4_000
_FREQUENCIES_KEPT = 10_000

_SCHEMA = (
    (
        "CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, session TEXT NOT NULL,"
        " inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,"
        " read_to INTEGER NOT NULL, ends BLOB NOT NULL, passages INTEGER NOT NULL)"
    ),
    (
        "CREATE TABLE passages(id INTEGER PRIMARY KEY, file INTEGER NOT NULL, pos INTEGER NOT NULL,"
        " start INTEGER NOT NULL, bytes INTEGER NOT NULL, part INTEGER NOT NULL, role INTEGER NOT NULL, said INTEGER,"
        " length INTEGER NOT NULL, lines INTEGER NOT NULL, asking REAL NOT NULL, digest INTEGER NOT NULL,"
        " terms BLOB NOT NULL)"
    ),
    "CREATE INDEX by_place ON passages(file, pos)",
    "CREATE VIRTUAL TABLE postings USING fts5(terms, content='', tokenize='ascii')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab('postings', 'row')",
    "CREATE TABLE totals(documents INTEGER NOT NULL, length INTEGER NOT NULL, passages INTEGER NOT NULL)",
    "INSERT INTO totals VALUES (0, 0, 0)",
    f"INSERT INTO postings(postings, rank) VALUES ('hashsize', {_PENDING_BYTES})",
    f"PRAGMA user_version = {_VERSION}",
)
_ROW = "id, file, pos, said, length, asking, terms"


@value
class FileState:
    """A transcript as it was when it was last read."""

    path: str
    session: str
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    read_to: int = 0
    """Up to which byte its records are indexed."""
    ends: bytes = b""
    """A digest of its first bytes and of the last ones before `read_to`: what lies between was only appended to."""
    passages: int = 0


class NewPassage(NamedTuple):
    """A passage on its way into the index; a tuple, since there are hundreds of thousands."""

    start: int
    """Where its record begins in the file; in a session of another agent, the number of its entry."""
    bytes: int
    """The length of its record; 0 in a session of another agent."""
    part: int
    role: str
    said: int | None
    """Seconds since 1970."""
    terms: str
    asking: float


class PassagePlace(NamedTuple):
    """Where a passage lies."""

    id: int
    path: str
    session: str
    start: int
    bytes: int
    part: int
    role: str
    said: int | None
    file: int
    position: int


@value
class Filter:
    """Which passages are asked for; empty asks for all."""

    session: str | None = None
    """The beginning of a session's id."""
    since: int | None = None
    """Seconds since 1970."""
    roles: tuple[str, ...] = ()

    def sql(self) -> tuple[str, list[object]]:
        """A condition on `passages p`, with its values; empty when all are asked for."""
        conditions: list[str] = []
        values: list[object] = []
        if self.session is not None:
            conditions.append("p.file IN (SELECT id FROM files WHERE substr(session, 1, ?) = ?)")
            values += [len(self.session), self.session]
        if self.since is not None:
            conditions.append("p.said >= ?")
            values.append(self.since)
        if self.roles:
            conditions.append(f"p.role IN ({','.join('?' * len(self.roles))})")
            values += [ROLES.index(role) for role in self.roles]
        return " AND ".join(conditions), values


class PassageDatabase:
    """One open index file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = self._open_or_replace()
        self._frequencies: dict[str, int] = {}
        self._frequencies_of = -1

    def _open_or_replace(self) -> sqlite3.Connection:
        """Open the file; a damaged one is replaced, one that another process is just making is waited for."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._connect()
            except sqlite3.OperationalError:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_PAUSE_SECONDS)
            except sqlite3.DatabaseError:
                self.remove()
        return self._connect()

    def close(self) -> None:
        self._connection.close()

    def remove(self) -> None:
        """Delete the file."""
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self._path}{ending}").unlink()

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: other processes see all of it or nothing, and write before or after it."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def files(self) -> dict[str, FileState]:
        """Every transcript that the index knows."""
        return {row[0]: FileState(*row) for row in self._connection.execute(f"SELECT {_STATE} FROM files")}

    def file(self, path: str) -> FileState | None:
        """One transcript as the index knows it now."""
        row = self._connection.execute(f"SELECT {_STATE} FROM files WHERE path = ?", (path,)).fetchone()
        return FileState(*row) if row else None

    def add(self, state: FileState, passages: Sequence[NewPassage]) -> None:
        """Add passages to the end of a file's, which is then as `state` says; only inside `writing`."""
        execute = self._connection.execute
        execute(
            f"INSERT INTO files({_STATE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(path) DO UPDATE SET"
            " inode = excluded.inode, size = excluded.size, mtime_ns = excluded.mtime_ns,"
            " ctime_ns = excluded.ctime_ns, read_to = excluded.read_to, ends = excluded.ends",
            (
                *(state.path, state.session, state.inode, state.size, state.mtime_ns, state.ctime_ns),
                *(state.read_to, state.ends, 0),
            ),
        )
        file, position = execute("SELECT id, passages FROM files WHERE path = ?", (state.path,)).fetchone()
        first = execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0]
        lengths = [each.terms.count(" ") + each.terms.count("\n") + 1 for each in passages]
        lines = [each.terms.count("\n") + 1 for each in passages]
        self._connection.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(first + number, file, position + number, each.start, each.bytes, each.part),
                    *(ROLES.index(each.role), each.said, lengths[number], lines[number], each.asking),
                    *_pack_terms(each.terms),
                )
                for number, each in enumerate(passages)
            ),
        )
        self._connection.executemany(
            "INSERT INTO postings(rowid, terms) VALUES (?, ?)",
            ((first + number, each.terms) for number, each in enumerate(passages)),
        )
        execute("UPDATE files SET passages = passages + ? WHERE id = ?", (len(passages), file))
        self._count(len(passages), sum(lengths), sum(lines))

    def drop(self, path: str) -> None:
        """Take a transcript and all its terms out; only inside `writing`."""
        execute = self._connection.execute
        file_row = execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if file_row is None:
            return
        rows = execute("SELECT id, length, lines, terms FROM passages WHERE file = ?", file_row).fetchall()
        self._connection.executemany(
            "INSERT INTO postings(postings, rowid, terms) VALUES ('delete', ?, ?)",
            ((row[0], zlib.decompress(row[3]).decode("utf-8")) for row in rows),
        )
        execute("DELETE FROM passages WHERE file = ?", file_row)
        execute("DELETE FROM files WHERE id = ?", file_row)
        self._count(-len(rows), -sum(row[1] for row in rows), -sum(row[2] for row in rows))

    def clear(self) -> None:
        """Take everything out."""
        with self.writing():
            self._connection.execute("INSERT INTO postings(postings) VALUES ('delete-all')")
            for table in ("passages", "files"):
                self._connection.execute(f"DELETE FROM {table}")
            self._connection.execute("UPDATE totals SET documents = 0, length = 0, passages = 0")

    def purge(self) -> None:
        """Let what was dropped leave the file itself: FTS5 only marks it, and the log of writes keeps it a while."""
        self._connection.execute("INSERT INTO postings(postings) VALUES ('optimize')")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # What ranking asks

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let all reads inside see one state of the index."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def version(self) -> int:
        """A number that changes whenever any process changed the index."""
        changed_by_others: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return changed_by_others * 1_000_003 + self._connection.total_changes

    def sessions(self) -> int:
        """How many sessions the index knows."""
        count: int = self._connection.execute("SELECT count(DISTINCT session) FROM files").fetchone()[0]
        return count

    def totals(self) -> IndexTotals:
        return IndexTotals(*self._connection.execute("SELECT documents, length, passages FROM totals").fetchone())

    def frequencies(self, query_terms: Iterable[str]) -> dict[str, int]:
        """Term → how many passages have it; counted once per state of the index."""
        version = self.version()
        if version != self._frequencies_of or len(self._frequencies) > _FREQUENCIES_KEPT:
            self._frequencies.clear()
            self._frequencies_of = version
        for term in query_terms:
            if term not in self._frequencies:
                row = self._connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
                self._frequencies[term] = row[0] if row else 0
        return {term: self._frequencies[term] for term in query_terms}

    def find_similar_spellings(self, term: str) -> list[str]:
        """Terms of the index that begin like an unknown one and are about as long."""
        begin = term[:3]
        rows = self._connection.execute(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?",
            (begin, begin[:-1] + chr(ord(begin[-1]) + 1), _SPELLED),
        )
        return [word for (word,) in rows if abs(len(word) - len(term)) <= 2 and word.isalpha()]

    def best(self, question: str, limit: int, only: Filter) -> list[int]:
        """The ids of the passages that BM25 puts first for a question in FTS5's language."""
        return self._matching(question, "bm25(postings), rowid DESC", limit, only)

    def newest(self, question: str, limit: int, only: Filter) -> list[int]:
        """The ids of the passages that came last among those that match, without weighing them."""
        return self._matching(question, "rowid DESC", limit, only)

    def _matching(self, question: str, order: str, limit: int, only: Filter) -> list[int]:
        condition, values = only.sql()
        inside = f"AND rowid IN (SELECT id FROM passages p WHERE {condition})" if condition else ""
        sql = f"SELECT rowid FROM postings WHERE postings MATCH ? {inside} ORDER BY {order} LIMIT ?"
        return [row[0] for row in self._connection.execute(sql, (question, *values, limit))]

    def distinct(self, ids: Sequence[int]) -> list[int]:
        """These ids in their order, of passages with the same words only the first."""
        sql = f"SELECT id, digest FROM passages WHERE id IN ({','.join('?' * len(ids))})"
        digests: dict[int, int] = dict(self._connection.execute(sql, list(ids)).fetchall())
        first: dict[int, int] = {}
        for each in ids:
            first.setdefault(digests[each], each)
        return list(first.values())

    def rows(self, ids: Sequence[int]) -> list[PassageRow]:
        """The passages with these ids."""
        sql = f"SELECT {_ROW} FROM passages WHERE id IN ({','.join('?' * len(ids))})"
        return [_row(*row) for row in self._connection.execute(sql, list(ids))]

    def rows_at(self, places: Sequence[tuple[str, int]]) -> list[PassageRow]:
        """The passages at these positions of files."""
        if not places:
            return []
        marks = ",".join(["(?, ?)"] * len(places))
        # A join from the few to the many: asked with IN, SQLite reads the whole table.
        asked = f"WITH asked(f, at) AS (VALUES {marks})"
        sql = f"{asked} SELECT {_ROW} FROM asked CROSS JOIN passages ON file = f AND pos = at"
        values = [value for file, position in places for value in (int(file), position)]
        return [_row(*row) for row in self._connection.execute(sql, values)]

    def places(self, ids: Sequence[int], only: Filter) -> dict[int, PassagePlace]:
        """Where the passages with these ids lie, as far as they are asked for."""
        condition, values = only.sql()
        sql = f"{_PLACE} WHERE p.id IN ({','.join('?' * len(ids))})" + (f" AND {condition}" if condition else "")
        return {row[0]: _place(row) for row in self._connection.execute(sql, [*ids, *values])}

    def place_at(self, file: int, position: int) -> PassagePlace | None:
        """The passage at a position of a file."""
        row = self._connection.execute(f"{_PLACE} WHERE p.file = ? AND p.pos = ?", (file, position)).fetchone()
        return _place(row) if row else None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            # Derived data: after a crash of the machine it is read again, so nothing waits for the disk.
            for pragma in ("journal_mode = WAL", "synchronous = OFF", "secure_delete = ON"):
                connection.execute(f"PRAGMA {pragma}")
            if connection.execute("PRAGMA user_version").fetchone()[0] == _VERSION:
                connection.execute("SELECT documents FROM totals").fetchone()
                return connection
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in {0, _VERSION}:
                raise sqlite3.DatabaseError(f"the index has schema {version}, this program writes {_VERSION}")
            for statement in _SCHEMA if version == 0 else ():
                connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _count(self, documents: int, length: int, lines: int) -> None:
        self._connection.execute(
            "UPDATE totals SET documents = documents + ?, length = length + ?, passages = passages + ?",
            (documents, length, lines),
        )


# Only names that stand in this file are put into statements; values are always bound.
# ruff: noqa: S608
_STATE = "path, session, inode, size, mtime_ns, ctime_ns, read_to, ends, passages"
_PLACE = (
    "SELECT p.id, f.path, f.session, p.start, p.bytes, p.part, p.role, p.said, p.file, p.pos"
    " FROM passages p JOIN files f ON f.id = p.file"
)


def _row(
    number: int, file: int, position: int, spoken_at: int | None, length: int, asking: float, terms: bytes
) -> PassageRow:
    day = None if spoken_at is None else _EPOCH + spoken_at // _SECONDS_PER_DAY
    body = zlib.decompress(terms).decode("utf-8").replace("\n", " \n ")
    return PassageRow(number, str(number), str(file), position, day, length, asking, f" {body} ")


def _pack_terms(terms: str) -> tuple[int, bytes]:
    """A digest by which copies are told, and the terms compressed."""
    data = terms.encode("utf-8")
    return zlib.crc32(data) | len(data) << 32, zlib.compress(data, 1)


def _place(row: Sequence[object]) -> PassagePlace:
    place = PassagePlace._make(row)
    return place._replace(role=ROLES[int(place.role)])
