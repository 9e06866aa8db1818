"""Keeps the passage index up to date: reads only what was appended, unless a file was rewritten.

A file that is the same file, is longer, and still begins and ends where it did, was appended to. Any other change
(erased sentences, a file put in the place of another, one cut short) takes out all it had and reads it again. Work is
done in batches of a few megabytes, each one transaction that looks again first: two processes may do this at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from reverie.errors import Damaged
from reverie.hosts.catalogue import read_any_entries, read_stamp
from reverie.memory.search.passages.cut import SpokenRecord, cut, spoken
from reverie.memory.search.passages.database import FileState, NewPassage, PassageDatabase
from reverie.memory.search.passages.terms import lines_of_terms
from reverie.messages.entries import BadLine
from reverie.messages.records import decode_line
from reverie.values import value

BATCH_BYTES = 8_000_000
_END_BYTES = 4_096
_QUESTION_CHARS = 80
"""How much of a text one question mark stands for."""


@value
class SearchedTranscript:
    """A file to be searched, and the session it belongs to."""

    path: Path
    session: str
    agent: str = ""
    """The other agent whose session it is; it is read as a whole. Empty for transcripts in lines of our own form."""

    def state(self) -> FileState:
        """As it is now, before anything of it was read; raises `OSError` when it is gone."""
        if not self.agent:
            return _state(self, self.path.stat())
        stamp = read_stamp(self.path)
        return FileState(
            str(self.path), self.session, stamp.inode, stamp.size_bytes, stamp.changed_ns, stamp.changed_ns
        )


@value
class Swept:
    """What looking at the files brought."""

    files: int
    changed: int
    bytes_read: int


Progress = Callable[[int, int], None]
"""Told how many bytes of how many have been read."""


def sweep(
    database: PassageDatabase, transcripts: Iterable[SearchedTranscript], progress: Progress = lambda _done, _of: None
) -> Swept:
    """Bring the index up to these files; those that are not named any more are taken out."""
    indexed = database.files()
    present: dict[str, SearchedTranscript] = {}
    stale: list[tuple[SearchedTranscript, int]] = []
    for transcript in transcripts:
        with suppress(OSError):
            state = transcript.state()
            present[state.path] = transcript
            before = indexed.get(state.path)
            if before is None or _looks(before) != _looks(state) or before.read_to < state.size:
                stale.append((transcript, state.size))
    gone = [path for path in indexed if path not in present]
    reader = _Reader(database, progress, sum(size for _, size in stale))
    reader.drop(gone)
    for transcript, _ in stale:
        reader.read(transcript)
    if reader.has_dropped:
        database.purge()
    return Swept(len(present), len(stale) + len(gone), reader.bytes_read)


class _Reader:
    def __init__(self, database: PassageDatabase, progress: Progress, total_bytes: int) -> None:
        self._database = database
        self._progress = progress
        self._total_bytes = total_bytes
        self.bytes_read = 0
        self.has_dropped = False

    def drop(self, paths: list[str]) -> None:
        if paths:
            with self._database.writing():
                for path in paths:
                    self._database.drop(path)
            self.has_dropped = True

    def read(self, transcript: SearchedTranscript) -> None:
        """Index what a file has and the index has not."""
        if transcript.agent:
            with suppress(OSError, Damaged):
                self._read_whole(transcript)
            return
        with suppress(OSError), transcript.path.open("rb") as file:
            while self._read_batch(transcript, file):
                self._progress(self.bytes_read, self._total_bytes)

    def _read_whole(self, transcript: SearchedTranscript) -> None:
        """Index a session of another agent anew: what it says in one place may change what another place means."""
        now = transcript.state()
        entries = read_any_entries(transcript.path)
        passages = [each for number, entry in enumerate(entries) for each in _passages(spoken(entry), number, 0)]
        with self._database.writing():
            self.has_dropped |= self._database.file(now.path) is not None
            self._database.drop(now.path)
            self._database.add(replace(now, read_to=now.size), passages)
        self.bytes_read += now.size
        self._progress(self.bytes_read, self._total_bytes)

    def _read_batch(self, transcript: SearchedTranscript, file: BinaryIO) -> bool:
        """Index the next piece; whether there is more. The transaction begins before the state is looked at."""
        with self._database.writing():
            now = _state(transcript, os.fstat(file.fileno()))
            state = self._database.file(now.path)
            if state is not None and not _is_continued(state, now, file):
                self._database.drop(now.path)
                self.has_dropped = True
                state = None
            start = state.read_to if state else 0
            data = _read_whole_lines(file, start)
            passages = [
                each
                for at, line in _lines(data)
                for each in _passages(spoken(decode_line(line)), start + at, len(line))
            ]
            end = start + len(data)
            if data or state is None or _looks(state) != _looks(now):
                self._database.add(replace(now, read_to=end, ends=_ends(file, end)), passages)
        self.bytes_read += len(data)
        return bool(data) and end < now.size


def _state(transcript: SearchedTranscript, looks: os.stat_result) -> FileState:
    times = looks.st_mtime_ns, looks.st_ctime_ns
    return FileState(str(transcript.path), transcript.session, looks.st_ino, looks.st_size, *times)


def _looks(state: FileState) -> tuple[int, ...]:
    return state.inode, state.size, state.mtime_ns, state.ctime_ns


def _is_continued(indexed: FileState, now: FileState, file: BinaryIO) -> bool:
    if _looks(indexed) == _looks(now):
        return True
    is_longer = indexed.inode == now.inode and indexed.size < now.size
    return is_longer and _ends(file, indexed.read_to) == indexed.ends


def _ends(file: BinaryIO, end: int) -> bytes:
    """A digest of the first bytes of a file and of the last before a place."""
    file.seek(0)
    head = file.read(min(_END_BYTES, end))
    file.seek(max(0, end - _END_BYTES))
    tail = file.read(min(_END_BYTES, end))
    return hashlib.blake2b(head + tail, digest_size=16).digest()


def _read_whole_lines(file: BinaryIO, start: int) -> bytes:
    """The next whole lines, about a batch of them; a last one without its end only if it is a record already."""
    file.seek(start)
    data = file.read(BATCH_BYTES)
    while data and b"\n" not in data:
        more = file.read(BATCH_BYTES)
        if not more:
            break
        data += more
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    if rest and not file.read(1) and not isinstance(decode_line(rest), BadLine):
        return data
    return data[:end]


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for line in data.split(b"\n"):
        if line:
            yield at, line
        at += len(line) + 1


def _passages(record: SpokenRecord | None, start: int, size: int) -> Iterator[NewPassage]:
    if record is None:
        return
    moment = _moment(record)
    for part, text in enumerate(cut(record.text)):
        terms = lines_of_terms(text)
        if terms:
            yield NewPassage(start, size, part, record.role, moment, terms, _asking(record.role, text))


def _moment(record: SpokenRecord) -> int | None:
    try:
        return int(datetime.fromisoformat(record.when).timestamp())
    except (ValueError, OverflowError):
        return None


def _asking(role: str, text: str) -> float:
    """The share of a text that asks; what tools print is no question."""
    if role not in {"user", "assistant"} or ("?" not in text and "？" not in text):
        return 0.0
    return min(1.0, (text.count("?") + text.count("？")) * _QUESTION_CHARS / len(text))
