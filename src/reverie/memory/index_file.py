"""The index file of one memory directory, `index.db`: one schema, one version, one way back from damage.

SQLite with FTS5. Everything in it is derived from the topic files and safe to delete at any time: a damaged or older
file is replaced by an empty one, which the next sweep fills. `search/topic_table.py` reads and writes what topics say,
`search/database.py` what ranking needs, `store/index/catalogue.py` what MEMORY.md needs. Several processes may use it
at once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

INDEX_DB = "index.db"
SCHEMA_VERSION = 9
FORMER_FILES = ("topics.db", "search.db", "rows.db")
"""What versions before this one wrote beside it; removed when the index is opened."""
FIELDS = ("title", "summary", "anchors", "about", "situation", "asks", "body")
_ENDINGS = ("", "-wal", "-shm")
_BUSY_SECONDS = 10.0
_ATTEMPTS, _PAUSE_SECONDS = 100, 0.05
"""How often and how patiently the log is turned on while other processes open the file too."""
_MAPPED_BYTES = 64 * 2**20
"""Pages are read from memory instead of by one system call each; beyond this size the usual way is taken, as what is
mapped counts as memory of the process."""
_CACHE_KIB = 16 * 2**10
# Only names that stand in this file are put into statements.
# ruff: noqa: S608

_SCHEMA = f"""
CREATE TABLE topics(path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, digest BLOB NOT NULL, name TEXT, name_key TEXT, fields TEXT,
  head TEXT NOT NULL, body TEXT NOT NULL, body_key INTEGER, problem TEXT);
CREATE TABLE swept(fingerprint BLOB NOT NULL);
CREATE INDEX by_looks ON topics(path, mtime_ns, size, ctime_ns);
CREATE INDEX by_name ON topics(name_key) WHERE name_key IS NOT NULL;
CREATE INDEX by_problem ON topics(problem) WHERE problem IS NOT NULL;
CREATE INDEX by_body ON topics(body_key) WHERE body_key IS NOT NULL;
CREATE TABLE documents(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT, is_verbatim INTEGER NOT NULL, observed INTEGER,
  situation TEXT, asks INTEGER NOT NULL, length INTEGER NOT NULL, passages INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE situations(kind TEXT NOT NULL, name TEXT NOT NULL, age INTEGER NOT NULL, document INTEGER NOT NULL,
  PRIMARY KEY (kind, name, age, document)) WITHOUT ROWID;
CREATE INDEX situations_by_document ON situations(document);
CREATE VIRTUAL TABLE postings USING fts5({", ".join(FIELDS)}, content='', tokenize="unicode61 remove_diacritics 0");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('postings', 'row');
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE spellings USING fts5(word, content='words', content_rowid='id', tokenize='trigram');
CREATE TRIGGER word_added AFTER INSERT ON words BEGIN
  INSERT INTO spellings(rowid, word) VALUES (new.id, new.word); END;
CREATE TABLE totals(documents INTEGER NOT NULL, length INTEGER NOT NULL, passages INTEGER NOT NULL,
  changes INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 0, 0);
CREATE TABLE vectors(document INTEGER NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL,
  PRIMARY KEY (document, part)) WITHOUT ROWID;
CREATE TABLE sentences(document INTEGER PRIMARY KEY, vectors BLOB NOT NULL);
CREATE TABLE lines(path BLOB PRIMARY KEY, oid BLOB NOT NULL, path_key BLOB NOT NULL, name BLOB, name_key BLOB,
  hooks BLOB, type TEXT, flags INTEGER, day TEXT, place INTEGER) WITHOUT ROWID;
CREATE INDEX lines_by_key ON lines(path_key);
CREATE INDEX lines_by_name ON lines(name_key) WHERE name_key IS NOT NULL;
CREATE INDEX lines_by_place ON lines(place, path) WHERE place IS NOT NULL;
CREATE TABLE lines_of(head TEXT);
CREATE TABLE rebuilt(why TEXT NOT NULL);
PRAGMA user_version = {SCHEMA_VERSION};
"""


class _OtherVersion(sqlite3.DatabaseError):
    """The file is whole, and was written by another version of this program."""


class IndexFile:
    """One open index file."""

    connection: sqlite3.Connection

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.connection = self._connect()
        except sqlite3.DatabaseError as problem:
            if not _is_damage(problem):
                raise
            for ending in _ENDINGS:
                Path(f"{path}{ending}").unlink(missing_ok=True)
            self.connection = self._connect()
            if not isinstance(problem, _OtherVersion):
                self.connection.execute("INSERT INTO rebuilt VALUES (?)", (str(problem),))
        self._inode = _inode_of(path)

    @property
    def is_replaced(self) -> bool:
        """Whether another process put a new file in its place, or removed it, as an erasure does."""
        return self._inode != _inode_of(self._path)

    def take_rebuilt(self) -> str | None:
        """Why the damaged file that stood here was replaced by an empty one, for the first who asks."""
        row = self.connection.execute("SELECT why FROM rebuilt").fetchone()
        if row is None:
            return None
        self.connection.execute("DELETE FROM rebuilt")
        return str(row[0])

    def close(self) -> None:
        self.connection.close()

    def version(self) -> int:
        """A number that changes whenever any process changed the index."""
        changed_by_others: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        return changed_by_others * 1_000_003 + self.connection.total_changes

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: other processes see all of it or nothing. Inside another it is a part of that."""
        is_inside = bool(self.connection.in_transaction)
        if is_inside:
            yield
            return
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # a full disk ends one by itself
                self.connection.execute("ROLLBACK")
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            if _schema_of(connection) != SCHEMA_VERSION:
                self._create(connection)
            connection.execute("SELECT documents FROM totals").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        """Write the schema, unless another process just did; raises `DatabaseError` for one of another version."""
        connection.execute("BEGIN IMMEDIATE")
        version = _schema_of(connection)
        if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _statements(_SCHEMA):
                connection.execute(statement)
        elif version != SCHEMA_VERSION:
            raise _OtherVersion(f"it has schema {version}, this program writes {SCHEMA_VERSION}")
        connection.execute("COMMIT")
        for name in FORMER_FILES if self._path.name == INDEX_DB else ():
            for ending in _ENDINGS:
                with suppress(OSError):
                    self._path.with_name(f"{name}{ending}").unlink()


def _inode_of(path: Path) -> int:
    """0 for a file that is not there, as for one in memory."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the write-ahead log on; where another process does so at this moment, SQLite refuses without waiting."""
    for attempt in range(_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _is_damage(problem: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, and not a lock, a full disk or a directory that may only be read."""
    return not isinstance(problem, sqlite3.OperationalError) or "no such table" in str(problem)


def _schema_of(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.strip().splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
