"""Packs the git repository in the background, one process at a time, when there are many small packs.

An erasing ends here too, by removing what no branch holds any more.
With thousands of files in one folder every commit writes a large tree; packed, such trees differ by a few bytes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.errors import Unavailable
from reverie.memory.store.history import History

PACKS_AT_MOST = 50
"""Every commit is a small pack of its own; more of them slow every reading, so they are made into one."""
UNFINISHED = "erasing"
"""The note that a rewritten history has taken its place and the old one is still to be removed."""
_REPACK = ("repack", "-d", "-q", "--geometric=2", "--window=4", "--depth=50", "--threads=1")
_DETACHED = '(nice "$@"; rm -rf "$GIT_DIR") </dev/null >/dev/null 2>&1 &'
"""The shell ends at once and git goes on alone; the lock passes to it as an open file."""


def pack_when_due(history: History) -> None:
    """Start a packing in the background if enough has gathered and none is running."""
    if not history.is_on or _count_packs(history) <= PACKS_AT_MOST:
        return
    handle = _take(history, wait=False)
    if handle is None:
        return
    import subprocess
    import tempfile

    try:
        git = history.git
        subprocess.run(
            ["/bin/sh", "-c", _DETACHED, "sh", *git.command(*_REPACK)],
            env=git.detached_environment(Path(tempfile.mkdtemp(prefix="reverie-git-"))),
            pass_fds=(handle,),
            check=False,
        )
    finally:
        os.close(handle)


def pack(history: History) -> None:
    """Pack everything now, and wait for it."""
    with packing_stopped(history):
        history.git.run(*_REPACK)


@contextmanager
def packing_stopped(history: History) -> Iterator[None]:
    """Wait for a packing under way and let no other begin."""
    handle = _take(history, wait=True)
    if handle is None:
        raise Unavailable(f"cannot lock {history.git.directory} for repacking")
    try:
        yield
    finally:
        os.close(handle)


def finish_erasing(history: History) -> None:
    """Remove what an erasing, also an interrupted one, left of the old history and of the derived index.

    Only under the writer's lock and with packing stopped.
    """
    from reverie.memory.store.git.rewrite import purge

    purge(history.git)
    shutil.rmtree(history.folder.search_index, ignore_errors=True)
    (history.private / UNFINISHED).unlink(missing_ok=True)


def _count_packs(history: History) -> int:
    return sum(1 for _ in (history.git.directory / "objects" / "pack").glob("*.pack"))


def _take(history: History, *, wait: bool) -> int | None:
    handle = os.open(history.private / "packing", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
