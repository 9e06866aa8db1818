"""What the last commit holds, and how each file looked on disk when it was last known to be the same.

Comparing `stat` results tells which files changed without reading them, and without starting git. The cache is one
file beside the history: a line for all files, then one for each write since with what it changed, until it is written
anew. One that is lost, damaged or of another commit costs one reading of all files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from reverie.files import append_lines, write_atomic
from reverie.memory.store.tracked import Seen

UNSEEN: Seen = (0, 0, 0, 0, 0)
"""Stands for a file that must be read to know what is in it."""
_NO_COMMIT = "0" * 40
_LINES_AT_MOST = 200
_LARGEST_SHARE = 0.25
"""A change of more files than this share of all is no longer cheaper to append than to write everything."""


class TrackedFile(NamedTuple):
    """One file of the last commit."""

    oid: bytes
    """Its content id."""
    seen: Seen


Entries: TypeAlias = dict[str, TrackedFile]
"""Path → the file there."""


class StatCache:
    """The cache file; written only under the writer's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self._size = 0
        """Of the file as this object last read or wrote it: only to that may something be appended."""

    def modified_ns(self) -> int:
        """When it was last written."""
        try:
            return self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def read_noted_commit(self) -> str:
        """The commit to which the cache belongs; nothing where it is missing, damaged or belongs to none."""
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(-len(_NO_COMMIT) - 2, os.SEEK_END)
            ending = file.read()
            if ending[:1] == b" " and ending[-1:] == b"\n" and ending[1:-1] != _NO_COMMIT.encode():
                return ending[1:-1].decode("ascii", "replace")
        return ""

    def read(self) -> Entries | None:
        """The files; None where the cache is missing or damaged."""
        rows: dict[str, Any] = {}
        self._size = 0
        try:
            content = self._path.read_bytes()
            lines = content.splitlines()
            for line in lines:
                rows.update(json.loads(line[: -len(_NO_COMMIT) - 1]))
            entries = {
                name: TrackedFile(bytes.fromhex(row[0]), (*row[1:6],)) for name, row in rows.items() if row is not None
            }
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None
        self._lines, self._size = len(lines), len(content)
        return entries if lines else None

    def write(self, commit: str | None, entries: Entries, changed: Collection[str]) -> None:
        """Note a commit and its files, of which only some changed since the last time; never waits for the disk."""
        is_small = len(changed) <= _LARGEST_SHARE * len(entries) and self._lines < _LINES_AT_MOST
        is_whole = not (is_small and self._size and self._read_size() == self._size)
        rows: dict[str, tuple[str, *Seen] | None] = {}
        for name in entries if is_whole else changed:
            file = entries.get(name)
            rows[name] = (file.oid.hex(), *file.seen) if file is not None else None
        line = f"{json.dumps(rows, separators=(',', ':'))} {commit or _NO_COMMIT}"
        if is_whole:
            write_atomic(self._path, f"{line}\n", durable=False)
        else:
            append_lines(self._path, [line], durable=False)
        self._lines, self._size = 1 if is_whole else self._lines + 1, self._read_size()

    def _read_size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0
