"""The simulator's time: that of another clock, moved by hand, or read from a file."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie.errors import UserMistake
from reverie.models.ports import Clock


class MovableClock:
    """Goes with another clock until it is set; from then on it stands where it was put."""

    def __init__(self, base: Clock) -> None:
        self._base = base
        self._ahead = timedelta()
        self._set_to: datetime | None = None

    def now(self) -> datetime:
        """The present moment of the simulation."""
        return (self._base.now() if self._set_to is None else self._set_to) + self._ahead

    def set(self, moment: datetime) -> None:
        """Stop at a moment."""
        self._set_to, self._ahead = moment, timedelta()

    def advance(self, **amount: float) -> None:
        """Move on: `clock.advance(minutes=6)`; the names are those of `timedelta`."""
        self._ahead += timedelta(**amount)


class FileClock:
    """Reads the time from a file at every question, so that a test moves it by writing the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = parse_moment(_read(path), str(path))

    def now(self) -> datetime:
        """What the file says; the last readable time while it is being written."""
        with suppress(UserMistake):
            self._last = parse_moment(_read(self._path), str(self._path))
        return self._last


def parse_moment(text: str, source: str) -> datetime:
    """A time as ISO 8601 or as seconds since 1970; without a zone it is UTC. Raises `UserMistake`."""
    text = text.strip()
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(float(text), UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserMistake(
            f"{source} holds {text[:40]!r}, which is no time. Write it like 2026-03-02T09:00:00Z or as seconds since "
            "1970."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UserMistake(f"The clock file {path} cannot be read: {problem}. Write a time into it.") from problem
