"""Output of a shell command: complete in a file, head and tail in memory.

A command that prints more than the disk should bear goes on, and the rest is counted and dropped. Whatever still holds
the other end after the command itself is gone (a server in the background) is read on, so that it does not break.

`KeyMask` masks our provider keys in a stream of bytes, also where a key is split between chunks.
"""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from reverie.context.spill import shell_preview
from reverie.files.durable import write_folder

FILE_BYTES = 64 * 1024 * 1024
"""Most of a command's output that its file holds."""
HEAD_BYTES = 256 * 1024
TAIL_BYTES = 128 * 1024
LONGEST_CHARACTER_BYTES = 4
"""Fewer may be one that is only half printed."""
_CHUNK_BYTES = 65_536
_PROGRESS_SECONDS = 0.1
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_TOLD_BYTES = 4_096


class ShellOutput:
    """The output of one command, read from a pipe by the running loop."""

    def __init__(self, path: Path, progress: Callable[[str], None], keys: Iterable[str] = ()) -> None:
        """`keys` are never kept or shown."""
        self.path = path
        self._mask = KeyMask(keys)
        self.total_bytes = 0
        self.kept_bytes = 0
        """How much of it is in the file."""
        self._lines = 0
        self._has_room = True
        self.is_closed = asyncio.Event()
        self._progress = progress
        self._told_at = 0.0
        self._head = bytearray()
        self._tail = bytearray()
        write_folder(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        self._receiving, self.sending = os.pipe()
        os.set_blocking(self._receiving, False)
        asyncio.get_running_loop().add_reader(self._receiving, self._receive)

    def close_sending_end(self) -> None:
        """The command has its own end of the pipe; ours would keep it open for ever."""
        os.close(self.sending)

    def mute(self) -> None:
        """Nobody listens to progress any more."""
        self._progress = lambda _line: None

    def close(self) -> None:
        """Stop reading, whoever still writes."""
        if not self.is_closed.is_set():
            asyncio.get_running_loop().remove_reader(self._receiving)
            os.close(self._receiving)
            self._keep(self._mask.rest())
            os.close(self._file)
            self.is_closed.set()

    def whole(self, limit_chars: int) -> str | None:
        """Everything that was printed; None when it is longer than this, or not all of it was kept."""
        if self.total_bytes <= len(self._head):
            text = plain(bytes(self._head))
        elif self.total_bytes <= min(self.kept_bytes, limit_chars * LONGEST_CHARACTER_BYTES):
            text = plain(self.path.read_bytes())
        else:
            return None
        return text if len(text) <= limit_chars else None

    def preview(self, limit_bytes: int) -> str:
        """Both ends of what was printed, and the file that has all of it."""
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            while data := file.read(_CHUNK_BYTES):
                digest.update(data)
        return shell_preview(
            plain(bytes(self._head)),
            plain(bytes(self._tail)),
            path=self.path,
            sha256=digest.hexdigest(),
            size_bytes=self.total_bytes,
            kept_bytes=self.kept_bytes,
            lines=self._lines + 1,
            limit_bytes=limit_bytes,
        )

    def move(self, path: Path) -> None:
        """Keep the file at another place from now on."""
        write_folder(path.parent)
        self.path = self.path.rename(path)

    def read_from(self, offset: int) -> tuple[bytes, int]:
        """The bytes in the file from a place on, up to the last whole character, and the place after them."""
        with self.path.open("rb") as file:
            file.seek(offset)
            data = file.read(HEAD_BYTES)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        decoder.decode(data)
        whole = len(data) - len(decoder.getstate()[0])
        return data[:whole], offset + whole

    def _receive(self) -> None:
        try:
            data = os.read(self._receiving, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not data:
            self.close()
            return
        data = self._mask.mask(data)
        self._keep(data)
        self._tell(data)

    def _keep(self, data: bytes) -> None:
        self._write(data[: FILE_BYTES - self.kept_bytes])
        self._head += data[: max(0, HEAD_BYTES - len(self._head))]
        self._tail += data
        del self._tail[:-TAIL_BYTES]
        self.total_bytes += len(data)
        self._lines += data.count(b"\n")

    def _write(self, data: bytes) -> None:
        try:
            while data and self._has_room:
                written = os.write(self._file, data)
                self.kept_bytes += written
                data = data[written:]
        except OSError:
            # A full disk ends the copy, not the command. Nothing may follow the gap.
            self._has_room = False

    def _tell(self, data: bytes) -> None:
        if time.monotonic() - self._told_at < _PROGRESS_SECONDS:
            return
        lines = [line for line in plain(data[-_TOLD_BYTES:]).split("\n") if line.strip()]
        if lines:
            self._told_at = time.monotonic()
            self._progress(lines[-1].strip()[:200])


def plain(data: bytes) -> str:
    """Printed bytes as a reader sees them: no colours, and of a line that was written over only the last state."""
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    if "\r" in text:
        text = "\n".join(map(_last_state, text.split("\n")))
    return text.replace("\0", "�")


def _last_state(line: str) -> str:
    """A line as it stands at its end; what was written over is gone."""
    return line.rstrip("\r").rpartition("\r")[2]


KEY_MASK = "[key]"
"""What stands in the place of a key."""


class KeyMask:
    """One stream on its way."""

    def __init__(self, keys: Iterable[str]) -> None:
        # A key that begins another one comes after it, or the end of the longer one would stay.
        self._keys = sorted((key.encode("utf-8", "surrogateescape") for key in keys if key), key=len, reverse=True)
        self._held = b""

    def mask(self, data: bytes) -> bytes:
        """What may be shown by now; the beginning of a key is held back until it is known to be none."""
        data = self._held + data
        for key in self._keys:
            data = data.replace(key, KEY_MASK.encode())
        self._held = max((_beginning(key, data) for key in self._keys), key=len, default=b"")
        return data[: len(data) - len(self._held)]

    def rest(self) -> bytes:
        """What was held back, at the end of the stream."""
        tail, self._held = self._held, b""
        return tail


def _beginning(key: bytes, data: bytes) -> bytes:
    """The longest end of the data with which the key begins."""
    longest = min(len(key) - 1, len(data))
    return next((key[:size] for size in range(longest, 0, -1) if data.endswith(key[:size])), b"")
