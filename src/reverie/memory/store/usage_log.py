"""Which memories were recalled, when and for what: a file of JSON lines beside the locks of the directory.

It answers `why` and ranks: the index, and, a little, what a query finds. Losing it loses no memory; erasing a topic
removes its lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reverie.files import append_lines, write_atomic
from reverie.files.places.paths import MemoryFolder
from reverie.values import value

QUERY_CHARS = 200
"""Enough to recognise the request."""
_PATH = rb'(?m)^\{"path": ("(?:[^"\\]|\\.)*")'
"""Where a row of ours names its memory: reading no more takes a tenth of the time."""
MAX_BYTES = 2_000_000
"""A longer log loses its older half."""


@value
class Use:
    """One recall of one memory."""

    path: str
    when: str
    query: str
    score: float
    session: str | None = None


def usage_file(folder: MemoryFolder) -> Path:
    """Where the log of a directory lies."""
    return folder.state / "recalled.jsonl"


def append_uses(folder: MemoryFolder, uses: Iterable[Use]) -> None:
    """Note recalls."""
    rows = [
        json.dumps(
            {"path": use.path, "when": use.when, "query": use.query[:QUERY_CHARS], "score": round(use.score, 3)}
            | ({"session": use.session} if use.session else {}),
            ensure_ascii=False,
        )
        for use in uses
    ]
    if not rows:
        return
    path = usage_file(folder)
    append_lines(path, rows, durable=False)
    if path.stat().st_size > MAX_BYTES:
        log_lines = path.read_bytes().splitlines(keepends=True)
        write_atomic(path, b"".join(log_lines[len(log_lines) // 2 :]), durable=False)


def read_uses(folder: MemoryFolder, path: str | None = None) -> Iterator[Use]:
    """The recalls of one memory, or all, oldest first; lines that cannot be read are passed over."""
    try:
        rows = usage_file(folder).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return
    for row in rows:
        try:
            record = json.loads(row)
            use = Use(record["path"], record["when"], record["query"], record["score"], record.get("session"))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if path is None or use.path == path:
            yield use


class UseCounts:
    """How often each memory of a directory was recalled, in step with the log by reading only what was appended."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._path = usage_file(folder)
        self._looks = (0, 0)
        self._counts: Counter[str] = Counter()

    def read(self) -> Mapping[str, int]:
        """Path → recalls, as of now."""
        try:
            status = self._path.stat()
        except OSError:
            return {}
        inode, size = self._looks
        if (status.st_ino, status.st_size) == self._looks:
            return self._counts
        if status.st_ino != inode or status.st_size < size:
            self._counts, size = Counter(), 0
        with self._path.open("rb") as file:
            file.seek(size)
            rows = file.read()
        rows = rows[: rows.rfind(b"\n") + 1]
        # Few memories are recalled often: each name is decoded once, not once per row.
        for path, count in Counter(re.findall(_PATH, rows)).items():
            self._counts[_decode_path(path)] += count
        self._looks = status.st_ino, size + len(rows)
        return self._counts


def _decode_path(path: bytes) -> str:
    decoded: str = json.loads(path)
    return decoded


def read_counts(folder: MemoryFolder) -> dict[str, float]:
    """How often each memory was recalled."""
    return dict(Counter(use.path for use in read_uses(folder)))


def remove_uses(folder: MemoryFolder, paths: Iterable[str]) -> None:
    """Forget the recalls of these memories."""
    gone = set(paths)
    remaining = [use for use in read_uses(folder) if use.path not in gone]
    usage_file(folder).unlink(missing_ok=True)
    append_uses(folder, remaining)


def redact_query(query: str) -> str:
    """A request as the log may keep it: one line, and no secret."""
    from reverie.files.secret_scan import redact

    return redact(" ".join(query.split())[: 2 * QUERY_CHARS])
