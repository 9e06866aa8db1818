"""Keeps what MEMORY.md needs of every topic up to date without reading every file, and renders it.

A topic's row depends on its bytes alone, so a row holds as long as the content id of its file does. The rows are a
table of the index file (`memory/index_file.py`) which says for which commit they hold, so that a new process need not
read them all. Rendering is `memory_md.py`; writing is `writer.py`, which calls `follow` inside every change.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import date
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

from reverie.errors import Damaged
from reverie.files import write_folder
from reverie.files.secret_scan import redact, scan
from reverie.memory.index_file import INDEX_DB, IndexFile
from reverie.memory.store.git.commits import read_blob
from reverie.memory.store.history import History
from reverie.memory.store.index.memory_md import (
    IndexEntry,
    IndexLimits,
    IndexRow,
    index_row,
    parse_index,
    rank,
    render_index,
)
from reverie.memory.store.worktree import (
    INDEX_FILE,
    TEAM,
    Entries,
    Seen,
    blob_id,
    find_known_content_ids,
    is_topic_path,
    read_tracked,
)
from reverie.memory.topics.filenames import key_of
from reverie.memory.topics.topic import MemoryType, Topic, parse_topic, render_topic
from reverie.memory.topics.value import Vetted

_IN_MEMORY = Path(":memory:")
_BETWEEN_HOOKS = "\x1f"
_ALWAYS, _PINNED = 1, 2
_TYPES = {kind.value: kind for kind in MemoryType}
_LATEST_DAY = date.max.toordinal()
_TOPICS = "SELECT path, name, hooks, type, flags, day FROM lines WHERE place IS NOT NULL"
_Values = tuple[bytes, bytes, bytes, bytes | None, bytes | None, bytes | None, str | None, int, str | None, int | None]
TEAM_INDEX = f"{TEAM}{INDEX_FILE}"


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
            row = self._open().execute(_TOPICS + " AND path = ?", (_encode_text(path),)).fetchone()
            self._known[path] = _decode_row(*row) if row else None
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
        best_rows = self._open().execute(_TOPICS + " ORDER BY place, path LIMIT ?", (limit,))
        stored = {
            path: self._known.get(path) or _decode_row(*columns)
            for columns in best_rows
            if (path := _decode_text(columns[0]))
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
        row = self._open().execute("SELECT oid FROM lines WHERE path = ?", (_encode_text(path),)).fetchone()
        return row[0] if row else None

    def put(self, rows: Iterable[tuple[str, bytes, IndexRow | None]]) -> None:
        """Set what is known of files: path, content id, and the row of an indexed topic that can be read."""
        self._pending.update({path: _Pending(oid, row) for path, oid, row in rows})

    def remove(self, paths: Iterable[str]) -> None:
        """Forget files."""
        self._pending.update(dict.fromkeys(paths))

    @property
    def head(self) -> str | None:
        """The commit for which the rows hold."""
        row = self._open().execute("SELECT head FROM lines_of").fetchone()
        return row[0] if row else None

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
        if self._file is not None and self._file.is_replaced:
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


def _decode_row(path: bytes, name: bytes, hooks: bytes, kind: str | None, flags: int, day: str | None) -> IndexRow:
    return IndexRow(
        _decode_text(path),
        _decode_text(name),
        tuple(_decode_text(hooks).split(_BETWEEN_HOOKS)),
        _TYPES[kind] if kind else None,
        bool(flags & _ALWAYS),
        bool(flags & _PINNED),
        date.fromisoformat(day) if day else None,
    )


def is_indexed(path: str) -> bool:
    """Whether a topic has its line in the index of the directory."""
    return is_topic_path(path) and not path.startswith((TEAM, "."))


class Catalogue:
    """The rows of all topics of one directory. Used under the writer's lock."""

    def __init__(
        self,
        history: History,
        *,
        use: Callable[[], Mapping[str, float]] = dict,
        vetted: Vetted | None = None,
        limits: IndexLimits | None = None,
    ) -> None:
        self._limits = limits
        self._history = history
        self._folder = history.folder
        self._use = use
        self._vetted = vetted or Vetted()
        self._entries: Entries | None = None
        self._table = RowTable(self._folder.search_index / INDEX_DB)

    def follow(self, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """What else must change when these files change: edited items change their topics, and the index follows."""
        follows: dict[str, bytes | None] = {}
        previous = self._previous_index(files)
        if files.get(INDEX_FILE) is not None:
            follows |= self._apply_line_edits(previous, files)
        touched = {**files, **follows}
        try:
            text = self._render(touched, previous)
        except sqlite3.Error:
            self._start_anew()
            text = self._render(touched, previous)
        if text is not None:
            follows[INDEX_FILE] = text.encode("utf-8", "surrogateescape")
        if TEAM_INDEX not in files and any(path.startswith(TEAM) for path in touched):
            follows[TEAM_INDEX] = self._render_team(touched)
        return follows

    def _render_team(self, touched: Mapping[str, bytes | None]) -> bytes | None:
        """The index of team memory after these files have changed; None where there is none."""
        paths = {path for path in (*self._history.entries, *touched) if path.startswith(TEAM) and is_topic_path(path)}
        contents = ((path, touched[path] if path in touched else read_tracked(self._folder, path)) for path in paths)
        rows = [row for path, content in contents if content is not None and (row := self._row(path, content))]
        if not rows:
            return None
        previous = (read_tracked(self._folder, TEAM_INDEX) or b"").decode("utf-8", "surrogateescape")
        removed = [path.removeprefix(TEAM) for path, content in touched.items() if content is None]
        below = [replace(row, path=row.path.removeprefix(TEAM)) for row in rows]
        return render_index(below, previous, removed=removed, limits=self._limits).encode("utf-8", "surrogateescape")

    def settle(self) -> None:
        """Keep what was put for a change, now that it is committed."""
        try:
            if self._history.entries is self._entries:
                self._put_touched()
                self._table.commit(self._history.head)
        except sqlite3.Error:
            self._start_anew()

    def names(self) -> dict[str, str]:
        """Path → name of every indexed topic that can be read."""
        return {path: name for path, (_, name) in self._ensure_loaded().names().items()}

    def find_path_by_name(self, name: str) -> str | None:
        """The path of the topic with this name, whatever its case and accents."""
        return self._ensure_loaded().find_path_by_name(name)

    def path_with_key(self, key: str) -> str | None:
        """The tracked file that a file system without case would take for one of this `path_key`."""
        return self._ensure_loaded().path_with_key(key)

    def read_names(self, listed: Mapping[str, Seen]) -> dict[str, str]:
        """Path → name of every listed topic that can be read, without the lock; only what is new is read."""
        indexed_names = read_names(self._folder.search_index / INDEX_DB)
        names: dict[str, str] = {}
        for path, oid in find_known_content_ids(listed, *self._history.read_entries()).items():
            if path in indexed_names and indexed_names[path][0] == oid:
                names[path] = indexed_names[path][1]
            elif is_topic_path(path) and (row := _read_row(path, read_tracked(self._folder, path) or b"")) is not None:
                names[path] = row.name
        return names

    def _render(self, touched: Mapping[str, bytes | None], previous: str) -> str | None:
        """The index after these files have changed; None where it stays."""
        table = self._ensure_loaded()
        self._put(touched)
        # Should the change fail, the next loading finds that these are not what the last commit holds.
        self._history.touched.update(touched)
        rows = {path: table.get(path) for path in touched}
        changed = [path for path, row in rows.items() if row is not None]
        removed = [path for path, row in rows.items() if row is None and path != INDEX_FILE]
        if not (changed or removed or INDEX_FILE in touched) or not (previous or len(table)):
            return None
        return render_index(table, previous, changed=changed, removed=removed, use=self._use(), limits=self._limits)

    def _previous_index(self, files: Mapping[str, bytes | None]) -> str:
        content = files[INDEX_FILE] if INDEX_FILE in files else read_tracked(self._folder, INDEX_FILE)
        return (content or b"").decode("utf-8", "surrogateescape")

    def _apply_line_edits(self, text: str, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        from reverie.memory.store.index.edits import apply_edit, index_edits

        entry = self._history.entries.get(INDEX_FILE)
        base = read_blob(self._history.git, entry.oid) if entry is not None and self._history.is_on else b""
        before_text = base.decode("utf-8", "surrogateescape")
        before = {line.path: line for line in parse_index(before_text) if isinstance(line, IndexEntry)}
        edited = [line for line in parse_index(text) if isinstance(line, IndexEntry) and before.get(line.path) != line]
        topics: dict[str, tuple[Topic, str]] = {}
        for line in edited:
            content = (
                files.get(line.path) or read_tracked(self._folder, line.path) if is_topic_path(line.path) else None
            )
            with suppress(Damaged, UnicodeDecodeError):
                if content is not None:
                    topics[line.path] = (parse_topic(line.path, content.decode()), content.decode())
        changes: dict[str, bytes | None] = {}
        for edit in index_edits(before_text, text, [topic for topic, _ in topics.values()]):
            topic, old = topics[edit.path]
            changes[edit.path] = render_topic(apply_edit(topic, edit), old).encode()
        return changes

    def _ensure_loaded(self) -> RowTable:
        """The rows of what the last commit holds; it is also what is on disk."""
        try:
            self._load()
        except sqlite3.Error:
            self._start_anew()
            self._load()
        return self._table

    def _load(self) -> None:
        self._table.rollback()
        entries, history = self._history.entries, self._history
        if entries is not self._entries:
            self._table.renew()
            if history.head is None or self._table.head != history.head:
                self._load_all(entries)
            self._entries = entries
        if history.touched:
            self._put_touched()
            self._table.commit(history.head)

    def _load_all(self, entries: Entries) -> None:
        """Bring every row up to these entries; only contents that are new are read."""
        indexed = self._table.oids()
        oids = {path: entry.oid for path, entry in entries.items()}
        self._table.remove(path for path in indexed if path not in oids)
        new = ((path, oid) for path, oid in oids.items() if indexed.get(path) != oid)
        self._table.put(row for path, oid in new for row in self._read_rows(path, oid))
        self._table.commit(self._history.head)

    def _put_touched(self) -> None:
        """Bring the rows of touched paths up to the entries."""
        entries = self._history.entries
        touched = {path: entries[path].oid if path in entries else None for path in self._history.touched}
        self._table.remove(path for path, oid in touched.items() if oid is None)
        self._table.put(
            row
            for path, oid in touched.items()
            if oid is not None and self._table.oid_of(path) != oid
            for row in self._read_rows(path, oid)
        )
        self._history.touched.clear()

    def _put(self, files: Mapping[str, bytes | None]) -> None:
        """Set the rows of new contents, before they are on disk."""
        self._table.remove(path for path, content in files.items() if content is None)
        self._table.put(
            (path, blob_id(content), self._row(path, content) if is_indexed(path) else None)
            for path, content in files.items()
            if content is not None
        )

    def _read_rows(self, path: str, oid: bytes) -> Iterator[tuple[str, bytes, IndexRow | None]]:
        """The row of a file; none while something else stands there that is not committed."""
        content = (read_tracked(self._folder, path) or b"") if is_indexed(path) else None
        if content is None:
            yield path, oid, None
        elif blob_id(content) == oid:
            yield path, oid, self._row(path, content)

    def _row(self, path: str, content: bytes) -> IndexRow | None:
        vetted = self._vetted.get(path, content)
        return _read_row(path, content) if vetted is None else index_row(vetted)

    def _start_anew(self) -> None:
        """Go on without the file, which cannot be used."""
        self._table.go_without_file()
        self._entries = None


def _read_row(path: str, content: bytes) -> IndexRow | None:
    """The row of a topic; None for one that cannot be read, or that another program committed with a secret."""
    try:
        text = content.decode()
        row = index_row(parse_topic(path, text))
    except (Damaged, UnicodeDecodeError):
        return None
    if scan(text):
        return None
    # A hand may write a secret into a file; the index stands in every conversation.
    return replace(row, name=redact(row.name), hooks=tuple(map(redact, row.hooks)))
