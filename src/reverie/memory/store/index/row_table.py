"""Table of what MEMORY.md needs of every topic; derived, and rebuilt when damaged.

Each path has one row with its content id, and the table says for which commit it holds, so that a new process need not
read it. Which rows are due is `catalogue.py`'s matter; it writes only under the writer's lock.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing, suppress
from datetime import date
from pathlib import Path

from reverie.files import write_folder
from reverie.memory.store.index.memory_md import IndexRow, rank
from reverie.memory.topics.finding import key_of
from reverie.memory.topics.topic import MemoryType

_VERSION = 1
_IN_MEMORY = ":memory:"
_BETWEEN_HOOKS = "\x1f"
_ALWAYS, _PINNED = 1, 2
_TYPES = {kind.value: kind for kind in MemoryType}
_LATEST_DAY = date.max.toordinal()
_TOPICS = "SELECT path, name, hooks, type, flags, day FROM files WHERE place IS NOT NULL"
_SCHEMA = f"""
DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS state;
CREATE TABLE files(path BLOB PRIMARY KEY, oid BLOB NOT NULL, path_key BLOB NOT NULL, name BLOB, name_key BLOB,
  hooks BLOB, type TEXT, flags INTEGER, day TEXT, place INTEGER) WITHOUT ROWID;
CREATE INDEX by_key ON files(path_key);
CREATE INDEX by_name ON files(name_key) WHERE name_key IS NOT NULL;
CREATE INDEX by_place ON files(place, path) WHERE place IS NOT NULL;
CREATE TABLE state(head TEXT);
PRAGMA user_version = {_VERSION};
"""
_Values = tuple[bytes, bytes, bytes, bytes | None, bytes | None, bytes | None, str | None, int, str | None, int | None]


class RowTable:
    """The rows, in a file or, where that cannot be, in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._inode = 0
        self._known: dict[str, IndexRow | None] = {}

    def __len__(self) -> int:
        count: int = self._open().execute("SELECT count(*) FROM files WHERE place IS NOT NULL").fetchone()[0]
        return count

    def get(self, path: str) -> IndexRow | None:
        """The row of an indexed topic that can be read."""
        if path not in self._known:
            found = self._open().execute(_TOPICS + " AND path = ?", (_encoded(path),)).fetchone()
            self._known[path] = _row(*found) if found else None
        return self._known[path]

    def path_with_key(self, key: str) -> str | None:
        """The file that has this `path_key`."""
        found = self._open().execute("SELECT path FROM files WHERE path_key = ?", (_encoded(key),)).fetchone()
        return _decoded(found[0]) if found else None

    def path_named(self, name: str) -> str | None:
        """The first topic that has this name, whatever its case and accents."""
        sql = "SELECT min(path) FROM files WHERE name_key = ?"
        found = self._open().execute(sql, (_encoded(key_of(name)),)).fetchone()[0]
        return None if found is None else _decoded(found)

    def best(self, count: int, use: Mapping[str, float], without: Collection[str]) -> list[IndexRow]:
        """The first by `rank`, leaving out some paths."""
        used = {path: row for path, often in use.items() if often and (row := self.get(path)) is not None}
        limit = count + len(used) + len(without)
        found = self._open().execute(_TOPICS + " ORDER BY place, path LIMIT ?", (limit,)).fetchall()
        rows = {path: self._known.get(path) or _row(*columns) for columns in found if (path := _decoded(columns[0]))}
        self._known |= rows
        candidates = [row for path, row in (rows | used).items() if path not in without]
        return sorted(candidates, key=lambda row: rank(row, use))[:count]

    def names(self) -> dict[str, tuple[bytes, str]]:
        """Path → content id and name of every indexed topic that can be read."""
        return _names(self._open())

    def oids(self) -> dict[str, bytes]:
        """Path → content id of every file."""
        return {_decoded(path): oid for path, oid in self._open().execute("SELECT path, oid FROM files")}

    def oids_of(self, paths: Iterable[str]) -> dict[str, bytes]:
        """As `oids`, for some paths."""
        ask = "SELECT oid FROM files WHERE path = ?"
        found = ((path, self._open().execute(ask, (_encoded(path),)).fetchone()) for path in paths)
        return {path: row[0] for path, row in found if row is not None}

    def put(self, rows: Iterable[tuple[str, bytes, IndexRow | None]]) -> None:
        """Set what is known of files: path, content id, and the row of an indexed topic that can be read."""
        values = [_values(*row) for row in rows]
        for each in values:
            self._known.pop(_decoded(each[0]), None)
        self._open().executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def remove(self, paths: Iterable[str]) -> None:
        """Forget files."""
        for path in paths:
            self._known.pop(path, None)
            self._open().execute("DELETE FROM files WHERE path = ?", (_encoded(path),))

    @property
    def head(self) -> str | None:
        """The commit for which the rows hold."""
        found = self._open().execute("SELECT head FROM state").fetchone()
        return found[0] if found else None

    def commit(self, head: str | None) -> None:
        """Keep what was put, as that of a commit."""
        database = self._open()
        if self.head != head:
            database.execute("DELETE FROM state")
            database.execute("INSERT INTO state VALUES (?)", (head,))
        database.commit()

    def rollback(self) -> None:
        """Forget what was put and not kept."""
        if self._database is not None and self._database.in_transaction:
            self._database.rollback()
            self._known.clear()

    def renew(self) -> None:
        """See what another process wrote, also into a new file."""
        self._known.clear()
        if self._database is not None and self._inode and self._inode != _inode_of(self._path):
            self.close()

    def close(self) -> None:
        """Let go of the file."""
        database, self._database = self._database, None
        self._known.clear()
        if database is not None:
            with suppress(sqlite3.Error):
                database.close()

    def go_without_file(self) -> None:
        """Keep the rows in memory from now on, starting with none."""
        self.close()
        self._inode = 0
        self._database = self._connected(_IN_MEMORY)

    def _connected(self, path: Path | str) -> sqlite3.Connection:
        database = _connected(path)
        # A store is simply dropped when nobody needs it any more, and its table with it.
        weakref.finalize(self, database.close)
        return database

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            try:
                write_folder(self._path.parent)
                self._database = self._connected(self._path)
                self._inode = _inode_of(self._path)
            except (sqlite3.OperationalError, OSError):
                self.go_without_file()
            except sqlite3.DatabaseError:
                for ending in ("", "-wal", "-shm"):
                    self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
                self.go_without_file()
        assert self._database is not None
        return self._database


def read_names(path: Path) -> dict[str, tuple[bytes, str]]:
    """The names in a table that somebody else may be writing; none where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            if database.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                return {}
            return _names(database)
    except sqlite3.Error:
        return {}


def _names(database: sqlite3.Connection) -> dict[str, tuple[bytes, str]]:
    rows = database.execute("SELECT path, oid, name FROM files WHERE place IS NOT NULL")
    return {_decoded(path): (oid, _decoded(name)) for path, oid, name in rows}


def _connected(path: Path | str) -> sqlite3.Connection:
    # The writer's lock, and not a thread, decides who may use it.
    database = sqlite3.connect(path, timeout=5.0, check_same_thread=False)
    try:
        if path != _IN_MEMORY:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
        if database.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            database.executescript(_SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _inode_of(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _encoded(text: str) -> bytes:
    # Odd bytes of a file name, and whatever YAML can express, come as surrogates, which SQLite does not take as text.
    return text.encode("utf-8", "surrogatepass")


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def _values(path: str, oid: bytes, row: IndexRow | None) -> _Values:
    start = (_encoded(path), oid, _encoded(key_of(path)))
    if row is None:
        return (*start, None, None, None, None, 0, None, None)
    flags = _ALWAYS * row.is_always + _PINNED * row.is_pinned
    place = ((not row.is_pinned) * 2 + (not row.is_always)) * 2 * _LATEST_DAY - (row.day or date.min).toordinal()
    return (
        *start,
        _encoded(row.name),
        _encoded(key_of(row.name)),
        _encoded(_BETWEEN_HOOKS.join(row.hooks)),
        row.type,
        flags,
        row.day.isoformat() if row.day else None,
        place,
    )


def _row(path: bytes, name: bytes, hooks: bytes, kind: str | None, flags: int, day: str | None) -> IndexRow:
    return IndexRow(
        _decoded(path),
        _decoded(name),
        tuple(_decoded(hooks).split(_BETWEEN_HOOKS)),
        _TYPES[kind] if kind else None,
        bool(flags & _ALWAYS),
        bool(flags & _PINNED),
        date.fromisoformat(day) if day else None,
    )
