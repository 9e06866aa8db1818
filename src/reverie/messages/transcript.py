"""The transcript file: one JSON line per entry, append-only.

`Transcript` is the one writer of a session. A second writer of the same session is refused with `Conflict`;
`open_or_fork` gives it a copy under a new id instead. Appending goes through `files`, so that a kill tears at most the
line that is being written; a torn last line is set apart, never joined to ours. Reading never fails on content.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from reverie.errors import Conflict, UserMistake
from reverie.files import append_lines, flush, locked
from reverie.files.durable import translate_os_errors
from reverie.messages.entries import Entry
from reverie.messages.fork import write_fork
from reverie.messages.records import decode_lines, encode_line


def read_entries(path: Path) -> list[Entry]:
    """All entries of a transcript file, ours or another writer's."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise UserMistake(f"{path} is a pipe or a device, not a transcript; copy it to a file first")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserMistake(f"no transcript at {path}; run `reverie sessions` for a list") from None
    except IsADirectoryError:
        raise UserMistake(f"{path} is a directory, not a transcript; name a .jsonl file in it") from None
    return list(decode_lines(data))


class Transcript:
    """One session's file, open for appending by this process alone. Use as a context manager."""

    def __init__(self, path: Path, entries: list[Entry], lock: ExitStack) -> None:
        self.path = path
        self._entries = entries
        self._lock = lock
        self._is_flushed = True

    @classmethod
    def open(cls, path: Path, *, now: datetime, label: str = "session") -> Self:
        """Take the session for writing, reading what it holds; a new file is made by the first append.

        Raises `Conflict` when another process writes it.
        """
        lock = ExitStack()
        lock.enter_context(locked(lock_path(path), label=label, now=now, timeout_seconds=0))
        try:
            entries = read_entries(path) if path.exists() else []
        except BaseException:
            lock.close()
            raise
        return cls(path, entries, lock)

    @property
    def session(self) -> str:
        """The session's id, which is the name of its file."""
        return self.path.stem

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything in the file so far."""
        return tuple(self._entries)

    def append(self, *entries: Entry, durable: bool = True) -> None:
        """Write entries to the end; when this returns they survive the end of this process, if durable also of the
        machine.

        The first hangs under the present leaf, each further one under the one before it.
        """
        append_lines(self.path, (encode_line(entry) for entry in entries), durable=durable)
        self._entries.extend(entries)
        self._is_flushed = durable

    def flush(self) -> None:
        """Let everything that was appended survive the end of the machine. Waits for the disk: call it in a thread."""
        if not self._is_flushed:
            self._is_flushed = True
            with translate_os_errors("flush", self.path):
                flush((self.path,))

    def close(self) -> None:
        """Flush the session and release the lock on it."""
        with self._lock:
            self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_or_fork(path: Path, *, now: datetime, new_id: Callable[[], str], label: str = "session") -> Transcript:
    """Take a session for writing; when somebody else writes it, take a fork of it under a new id."""
    try:
        return Transcript.open(path, now=now, label=label)
    except Conflict:
        copy = write_fork(path, now=now, new_id=new_id)
        return Transcript.open(copy, now=now, label=label)


def lock_path(transcript: Path) -> Path:
    """The lock file of a session."""
    return transcript.with_suffix("") / "writer.lock"
