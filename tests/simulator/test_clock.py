from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.testing.clock import MORNING, SettableClock
from reverie_simulator.clock import FileClock, MovableClock, parse_moment


def test_it_goes_with_the_clock_below_and_can_run_ahead() -> None:
    below = SettableClock()
    clock = MovableClock(below)
    clock.advance(minutes=5)

    below.advance(minutes=1)

    assert clock.now() == MORNING + timedelta(minutes=6)


def test_once_set_it_stands_still() -> None:
    below = SettableClock()
    clock = MovableClock(below)
    clock.set(MORNING + timedelta(days=1))

    below.advance(hours=1)

    assert clock.now() == MORNING + timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-02T09:00:00Z", MORNING),
        (" 2026-03-02T09:00:00\n", MORNING),
        ("2026-03-02T10:00:00+01:00", MORNING),
        ("1772442000", MORNING),
        ("1772442000.5", MORNING + timedelta(seconds=0.5)),
        ("2026-03-02", datetime(2026, 3, 2, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_iso_or_as_seconds(text: str, moment: datetime) -> None:
    assert parse_moment(text, "here") == moment


@pytest.mark.parametrize("text", ["", "noon", "1e30", "nan"])
def test_what_is_no_time_is_named(text: str) -> None:
    with pytest.raises(UserMistake, match=r"^here holds .* which is no time"):
        parse_moment(text, "here")


def test_a_file_is_read_at_every_question_and_a_half_written_one_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "clock"
    path.write_text("2026-03-02T09:00:00Z", encoding="utf-8")
    clock = FileClock(path)

    path.write_text("2026-03-02T", encoding="utf-8")
    half = clock.now()
    path.write_text("2026-03-02T10:00:00Z", encoding="utf-8")

    assert (half, clock.now()) == (MORNING, MORNING.astimezone(timezone(timedelta(hours=1))) + timedelta(hours=1))


def test_a_missing_clock_file_is_a_mistake_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UserMistake, match="cannot be read"):
        FileClock(tmp_path / "missing")
