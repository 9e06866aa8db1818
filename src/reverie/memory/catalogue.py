"""What the index must know of every topic, kept up to date without reading every file; and the index that follows.

A topic's row depends on its bytes alone, so rows are cached by content id, in memory and (derived, may be deleted)
beside the search index. Rendering is `index.py`; writing is `writer.py`, which calls `follow` inside every change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from datetime import date
from functools import partial
from pathlib import Path

from reverie.errors import Damaged
from reverie.files import write_folder
from reverie.memory.finding import key_of
from reverie.memory.git.entries import Entries, entry_oid
from reverie.memory.git.reading import read_blob
from reverie.memory.history import History, blob_id
from reverie.memory.index import IndexRow, index_row, render_index
from reverie.memory.index_edits import apply_edit, index_edits
from reverie.memory.index_lines import Entry, parse_index
from reverie.memory.topic import MemoryType, Topic, parse_topic, render_topic
from reverie.memory.tracked import INDEX_FILE, is_topic_path, read_tracked

TEAM = "team/"
"""Team memory has an index of its own."""
_CACHE_FILE = "rows.db"
_BETWEEN_HOOKS = "\x1f"
_WORTH_CACHING = 50
"""Fewer new rows are quicker parsed again than written."""


def is_indexed(path: str) -> bool:
    """Whether a topic has its line in the index of the directory."""
    return is_topic_path(path) and not path.startswith((TEAM, "."))


class Catalogue:
    """The rows of all topics of one directory. Used under the writer's lock."""

    def __init__(self, history: History, *, use: Callable[[], Mapping[str, float]] = dict) -> None:
        self._history = history
        self._folder = history.folder
        self._use = use
        self._entries: Entries | None = None
        self._oids: dict[str, bytes] = {}
        self._rows: dict[str, IndexRow] = {}
        self._paths: dict[str, str] = {}
        self._named: dict[str, set[str]] = {}

    def follow(self, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """What else must change when these files change: edited items change their topics, and the index follows."""
        follows: dict[str, bytes | None] = {}
        previous = self._previous_index(files)
        if files.get(INDEX_FILE) is not None:
            follows |= self._edited_topics(previous, files)
        self._load()
        touched = {**files, **follows}
        for path, content in touched.items():
            self._put(path, None if content is None else blob_id(content), partial(_itself, content))
        # Should the change fail, the next loading finds that these are not what the last commit holds.
        self._history.touched.update(touched)
        changed = [path for path in touched if path in self._rows]
        removed = [path for path in touched if path not in self._rows and path != INDEX_FILE]
        if not (changed or removed or INDEX_FILE in files):
            return follows
        text = render_index(self._rows.values(), previous, changed=changed, removed=removed, use=self._use())
        if self._rows or previous:
            follows[INDEX_FILE] = text.encode("utf-8", "surrogateescape")
        return follows

    def names(self) -> dict[str, str]:
        """Path → name of every indexed topic that can be read."""
        self._load()
        return {path: row.name for path, row in self._rows.items()}

    def path_named(self, name: str) -> str | None:
        """The path of the topic with this name, whatever its case and accents."""
        self._load()
        return min(self._named.get(key_of(name), ()), default=None)

    def taken(self) -> Mapping[str, str]:
        """Key → path of every tracked file."""
        self._load()
        return self._paths

    def _previous_index(self, files: Mapping[str, bytes | None]) -> str:
        content = files[INDEX_FILE] if INDEX_FILE in files else read_tracked(self._folder, INDEX_FILE)
        return (content or b"").decode("utf-8", "surrogateescape")

    def _edited_topics(self, text: str, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        entry = self._history.entries.get(INDEX_FILE)
        base = read_blob(self._history.git, entry_oid(entry)) if entry is not None and self._history.is_on else b""
        before_text = base.decode("utf-8", "surrogateescape")
        before = {line.path: line for line in parse_index(before_text) if isinstance(line, Entry)}
        edited = [line for line in parse_index(text) if isinstance(line, Entry) and before.get(line.path) != line]
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

    def _load(self) -> None:
        """Bring the rows up to what the last commit holds; it is also what is on disk."""
        entries = self._history.entries
        if entries is not self._entries:
            self._load_all(entries)
        for path in self._history.touched:
            entry = entries.get(path)
            self._put(path, entry_oid(entry) if entry else None, partial(read_tracked, self._folder, path))
        self._history.touched.clear()

    def _load_all(self, entries: Entries) -> None:
        """Start anew from these entries, keeping the rows of contents that are the same."""
        known = self._oids
        rows: dict[str, IndexRow | None] = {**self._rows}
        self._oids = {path: entry_oid(entry) for path, entry in entries.items()}
        wanted = {path: oid for path, oid in self._oids.items() if is_indexed(path)}
        missing = {path: oid for path, oid in wanted.items() if known.get(path) != oid}
        cached = self._read_cached(missing) if len(missing) > _WORTH_CACHING else {}
        new = {path: _row(path, read_tracked(self._folder, path) or b"") for path in missing if path not in cached}
        if len(new) > _WORTH_CACHING:
            self._write_cached((missing[path], row) for path, row in new.items() if row is not None)
        rows |= cached
        rows |= new
        self._rows = {path: row for path in wanted if (row := rows.get(path)) is not None}
        self._paths = {key_of(path): path for path in self._oids}
        self._named = {}
        for path, row in self._rows.items():
            self._named.setdefault(key_of(row.name), set()).add(path)
        self._entries = entries

    def _put(self, path: str, oid: bytes | None, read: Callable[[], bytes | None]) -> None:
        """Set what is known of one path; its content is read only where it is new."""
        if oid is not None and self._oids.get(path) == oid:
            return
        old = self._rows.pop(path, None)
        if old is not None:
            self._named[key_of(old.name)].discard(path)
        if oid is None:
            self._oids.pop(path, None)
            self._paths.pop(key_of(path), None)
            return
        self._oids[path] = oid
        self._paths[key_of(path)] = path
        row = _row(path, read() or b"") if is_indexed(path) else None
        if row is not None:
            self._rows[path] = row
            self._named.setdefault(key_of(row.name), set()).add(path)

    @property
    def _cache(self) -> Path:
        return self._folder.search_index / _CACHE_FILE

    def _read_cached(self, wanted: Mapping[str, bytes]) -> dict[str, IndexRow]:
        if not self._cache.exists():
            return {}
        try:
            with closing(sqlite3.connect(self._cache)) as database:
                known = {row[0]: row for row in database.execute("SELECT * FROM rows")}
        except sqlite3.Error:
            self._cache.unlink(missing_ok=True)
            return {}
        return {path: _decoded(path, known[oid]) for path, oid in wanted.items() if oid in known}

    def _write_cached(self, rows: Iterable[tuple[bytes, IndexRow]]) -> None:
        values = [(oid, *_encoded(row)) for oid, row in rows]
        with suppress(sqlite3.Error, OSError):
            write_folder(self._cache.parent)
            with closing(sqlite3.connect(self._cache)) as database, database:
                # Derived and checked by content id: a torn cache is thrown away, so it need not be flushed.
                database.execute("PRAGMA synchronous = OFF")
                database.execute(
                    "CREATE TABLE IF NOT EXISTS rows (oid BLOB PRIMARY KEY, name, hooks, type, flags, day)"
                )
                database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?)", values)


def _itself(content: bytes | None) -> bytes | None:
    return content


def _row(path: str, content: bytes) -> IndexRow | None:
    """The row of a topic; None for one that cannot be read, which is left alone."""
    try:
        return index_row(parse_topic(path, content.decode()))
    except (Damaged, UnicodeDecodeError):
        return None


def _encoded(row: IndexRow) -> tuple[str, str, str | None, int, str | None]:
    flags = row.is_always + 2 * row.is_pinned
    return row.name, _BETWEEN_HOOKS.join(row.hooks), row.type, flags, row.day.isoformat() if row.day else None


_TYPES = {kind.value: kind for kind in MemoryType}


def _decoded(path: str, columns: tuple[bytes, str, str, str | None, int, str | None]) -> IndexRow:
    _, name, hooks, kind, flags, day = columns
    return IndexRow(
        path,
        name,
        tuple(hooks.split(_BETWEEN_HOOKS)),
        _TYPES[kind] if kind else None,
        bool(flags & 1),
        bool(flags & 2),
        date.fromisoformat(day) if day else None,
    )
