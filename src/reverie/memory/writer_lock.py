"""One writer per memory directory: an advisory lock that a killed holder gives up by dying.

The lock file also tells who holds it, and its time is the disk's own idea of now.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reverie.errors import Conflict

LOCK_FILE = ".reverie-lock"
_POLL_SECONDS = 0.003


@contextmanager
def writer_lock(directory: Path, *, timeout_seconds: float) -> Iterator[int]:
    """Hold the directory's lock; gives the disk's present time in nanoseconds.

    Raises:
        Conflict: somebody else held it for the whole time.
    """
    path = directory / LOCK_FILE
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _wait(handle, path, timeout_seconds)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield os.fstat(handle).st_mtime_ns
    finally:
        os.close(handle)


def _wait(handle: int, path: Path, timeout_seconds: float) -> None:
    until = time.monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                holder = "somebody"
                with suppress(OSError):
                    holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or holder
                raise Conflict(
                    f"{path.parent} is being written by {holder}; waited {timeout_seconds:g} s, try again later"
                ) from None
            time.sleep(_POLL_SECONDS)
        else:
            return
