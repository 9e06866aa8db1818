"""Locks between processes: advisory locks for short work, lock files for long work.

`locked` is a kernel lock that ends with its process; `exclusive` is a file that anyone can see and that outlives a
crash, so a stale one is recognised by host, process and age. Both say who holds them. Waiting and giving up are the
caller's choice; what the lock protects is the caller's matter.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from reverie.errors import Conflict
from reverie.files.durable import (
    PRIVATE_FILE_MODE,
    is_at,
    temporary_beside,
    translate_os_errors,
    write_folder,
    write_new,
)
from reverie.values import value

_OPEN_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_HOLDER_BYTES = 4096
_HEAD_PAUSE_SECONDS = 0.002
_QUEUE_PAUSE_SECONDS = 0.006


@value
class Holder:
    """Who holds a lock."""

    label: str
    """What the holder is doing, for the message that others read."""
    since: datetime
    pid: int
    host: str
    pid_space: str
    """The numbering its pid belongs to: containers of one host count on their own, and only insiders can ask."""
    process_started: str
    """When that process started, as its system says it: tells a reused pid from the same process."""

    def __str__(self) -> str:
        return f"{self.label} (process {self.pid} on {self.host}) since {self.since:%Y-%m-%d %H:%M:%S%z}"


@contextlib.contextmanager
def locked(path: Path, *, label: str, now: datetime, timeout_seconds: float = 10.0) -> Iterator[None]:
    """Hold the kernel's lock on this file, waiting for it up to the time-out.

    The file stays afterwards, and beside it one for the queue; they must lie where nobody removes them.

    Raises:
        Conflict: somebody else still holds it; the message names the holder.
    """
    deadline = time.monotonic() + timeout_seconds
    with translate_os_errors("lock", path):
        write_folder(path.parent)
        descriptor = _open_in_turn(path, deadline)
    try:
        # The holder is only for messages: a full disk must not keep anybody from locking.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, _encode(present_holder(label, now)), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


@contextlib.contextmanager
def exclusive(path: Path, *, label: str, now: datetime, stale_after_seconds: float | None = None) -> Iterator[Holder]:
    """Hold this lock file, taking over a stale one; it appears complete with its holder and is removed at the end.

    Stale is a lock whose process on this host is gone, or which is older than `stale_after_seconds` whoever holds it.

    Raises:
        Conflict: it is held; the message names holder, host and since when.
    """
    me = present_holder(label, now)
    with translate_os_errors("lock", path):
        write_folder(path.parent)
        _take(path, me, stale_after_seconds)
    try:
        yield me
    finally:
        with translate_os_errors("unlock", path):
            _give_back(path, me)


def read_holder(path: Path) -> Holder | None:
    """Who is written in this lock file; None when nobody is or it cannot be told."""
    try:
        return _decode(path.read_bytes()[:_HOLDER_BYTES])
    except OSError:
        return None


def present_holder(label: str, now: datetime) -> Holder:
    """This process as a holder, for records of work that others may want to know the end of."""
    pid = os.getpid()
    return Holder(label, now, pid, *_facts_of(pid))


def is_gone(holder: Holder, now: datetime) -> bool:
    """Whether a holder's process has ended; of another host, or another numbering of processes, nobody here knows."""
    return _is_stale(holder, present_holder("", now), None)


def _open_in_turn(path: Path, deadline: float) -> int:
    """Open and lock the file, letting those go first who already wait.

    Whoever waits holds a second lock meanwhile, which the next must have before it may try: a process that locks again
    and again would otherwise starve the others, since it is always the first to see its own lock free.
    """
    queue = _open_locked(path.with_name(f"{path.name}.queue"), deadline, _QUEUE_PAUSE_SECONDS)
    if queue is None:
        raise Conflict(_describe_holder(path, read_holder(path)))
    try:
        descriptor = _open_locked(path, deadline, _HEAD_PAUSE_SECONDS)
    finally:
        os.close(queue)
    if descriptor is None:
        raise Conflict(_describe_holder(path, read_holder(path)))
    return descriptor


def _open_locked(path: Path, deadline: float, pause_seconds: float) -> int | None:
    """Open and lock the file that is at the path: while we waited, another may have been put in its place."""
    while True:
        descriptor = os.open(path, _OPEN_FLAGS | os.O_CREAT, PRIVATE_FILE_MODE)
        try:
            is_locked = _flock_until(descriptor, deadline, pause_seconds)
            if is_locked and is_at(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not is_locked:
            return None


def _flock_until(descriptor: int, deadline: float, pause_seconds: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            chance = os.urandom(1)[0] / 255  # or those who wait in step would always come in the same order
            time.sleep(pause_seconds * (0.5 + chance))
        else:
            return True


def _take(path: Path, me: Holder, stale_after_seconds: float | None) -> None:
    """Put our file at the path: by link, which fails when one is there, or over a stale one that we hold still.

    Whoever judges, replaces or removes a lock file holds the kernel's lock on that very file meanwhile, so nobody
    replaces what somebody else has just taken over.
    """
    ours = temporary_beside(path)
    try:
        write_new(ours, _encode(me), durable=False)  # after a power cut nobody holds it
        while True:
            with contextlib.suppress(FileExistsError):
                os.link(ours, path)
                return
            with _lock_and_read(path) as content:
                if content is None:
                    continue
                holder = _decode(content)
                if holder is None or not _is_stale(holder, me, stale_after_seconds):
                    raise Conflict(_describe_holder(path, holder))
                ours.replace(path)
                return
    finally:
        ours.unlink(missing_ok=True)


def _give_back(path: Path, me: Holder) -> None:
    with _lock_and_read(path) as content:
        if content == _encode(me):
            path.unlink()


@contextlib.contextmanager
def _lock_and_read(path: Path) -> Iterator[bytes | None]:
    """The content of the lock file while nobody may change it; None when it vanished or was replaced meanwhile."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError:
        yield None
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield os.pread(descriptor, _HOLDER_BYTES, 0) if is_at(path, descriptor) else None
    finally:
        os.close(descriptor)


def _is_stale(holder: Holder, me: Holder, stale_after_seconds: float | None) -> bool:
    if stale_after_seconds is not None and (me.since - holder.since).total_seconds() > stale_after_seconds:
        return True
    if (holder.host, holder.pid_space) != (me.host, me.pid_space):
        return False
    return _read_process_start(holder.pid) != holder.process_started


def _describe_holder(path: Path, holder: Holder | None) -> str:
    who = str(holder) if holder is not None else "another program"
    return f"{path} is held by {who}; try again later, or delete the file if that process is gone"


@functools.lru_cache(maxsize=1)
def _facts_of(own_pid: int) -> tuple[str, str, str]:
    """Host, pid space and start of this process; asked for anew after a fork."""
    return os.uname().nodename, _pid_space(), _read_process_start(own_pid) or ""


def _encode(holder: Holder) -> bytes:
    return json.dumps(asdict(holder) | {"since": holder.since.isoformat()}).encode() + b"\n"


def _decode(content: bytes) -> Holder | None:
    try:
        fields = json.loads(content)
        return Holder(
            label=str(fields["label"]),
            since=datetime.fromisoformat(fields["since"]),
            pid=int(fields["pid"]),
            host=str(fields["host"]),
            pid_space=str(fields["pid_space"]),
            process_started=str(fields["process_started"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _read_process_start(pid: int) -> str | None:
    """When the process started; None when there is no such process, or only what is left of one."""
    return _read_start_by_proc(pid) if sys.platform == "linux" else _read_start_by_ps(pid)


def _read_start_by_proc(pid: int) -> str | None:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # proc(5): the program's name stands in brackets and may hold anything; state is field 3, start field 22.
    fields = status.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{boot} {fields[19]}"


def _read_start_by_ps(pid: int) -> str | None:
    import subprocess  # costs more to import than the rest of this package

    command = ("ps", "-o", "stat=,lstart=", "-p", str(pid))
    shown = subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "TZ": "UTC"})
    state, _, started = shown.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()


def _pid_space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
