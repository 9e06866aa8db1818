"""Opens an SQLite database of another program without writing anything, its write-ahead log included.

A plain read-only connection creates or rewrites the shared-memory file beside a database with a write-ahead log;
`readonly_shm` does not. A log without that file was left by a crash or came with a copy: SQLite cannot read it without
writing, so its committed pages are laid over the database in memory.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from reverie.hosts.fields import Fields
from reverie.hosts.session import ListedSession, SessionStamp

_BUSY_SECONDS = 5.0
_WAL_HEADER = struct.Struct(">8I")
_FRAME_HEADER = struct.Struct(">6I")


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads; raises `sqlite3.Error` where that is not possible.

    Waits a moment for a writer. Text that is not UTF-8 is read as far as it is.
    """
    log = path.with_name(f"{path.name}-wal")
    shared = path.with_name(f"{path.name}-shm")
    if log.is_file() and log.stat().st_size and not shared.exists():
        connection = sqlite3.connect(":memory:")
        connection.deserialize(_apply_log(path.read_bytes(), log.read_bytes()))
    else:
        uri = f"file:{quote(str(path.absolute()))}?mode=ro&readonly_shm=1"
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        yield connection
    finally:
        connection.close()


def list_columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a table; empty when there is no such table."""
    return frozenset(row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def list_stored(
    database: Path, table: str, column: str, query: str, session: str | None, *, tick_ns: int
) -> list[ListedSession]:
    """The sessions in a database, each as a path below it, or only one; none where the table lacks the column.

    `query` selects id, time of the last change in ticks, and size.
    """
    try:
        with open_database(database) as connection:
            if column not in list_columns(connection, table):
                return []
            rows = connection.execute(query, (session, session)).fetchall()
    except (sqlite3.Error, OSError):
        return []
    return [(database / str(key), SessionStamp(size, int(changed or 0) * tick_ns)) for key, changed, size in rows]


def read_row(connection: sqlite3.Connection, table: str, columns: Iterable[str], path: Path) -> Fields:
    """What a table says of the session that a path below a database names, as far as it has the columns.

    Raises: `OSError` where it has no such session.
    """
    known = list_columns(connection, table)
    names = [name for name in columns if name in known]
    query = f"SELECT {', '.join(names)} FROM {table} WHERE id = ?"  # noqa: S608 - names of our own modules
    row = connection.execute(query, (path.name,)).fetchone()
    if row is None:
        raise OSError(f"{path.parent} holds no session {path.name}")
    return Fields(zip(names, row, strict=True))


def _apply_log(database: bytes, log: bytes) -> bytes:
    """The database as it is after the last transaction in its write-ahead log."""
    pages = bytearray(database)
    _, _, page_bytes, _, *salt, _, _ = _WAL_HEADER.unpack_from(log)
    pending: dict[int, int] = {}
    at = _WAL_HEADER.size
    while page_bytes and at + _FRAME_HEADER.size + page_bytes <= len(log):
        page, size_after_commit, *frame_salt, _, _ = _FRAME_HEADER.unpack_from(log, at)
        if frame_salt != salt:
            break
        pending[page] = at + _FRAME_HEADER.size
        at += _FRAME_HEADER.size + page_bytes
        if size_after_commit:
            pages.extend(bytes(max(0, size_after_commit * page_bytes - len(pages))))
            for number, start in pending.items():
                pages[(number - 1) * page_bytes : number * page_bytes] = log[start : start + page_bytes]
            del pages[size_after_commit * page_bytes :]
            pending.clear()
    pages[18:20] = b"\x01\x01"  # a database in memory has no log
    return bytes(pages)
