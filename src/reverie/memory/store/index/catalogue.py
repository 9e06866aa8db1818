"""Keeps what MEMORY.md needs of every topic up to date without reading every file, and renders it.

A topic's row depends on its bytes alone, so a row holds as long as the content id of its file does; the rows lie in
`row_table.py`. Rendering is `memory_md.py`; writing is `writer.py`, which calls `follow` inside every change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from reverie.errors import Damaged
from reverie.files.secret_scan import redact, scan
from reverie.memory.index_file import INDEX_DB
from reverie.memory.store.git.reading import read_blob
from reverie.memory.store.history import History, blob_id
from reverie.memory.store.index.lines import IndexEntry, parse_index
from reverie.memory.store.index.memory_md import IndexLimits, IndexRow, index_row, render_index
from reverie.memory.store.index.row_table import RowTable, read_names
from reverie.memory.store.stat_cache import Entries
from reverie.memory.store.tracked import INDEX_FILE, Seen, is_topic_path, read_tracked
from reverie.memory.store.worktree import find_known_content_ids
from reverie.memory.topics.topic import Topic, parse_topic, render_topic
from reverie.memory.topics.vetted import Vetted

TEAM = "team/"
"""Team memory has an index of its own."""


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
        return follows

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
        known = read_names(self._folder.search_index / INDEX_DB)
        names: dict[str, str] = {}
        for path, oid in find_known_content_ids(listed, self._history).items():
            if path in known and known[path][0] == oid:
                names[path] = known[path][1]
            elif is_topic_path(path) and (row := _row(path, read_tracked(self._folder, path) or b"")) is not None:
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
        known = self._table.oids()
        wanted = {path: entry.oid for path, entry in entries.items()}
        self._table.remove(path for path in known if path not in wanted)
        new = ((path, oid) for path, oid in wanted.items() if known.get(path) != oid)
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
        return _row(path, content) if vetted is None else index_row(vetted)

    def _start_anew(self) -> None:
        """Go on without the file, which cannot be used."""
        self._table.go_without_file()
        self._entries = None


def _row(path: str, content: bytes) -> IndexRow | None:
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
