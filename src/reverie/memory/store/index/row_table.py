"""What MEMORY.md needs of every topic: a table of the index file (`memory/index_file.py`).

Each path has one row with its content id, and the table says for which commit it holds, so that a new process need not
read it. Which rows are due is `catalogue.py`'s matter; it writes only under the writer's lock.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing, suppress
from datetime import date
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

from reverie.files import write_folder
from reverie.memory.index_file import IndexFile
from reverie.memory.store.index.memory_md import IndexRow, rank
from reverie.memory.topics.filenames import key_of
from reverie.memory.topics.topic import MemoryType

_IN_MEMORY = Path(":memory:")
_BETWEEN_HOOKS = "\x1f"
_ALWAYS, _PINNED = 1, 2
_TYPES = {kind.value: kind for kind in MemoryType}
_LATEST_DAY = date.max.toordinal()
_TOPICS = "SELECT path, name, hooks, type, flags, day FROM lines WHERE place IS NOT NULL"
_Values = tuple[bytes, bytes, bytes, bytes | None, bytes | None, bytes | None, str | None, int, str | None, int | None]


class _Pending(NamedTuple):
    """What was put for a path and is not yet committed."""

    oid: bytes
    row: IndexRow | None


class RowTable:
    """The rows, in a file or, where that cannot be, in memory.

    What was put waits in this object until `commit`, so nothing in the file is locked while a change is under way.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IndexFile | None = None
        self._inode = 0
        self._known: dict[str, IndexRow | None] = {}
        """Rows of the file that were read already."""
        self._pending: dict[str, _Pending | None] = {}
        """Path → what was put; None where the file was removed."""

    def __len__(self) -> int:
        count: int = self._open().execute("SELECT count(*) FROM lines WHERE place IS NOT NULL").fetchone()[0]
        replaced = sum(self._read_row(path) is not None for path in self._pending)
        return count - replaced + sum(put is not None and put.row is not None for put in self._pending.values())

    def get(self, path: str) -> IndexRow | None:
        """The row of an indexed topic that can be read."""
        if path in self._pending:
            put = self._pending[path]
            return put.row if put is not None else None
        return self._read_row(path)

    def _read_row(self, path: str) -> IndexRow | None:
        if path not in self._known:
            found = self._open().execute(_TOPICS + " AND path = ?", (_encode_text(path),)).fetchone()
            self._known[path] = _row(*found) if found else None
        return self._known[path]

    def path_with_key(self, key: str) -> str | None:
        """The file that has this `path_key`."""
        sql = "SELECT path FROM lines WHERE path_key = ?"
        stored = (_decode_text(path) for (path,) in self._open().execute(sql, (_encode_text(key),)))
        put = (path for path, put in self._pending.items() if put is not None and key_of(path) == key)
        return next((path for path in stored if path not in self._pending), None) or next(put, None)

    def find_path_by_name(self, name: str) -> str | None:
        """The first topic that has this name, whatever its case and accents."""
        key = key_of(name)
        sql = "SELECT path FROM lines WHERE name_key = ?"
        stored = (_decode_text(path) for (path,) in self._open().execute(sql, (_encode_text(key),)))
        paths = {path for path in stored if path not in self._pending}
        paths.update(path for path, put in self._pending.items() if put and put.row and key_of(put.row.name) == key)
        return min(paths, key=_encode_text, default=None)

    def best(self, count: int, use: Mapping[str, float], without: Collection[str]) -> list[IndexRow]:
        """The first by `rank`, leaving out some paths."""
        used = {path: row for path, often in use.items() if often and (row := self.get(path)) is not None}
        limit = count + len(used) + len(without) + len(self._pending)
        found = self._open().execute(_TOPICS + " ORDER BY place, path LIMIT ?", (limit,))
        stored = {
            path: self._known.get(path) or _row(*columns) for columns in found if (path := _decode_text(columns[0]))
        }
        self._known |= stored
        rows = {path: row for path, row in stored.items() if path not in self._pending}
        rows |= {path: put.row for path, put in self._pending.items() if put is not None and put.row is not None}
        candidates = [row for path, row in (rows | used).items() if path not in without]
        return nsmallest(count, candidates, key=lambda row: rank(row, use))

    def names(self) -> dict[str, tuple[bytes, str]]:
        """Path → content id and name of every indexed topic that can be read."""
        stored = {path: row for path, row in _names(self._open()).items() if path not in self._pending}
        return stored | {path: (put.oid, put.row.name) for path, put in self._pending.items() if put and put.row}

    def oids(self) -> dict[str, bytes]:
        """Path → content id of every file."""
        rows = self._open().execute("SELECT path, oid FROM lines")
        stored = {path: oid for encoded, oid in rows if (path := _decode_text(encoded)) not in self._pending}
        return stored | {path: put.oid for path, put in self._pending.items() if put is not None}

    def oid_of(self, path: str) -> bytes | None:
        """The content id of one file."""
        if path in self._pending:
            put = self._pending[path]
            return put.oid if put is not None else None
        found = self._open().execute("SELECT oid FROM lines WHERE path = ?", (_encode_text(path),)).fetchone()
        return found[0] if found else None

    def put(self, rows: Iterable[tuple[str, bytes, IndexRow | None]]) -> None:
        """Set what is known of files: path, content id, and the row of an indexed topic that can be read."""
        self._pending.update({path: _Pending(oid, row) for path, oid, row in rows})

    def remove(self, paths: Iterable[str]) -> None:
        """Forget files."""
        self._pending.update(dict.fromkeys(paths))

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
        if not has_new_head and not self._pending:
            return
        removed = [(_encode_text(path),) for path, put in self._pending.items() if put is None]
        rows = [_values(path, put.oid, put.row) for path, put in self._pending.items() if put is not None]
        with self._file.writing():
            database.executemany("DELETE FROM lines WHERE path = ?", removed)
            database.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            if has_new_head:
                database.execute("DELETE FROM lines_of")
                database.execute("INSERT INTO lines_of VALUES (?)", (head,))
        self._known.update({path: put.row if put is not None else None for path, put in self._pending.items()})
        self._pending.clear()

    def rollback(self) -> None:
        """Forget what was put and not kept."""
        self._pending.clear()

    def renew(self) -> None:
        """See what another process wrote, also into a new file."""
        self._known.clear()
        if self._file is not None and self._inode and self._inode != _inode_of(self._path):
            self.close()

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        self._known.clear()
        self._pending.clear()
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
            return _names(database)
    except sqlite3.Error:
        return {}


def _names(database: sqlite3.Connection) -> dict[str, tuple[bytes, str]]:
    rows = database.execute("SELECT path, oid, name FROM lines WHERE place IS NOT NULL")
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
