from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from reverie.apps.cli.options import read_moment
from tests.requirements import requirement

NOW = datetime.fromisoformat("2026-11-16T14:30")
"""A Monday, in the zone of the machine, which dates without one are in."""


@requirement("cli:dates:human")
@pytest.mark.parametrize(
    ("said", "begins", "ends"),
    [
        ("today", "2026-11-16", "2026-11-16"),
        ("Yesterday", "2026-11-15", "2026-11-15"),
        ("3 days ago", "2026-11-13", "2026-11-13"),
        ("a week ago", "2026-11-09", "2026-11-09"),
        ("last  week", "2026-11-09", "2026-11-09"),
        ("monday", "2026-11-09", "2026-11-09"),
        ("last fri", "2026-11-13", "2026-11-13"),
        ("on tuesday", "2026-11-10", "2026-11-10"),
        ("1 march", "2026-03-01", "2026-03-01"),
        ("March 1st, 2025", "2025-03-01", "2025-03-01"),
        ("24 dec", "2025-12-24", "2025-12-24"),
        ("march", "2026-03-01", "2026-03-31"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2026-03-01", "2026-03-01", "2026-03-01"),
    ],
)
def test_a_day_or_a_month_stands_for_its_beginning_or_its_end(said: str, begins: str, ends: str) -> None:
    assert read_moment(said, NOW, ends=False) == datetime.fromisoformat(begins)
    assert read_moment(said, NOW, ends=True) == datetime.fromisoformat(ends) + timedelta(days=1, seconds=-1)


@requirement("cli:dates:human")
@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("now", NOW),
        ("an hour ago", NOW - timedelta(hours=1)),
        ("30 minutes ago", NOW - timedelta(minutes=30)),
        ("2026-03-01T12:30:00", datetime.fromisoformat("2026-03-01T12:30")),
        ("2026-03-01 12:30", datetime.fromisoformat("2026-03-01T12:30")),
    ],
)
def test_a_moment_is_itself(said: str, moment: datetime) -> None:
    assert read_moment(said, NOW, ends=True) == moment


@requirement("cli:dates:human")
@pytest.mark.parametrize("said", ["", "soon", "30 february", "2026-13-01", "ma", "marchy", "0 ago", "99999 days ago"])
def test_anything_else_is_no_date(said: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        read_moment(said, NOW, ends=True)
