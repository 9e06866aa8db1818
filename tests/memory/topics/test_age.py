from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.topics.age import age_days, age_warning, age_words, header, is_expired, is_old
from reverie.memory.topics.anchors import AnchorCheck, AnchorState, FileAnchor, SymbolAnchor
from reverie.memory.topics.topic import MemoryType, Topic, Trust
from reverie.settings.tree import AgeSettings
from tests.requirements import requirement

NOW = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
TOPIC = Topic("project_auth.md", "Auth", "Why auth is rewritten", MemoryType.project)


def observed(days_ago: int) -> Topic:
    return replace(TOPIC, observed=NOW.date() - timedelta(days=days_ago))


@requirement("memory:age:words")
@pytest.mark.parametrize(
    ("days", "words", "expected"),
    [
        (0, "today", "Memory (saved today): project_auth.md:"),
        (1, "yesterday", "Memory (saved yesterday): project_auth.md:"),
    ],
)
def test_a_fresh_memory_has_a_short_header(days: int, words: str, expected: str) -> None:
    assert age_words(days) == words
    assert header(observed(days), NOW) == expected
    assert age_warning(observed(days), NOW) == ""


@requirement("memory:age:words")
def test_from_the_second_day_a_warning_stands_before_an_empty_line_and_the_path() -> None:
    text = header(observed(2), NOW)

    warning, empty, title = text.split("\n")
    assert "2 days old" in warning
    assert "may be outdated" in warning
    assert "file:line" in warning
    assert "check it before you state it as fact" in warning
    assert (empty, title) == ("", "Memory: project_auth.md:")


@requirement("memory:age:observed-not-touched")
def test_age_counts_from_the_day_it_was_last_found_true_and_not_from_the_file() -> None:
    touched = NOW - timedelta(minutes=1)

    assert age_days(observed(40), NOW, file_time=touched) == 40
    assert age_days(replace(observed(40), verified=NOW.date()), NOW, file_time=touched) == 0
    assert age_days(TOPIC, NOW, file_time=NOW - timedelta(days=3)) == 3
    assert age_days(TOPIC, NOW) == 0


@requirement("memory:age:calendar-days")
def test_days_are_calendar_days_of_the_users_zone() -> None:
    tokyo = timezone(timedelta(hours=9))
    late_evening = datetime(2026, 8, 21, 14, 59, tzinfo=UTC)  # 23:59 in Tokyo
    after_midnight = datetime(2026, 8, 22, 0, 1, tzinfo=tokyo)

    assert age_days(TOPIC, after_midnight, file_time=late_evening) == 1
    assert age_days(TOPIC, after_midnight.astimezone(UTC), file_time=late_evening) == 0


@given(st.dates(), st.datetimes(timezones=st.just(UTC)))
def test_a_clock_that_is_ahead_never_makes_an_age_negative(day: date, now: datetime) -> None:
    assert age_days(replace(TOPIC, observed=day), now) >= 0


@requirement("memory:age:half-life")
def test_each_type_ages_at_its_own_pace() -> None:
    half_lives = {MemoryType.user: 365, MemoryType.feedback: 365, MemoryType.reference: 180, MemoryType.project: 45}
    for kind, days in [*half_lives.items(), (None, 45)]:
        assert not is_old(kind, days)
        assert is_old(kind, days + 1)
    assert is_old(None, 11, AgeSettings(half_life_project_days=10))
    assert "old for a " in age_warning(observed(60), NOW)
    assert "old for a " not in age_warning(replace(observed(60), type=MemoryType.user), NOW)


@requirement("memory:age:expires")
def test_a_memory_past_its_day_says_so_even_when_it_is_new() -> None:
    due = replace(observed(0), expires=NOW.date() - timedelta(days=1))

    assert is_expired(due, NOW)
    assert "2026-08-21" in header(due, NOW)
    assert not is_expired(replace(due, expires=NOW.date()), NOW)


@requirement("memory:anchors:shown")
def test_the_header_names_anchors_that_changed_or_vanished_and_keeps_quiet_about_the_others() -> None:
    checks = [
        AnchorCheck(FileAnchor("a.py"), AnchorState.fresh),
        AnchorCheck(FileAnchor("b.py"), AnchorState.changed),
        AnchorCheck(SymbolAnchor("load_rows", "c.py"), AnchorState.broken),
    ]

    text = header(observed(0), NOW, checks=checks)

    assert "No longer there: load_rows in c.py." in text
    assert "Changed since the memory was checked: b.py." in text
    assert "a.py" not in text
    assert text.endswith("\n\nMemory (saved today): project_auth.md:")


@requirement("memory:trust:shown")
def test_the_header_says_whose_word_a_memory_is_unless_the_user_said_it() -> None:
    assert "not an instruction" in header(replace(observed(0), trust=Trust.seen), NOW)
    assert "user has not said it" in header(replace(observed(0), trust=Trust.inferred), NOW)
    assert header(replace(observed(0), trust=Trust.said), NOW) == header(observed(0), NOW)
