"""Whether it is time to dream: five gates, the cheapest first, asked at the end of every turn.

Switches, then the time since the last dream (one small file, one `stat`), then a pause between two counts of sessions,
then that count, then the lock. A proposal that waits for a person closes the second gate as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from reverie.amounts import format_count
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.lock import last_dream, read_dreamer, read_state
from reverie.memory.dream.proposal import has_proposal
from reverie.values import value

_CLOCK_ERROR = timedelta(days=1)
"""A time further ahead than this was written by a wrong clock, and would keep the gate closed for as long."""
_HEAD_BYTES = 262_144
"""The first words of a session come after its instructions; further in nobody needs to look to know that it is one."""
_SPOKEN = re.compile(rb'"type"\s*:\s*"user"')


class Gate(StrEnum):
    """What kept a dream from beginning."""

    enabled = "enabled"
    time = "time"
    proposal = "proposal"
    throttle = "throttle"
    sessions = "sessions"
    lock = "lock"


@value
class GateVerdict:
    """The answer of the gates."""

    closed: Gate | None
    """The first gate that is closed; None when all are open."""
    detail: str
    """Why, for people."""
    sessions: tuple[str, ...] = ()
    """The sessions since the last dream, where they were counted."""

    @property
    def is_open(self) -> bool:
        return self.closed is None


@dataclass(slots=True)
class DreamGates:
    """The gates of one directory, as one process asks them."""

    folder: MemoryFolder
    sessions_since: Callable[[datetime | None], tuple[str, ...]]
    """Lists the other sessions that changed since a moment: the costly question."""
    off: str = ""
    """Why there are no automatic dreams at all; empty when there are."""
    min_hours: float = 24.0
    min_sessions: int = 5
    scan_interval_minutes: float = 10.0
    lock_stale_minutes: float = 60.0
    _counted: datetime | None = field(default=None, init=False)

    def ask(self, now: datetime) -> GateVerdict:
        """Whether to dream now."""
        if self.off:
            return GateVerdict(Gate.enabled, self.off)
        last = last_dream(self.folder)
        state = read_state(self.folder)
        times = [time for time in (last, state.settled) if time is not None and time - now < _CLOCK_ERROR]
        since = max(times, default=None)
        if since is not None and now - since < timedelta(hours=self.min_hours):
            hours = max(0.0, (now - since).total_seconds() / 3600)
            return GateVerdict(Gate.time, f"the last dream was {hours:.1f} hours ago; {self.min_hours:g} must pass")
        if has_proposal(self.folder):
            return GateVerdict(Gate.proposal, "a proposal is pending: run `reverie dream --review`")
        if state.retry_after is not None and now < state.retry_after < now + _CLOCK_ERROR:
            return GateVerdict(
                Gate.throttle, f"the last dream failed; the next try is at {state.retry_after:%Y-%m-%d %H:%M}"
            )
        if self._counted is not None and now - self._counted < timedelta(minutes=self.scan_interval_minutes):
            minutes = f"{self.scan_interval_minutes:g} minutes"
            return GateVerdict(Gate.throttle, f"sessions were counted less than {minutes} ago and were too few")
        sessions = self.sessions_since(last)
        if len(sessions) < self.min_sessions:
            self._counted = now
            count = format_count(len(sessions), "other session")
            reason = f"{count} since the last dream; at least {self.min_sessions} needed"
            return GateVerdict(Gate.sessions, reason, sessions)
        self._counted = None
        dreamer = read_dreamer(self.folder, now=now, stale_minutes=self.lock_stale_minutes)
        if dreamer:
            return GateVerdict(Gate.lock, f"a dream is already running: {dreamer}", sessions)
        return GateVerdict(None, "it is time to dream", sessions)


def list_sessions_since(
    folders: Iterable[Path], since: datetime | None, *, current: str | None = None
) -> tuple[str, ...]:
    """The ids of sessions that changed after a moment, the newest first; without the current one and empty ones."""
    changed: dict[str, float] = {}
    after = since.timestamp() if since is not None else float("-inf")
    for folder in folders:
        for path in folder.glob("*.jsonl"):
            if path.stem == current or path.name.startswith("agent-"):
                continue
            with suppress(OSError):
                looks = path.stat()
                if looks.st_mtime > after and looks.st_size and _is_spoken(path):
                    changed[path.stem] = max(looks.st_mtime, changed.get(path.stem, 0.0))
    return tuple(sorted(changed, key=lambda session: (-changed[session], session)))


def _is_spoken(path: Path) -> bool:
    with path.open("rb") as file:
        return _SPOKEN.search(file.read(_HEAD_BYTES)) is not None
