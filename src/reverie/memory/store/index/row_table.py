"""What MEMORY.md needs of every topic: a table of the index file (`memory/index_file.py`).

Each path has one row with its content id, and the table says for which commit it holds, so that a new process need not
read it. Which rows are due is `catalogue.py`'s matter; it writes only under the writer's lock.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import date
from pathlib import Path

from reverie.files import write_folder
from reverie.memory.index_file import IndexFile
from reverie.memory.store.index.memory_md import IndexRow, rank
from reverie.memory.topics.finding import key_of
from reverie.memory.topics.topic import MemoryType

# Only names that stand in this file are put into statements; values are always bound.
# ruff: noqa: S608
_IN_MEMORY = Path(":memory:")
_BETWEEN_HOOKS = "\x1f"
_ALWAYS, _PINNED = 1, 2
_TYPES = {kind.value: kind for kind in MemoryType}
_LATEST_DAY = date.max.toordinal()
_COLUMNS = "path, oid, path_key, name, name_key, hooks, type, flags, day, place"
_TOPICS = "SELECT path, name, hooks, type, flags, day FROM files WHERE place IS NOT NULL"
_PENDING = f"""
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE pending(path BLOB PRIMARY KEY, oid BLOB, path_key BLOB, name BLOB, name_key BLOB, hooks BLOB,
  type TEXT, flags INTEGER, day TEXT, place INTEGER) WITHOUT ROWID;
CREATE TEMP VIEW files AS SELECT {_COLUMNS} FROM main.lines WHERE path NOT IN (SELECT path FROM pending)
  UNION ALL SELECT {_COLUMNS} FROM pending WHERE oid IS NOT NULL;
"""
"""What was put and is not yet committed, of this connection alone; a row without a content id was removed. So nothing
in the file is locked while a change is under way."""
_COMMIT = (
    "DELETE FROM main.lines WHERE path IN (SELECT path FROM pending WHERE oid IS NULL)",
    f"INSERT OR REPLACE INTO main.lines SELECT {_COLUMNS} FROM pending WHERE oid IS NOT NULL",
    "DELETE FROM pending",
)
_Values = tuple[bytes, bytes, bytes, bytes | None, bytes | None, bytes | None, str | None, int, str | None, int | None]


class RowTable:
    """The rows, in a file or, where that cannot be, in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IndexFile | None = None
        self._inode = 0
        self._known: dict[str, IndexRow | None] = {}

    def __len__(self) -> int:
        count: int = self._open().execute("SELECT count(*) FROM files WHERE place IS NOT NULL").fetchone()[0]
        return count

    def get(self, path: str) -> IndexRow | None:
        """The row of an indexed topic that can be read."""
        if path not in self._known:
            found = self._open().execute(_TOPICS + " AND path = ?", (_encode_text(path),)).fetchone()
            self._known[path] = _row(*found) if found else None
        return self._known[path]

    def path_with_key(self, key: str) -> str | None:
        """The file that has this `path_key`."""
        found = self._open().execute("SELECT path FROM files WHERE path_key = ?", (_encode_text(key),)).fetchone()
        return _decode_text(found[0]) if found else None

    def find_path_by_name(self, name: str) -> str | None:
        """The first topic that has this name, whatever its case and accents."""
        sql = "SELECT min(path) FROM files WHERE name_key = ?"
        found = self._open().execute(sql, (_encode_text(key_of(name)),)).fetchone()[0]
        return None if found is None else _decode_text(found)

    def best(self, count: int, use: Mapping[str, float], without: Collection[str]) -> list[IndexRow]:
        """The first by `rank`, leaving out some paths."""
        used = {path: row for path, often in use.items() if often and (row := self.get(path)) is not None}
        limit = count + len(used) + len(without)
        found = self._open().execute(_TOPICS + " ORDER BY place, path LIMIT ?", (limit,)).fetchall()
        rows = {
            path: self._known.get(path) or _row(*columns) for columns in found if (path := _decode_text(columns[0]))
        }
        self._known |= rows
        candidates = [row for path, row in (rows | used).items() if path not in without]
        return sorted(candidates, key=lambda row: rank(row, use))[:count]

    def names(self) -> dict[str, tuple[bytes, str]]:
        """Path → content id and name of every indexed topic that can be read."""
        return _names(self._open(), "files")

    def oids(self) -> dict[str, bytes]:
        """Path → content id of every file."""
        return {_decode_text(path): oid for path, oid in self._open().execute("SELECT path, oid FROM files")}

    def oids_of(self, paths: Iterable[str]) -> dict[str, bytes]:
        """As `oids`, for some paths."""
        ask = "SELECT oid FROM files WHERE path = ?"
        found = ((path, self._open().execute(ask, (_encode_text(path),)).fetchone()) for path in paths)
        return {path: row[0] for path, row in found if row is not None}

    def put(self, rows: Iterable[tuple[str, bytes, IndexRow | None]]) -> None:
        """Set what is known of files: path, content id, and the row of an indexed topic that can be read."""
        self._put([_values(*row) for row in rows])

    def remove(self, paths: Iterable[str]) -> None:
        """Forget files."""
        self._put([(_encode_text(path), *[None] * 9) for path in paths])

    def _put(self, values: Sequence[tuple[bytes, *tuple[object, ...]]]) -> None:
        for each in values:
            self._known.pop(_decode_text(each[0]), None)
        self._open().executemany("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    @property
    def head(self) -> str | None:
        """The commit for which the rows hold."""
        found = self._open().execute("SELECT head FROM lines_of").fetchone()
        return found[0] if found else None

    def commit(self, head: str | None) -> None:
        """Keep what was put, as that of a commit."""
        database = self._open()
        assert self._file is not None
        has_new_head = self.head != head
        if not has_new_head and not self._has_pending():
            return
        with self._file.writing():
            for statement in _COMMIT:
                database.execute(statement)
            if has_new_head:
                database.execute("DELETE FROM lines_of")
                database.execute("INSERT INTO lines_of VALUES (?)", (head,))

    def rollback(self) -> None:
        """Forget what was put and not kept."""
        if self._file is not None and self._has_pending():
            self._open().execute("DELETE FROM pending")
            self._known.clear()

    def _has_pending(self) -> bool:
        return self._open().execute("SELECT 1 FROM pending LIMIT 1").fetchone() is not None

    def renew(self) -> None:
        """See what another process wrote, also into a new file."""
        self._known.clear()
        if self._file is not None and self._inode and self._inode != _inode_of(self._path):
            self.close()

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        self._known.clear()
        if file is not None:
            with suppress(sqlite3.Error):
                file.close()

    def go_without_file(self) -> None:
        """Keep the rows in memory from now on, starting with none."""
        self.close()
        self._inode = 0
        self._file = self._open_file(_IN_MEMORY)

    def _open_file(self, path: Path) -> IndexFile:
        file = IndexFile(path)
        # A store is simply dropped when nobody needs it any more, and its table with it.
        weakref.finalize(self, file.close)
        file.connection.executescript(_PENDING)
        return file

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            try:
                write_folder(self._path.parent)
                self._file = self._open_file(self._path)
                self._inode = _inode_of(self._path)
            except (sqlite3.OperationalError, OSError):
                self.go_without_file()
        assert self._file is not None
        return self._file.connection


def read_names(path: Path) -> dict[str, tuple[bytes, str]]:
    """The names in a table that somebody else may be writing; none where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return _names(database, "lines")
    except sqlite3.Error:
        return {}


def _names(database: sqlite3.Connection, table: str) -> dict[str, tuple[bytes, str]]:
    rows = database.execute(f"SELECT path, oid, name FROM {table} WHERE place IS NOT NULL")
    return {_decode_text(path): (oid, _decode_text(name)) for path, oid, name in rows}


def _inode_of(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _encode_text(text: str) -> bytes:
    # Odd bytes of a file name, and whatever YAML can express, come as surrogates, which SQLite does not take as text.
    return text.encode("utf-8", "surrogatepass")


def _decode_text(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def _values(path: str, oid: bytes, row: IndexRow | None) -> _Values:
    start = (_encode_text(path), oid, _encode_text(key_of(path)))
    if row is None:
        return (*start, None, None, None, None, 0, None, None)
    flags = _ALWAYS * row.is_always + _PINNED * row.is_pinned
    place = ((not row.is_pinned) * 2 + (not row.is_always)) * 2 * _LATEST_DAY - (row.day or date.min).toordinal()
    return (
        *start,
        _encode_text(row.name),
        _encode_text(key_of(row.name)),
        _encode_text(_BETWEEN_HOOKS.join(row.hooks)),
        row.type,
        flags,
        row.day.isoformat() if row.day else None,
        place,
    )


def _row(path: bytes, name: bytes, hooks: bytes, kind: str | None, flags: int, day: str | None) -> IndexRow:
    return IndexRow(
        _decode_text(path),
        _decode_text(name),
        tuple(_decode_text(hooks).split(_BETWEEN_HOOKS)),
        _TYPES[kind] if kind else None,
        bool(flags & _ALWAYS),
        bool(flags & _PINNED),
        date.fromisoformat(day) if day else None,
    )
