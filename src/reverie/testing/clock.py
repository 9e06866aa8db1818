"""A settable clock, and a sleep that only advances it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

MORNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""An ordinary Monday."""


@dataclass(slots=True)
class SettableClock:
    """Stands still until told otherwise."""

    time: datetime = MORNING
    slept: list[float] = field(default_factory=list)
    """Every wait that was asked for, in seconds."""

    def now(self) -> datetime:
        """The moment at which the clock stands."""
        return self.time

    def advance(self, **amount: float) -> None:
        """Move on: `clock.advance(minutes=6)`; the names are those of `timedelta`."""
        self.time += timedelta(**amount)

    async def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
        self.slept.append(seconds)
        self.advance(seconds=seconds)
