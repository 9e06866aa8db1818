"""The lock that allows one dream at a time, and the time of the last successful dream; one file each.

The lock (`O_EXCL`, with holder, host and start) ends with its process or after an hour; the time of the last success
is written only when there was one, so a crash leaves no hole. Where a host agent keeps its `.consolidate-lock`, a live
one is respected, and its time (the host's clock of the last consolidation) is moved only by a dream that succeeded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reverie.errors import Conflict
from reverie.files import Holder, exclusive, is_gone, read_holder, write_atomic
from reverie.files.durable import translate_os_errors
from reverie.files.places.paths import MemoryFolder
from reverie.values import value

STALE_MINUTES = 60.0
_HOST_LOCK_MODE = 0o644


@value
class DreamState:
    """What is remembered of dreams, apart from the lock."""

    last_success: datetime | None = None
    """When a dream last ended well: applied, or with nothing to do."""
    settled: datetime | None = None
    """When a proposal was last discarded: nobody wants the same one again at once."""
    logs: Mapping[str, int] = field(default_factory=dict)
    """How many bytes of each daily log have become topics."""
    failed: datetime | None = None
    """When a dream last failed or was killed; None since the last success."""
    failures: int = 0
    """How many in a row."""
    offered: Mapping[str, str] = field(default_factory=dict)
    """Topics for which a model was asked to write `asks`, each with the hash of its text then."""

    def succeeded(
        self, now: datetime, logs: Mapping[str, int] | None = None, offered: Mapping[str, str] | None = None
    ) -> DreamState:
        """After a dream that ended well."""
        return DreamState(now, self.settled, {**self.logs, **(logs or {})}, offered={**self.offered, **(offered or {})})

    def failing(self, now: datetime) -> DreamState:
        """After one that did not."""
        return replace(self, failed=now, failures=self.failures + 1)

    @property
    def retry_after(self) -> datetime | None:
        """Before this nobody tries again by itself: each failure in a row doubles the wait, up to a day."""
        if self.failed is None:
            return None
        return self.failed + min(timedelta(hours=24), timedelta(hours=2.0 ** (self.failures - 1)))


@value
class HostLock:
    """A host agent's own lock: its time is that of the host's last consolidation."""

    pid: int | None
    when: datetime

    def is_held(self, now: datetime, stale_minutes: float) -> bool:
        """Whether the host dreams at this moment."""
        is_young = now - self.when < timedelta(minutes=stale_minutes)
        return self.pid is not None and is_young and _lives(self.pid)


@value
class DreamLock:
    """The right to dream."""

    folder: MemoryFolder
    holder: Holder
    stale_minutes: float = STALE_MINUTES

    def check(self, now: datetime | None = None) -> None:
        """Make sure that nobody took the lock over meanwhile, as is right after an hour, and that no host began.

        Raises:
            Conflict: somebody did; what this dream found must not be written.
        """
        if read_holder(self.folder.dream_lock) != self.holder:
            raise Conflict(
                f"this dream on {self.folder.directory} lost its lock to another one; its changes are discarded"
            )
        _refuse_hosts(self.folder, now or self.holder.since, self.stale_minutes)


@contextmanager
def dreaming(folder: MemoryFolder, *, now: datetime, stale_minutes: float = STALE_MINUTES) -> Iterator[DreamLock]:
    """Hold the right to dream on a directory.

    Raises:
        Conflict: somebody else dreams, here or in a host agent.
    """
    with exclusive(folder.dream_lock, label="dreaming", now=now, stale_after_seconds=60 * stale_minutes) as holder:
        _refuse_hosts(folder, now, stale_minutes)
        yield DreamLock(folder, holder, stale_minutes)


def _refuse_hosts(folder: MemoryFolder, now: datetime, stale_minutes: float) -> None:
    host = read_host_lock(folder)
    if host is not None and host.is_held(now, stale_minutes):
        raise Conflict(f"a host agent (process {host.pid}) is consolidating {folder.directory}; try again later")


def read_dreamer(folder: MemoryFolder, *, now: datetime, stale_minutes: float = STALE_MINUTES) -> str:
    """Who dreams at this moment, in words; empty when nobody does. Takes nothing."""
    holder = read_holder(folder.dream_lock)
    if holder is not None and not is_gone(holder, now) and now - holder.since <= timedelta(minutes=stale_minutes):
        return str(holder)
    host = read_host_lock(folder)
    return f"a host agent (process {host.pid})" if host is not None and host.is_held(now, stale_minutes) else ""


def read_state(folder: MemoryFolder) -> DreamState:
    """What is remembered of dreams; an unreadable file remembers nothing."""
    try:
        row: dict[str, Any] = json.loads(folder.dream_state.read_bytes())
        return DreamState(
            _moment(row.get("last_success")),
            _moment(row.get("settled")),
            {str(day): int(size) for day, size in (row.get("logs") or {}).items()},
            _moment(row.get("failed")),
            int(row.get("failures") or 0),
            {str(path): str(digest) for path, digest in (row.get("offered") or {}).items()},
        )
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return DreamState()


def write_state(folder: MemoryFolder, state: DreamState) -> None:
    """Remember."""
    row = {
        "last_success": state.last_success and state.last_success.isoformat(),
        "settled": state.settled and state.settled.isoformat(),
        "logs": dict(state.logs),
        "failed": state.failed and state.failed.isoformat(),
        "failures": state.failures,
        "offered": dict(state.offered),
    }
    write_atomic(folder.dream_state, json.dumps(row))


def last_dream(folder: MemoryFolder) -> datetime | None:
    """When the directory was last put in order, by us or by a host agent that is not doing so just now."""
    host = read_host_lock(folder)
    times = [read_state(folder).last_success, host.when if host is not None else None]
    return max((time for time in times if time is not None), default=None)


def read_host_lock(folder: MemoryFolder) -> HostLock | None:
    """The host agent's lock as it stands."""
    try:
        handle = os.open(folder.host_dream_lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        words = file.read(64).split()
        when = datetime.fromtimestamp(os.fstat(handle).st_mtime, tz=UTC)
    is_pid = bool(words) and words[0].isdigit() and int(words[0]) > 0
    return HostLock(int(words[0]) if is_pid else None, when)


def write_host_time(
    folder: MemoryFolder,
    when: datetime,
    *,
    is_hosts: bool = False,
    stale_minutes: float = STALE_MINUTES,
) -> None:
    """Tell a host agent that the directory was put in order now, where one keeps such a clock (`is_hosts`: or would).

    The file is emptied, so nobody is its holder, and then dated: killed in between it tells of this moment, at which
    the dream is committed. One that a host holds at this moment is left to it.
    """
    standing = read_host_lock(folder)
    if (standing is None and not is_hosts) or (standing is not None and standing.is_held(when, stale_minutes)):
        return
    place = folder.host_dream_lock
    with translate_os_errors("write", place):
        if place.is_symlink():
            place.unlink()
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, _HOST_LOCK_MODE)
        try:
            os.ftruncate(handle, 0)
            os.utime(handle, (when.timestamp(), when.timestamp()))
        finally:
            os.close(handle)


def recover_state(state: DreamState, last_commit: Callable[[], datetime | None]) -> DreamState:
    """The state, with a success that was committed but not written down because the process was killed in between."""
    committed = last_commit()
    if committed is None or (state.last_success is not None and state.last_success >= committed):
        return state
    return replace(state, last_success=committed)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _moment(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None
