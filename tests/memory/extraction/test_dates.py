from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.extraction.dates import placed
from tests.requirements import requirement

MONDAY = date(2026, 2, 16)


@requirement("extraction:dates")
@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("the demo is tomorrow at 10", "the demo is 2026-02-17 at 10"),
        ("after Thursday", "after 2026-02-19"),
        ("by next Friday", "by 2026-02-27"),
        ("this Friday", "2026-02-20"),
        ("on Monday", "on 2026-02-16"),
        ("March 3rd", "2026-03-03"),
        ("on 3 March 2027", "on 2027-03-03"),
        ("in two weeks", "2026-03-02"),
        ("next week", "week of 2026-02-23"),
        ("by the end of the month", "by 2026-02-28"),
        ("until June", "until 2026-06"),
        ("last year", "2025"),
        ("截止日期是下周五", "截止日期是2026-02-27"),
        ("周四之后", "2026-02-19之后"),
        ("明天", "2026-02-17"),
        ("3月3日", "2026-03-03"),
        ("bis nächsten Freitag", "bis 2026-02-27"),
        ("übermorgen", "2026-02-18"),
        ("来週の金曜", "2026-02-27"),
    ],
)
def test_relative_days_are_counted_from_the_day_they_were_said(text: str, absolute: str) -> None:
    assert placed(text, MONDAY).text == absolute


@requirement("extraction:dates")
@pytest.mark.parametrize("text", ["every Sunday night", "on Tuesdays", "每周日晚上", "jeden Sonntag", "毎週日曜に"])
def test_recurring_days_stay(text: str) -> None:
    assert placed(text, MONDAY).text == text


def test_a_day_of_the_last_weeks_is_not_moved_to_the_next_year() -> None:
    assert placed("since January 20", MONDAY).last == date(2026, 1, 20)
    assert placed("on November 3", MONDAY).last == date(2026, 11, 3)


@requirement("extraction:dates")
def test_without_a_day_nothing_changes_and_it_is_told() -> None:
    assert placed("due tomorrow", None).text == "due tomorrow"
    assert placed("due tomorrow", None).is_relative
    assert not placed("due some day", None).is_relative


@requirement("extraction:dates")
@given(
    st.dates(date(2000, 1, 1), date(2099, 1, 1)), st.sampled_from(["next Friday", "tomorrow", "in 3 days", "下周五"])
)
def test_placing_is_idempotent_and_lies_ahead(today: date, text: str) -> None:
    once = placed(text, today)

    assert once.last is not None
    assert today < once.last <= today + timedelta(days=14)
    assert placed(once.text, today).text == once.text
