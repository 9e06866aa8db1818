from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.extraction.dates import resolve_dates
from tests.requirements import requirement

MONDAY = date(2026, 2, 16)


def _is_beside(text: str, day: str) -> None:
    """The day stands in brackets beside the words, and every word is there as before."""
    resolved = resolve_dates(text, MONDAY).text

    assert re.findall(r"[(（]([^)）]+)[)）]", resolved) == [day]
    assert re.sub(r"\s?[(（][^)）]+[)）]", "", resolved) == text


@requirement("extraction:dates")
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the demo is tomorrow at 10", "2026-02-17"),
        ("after Thursday", "2026-02-19"),
        ("by next Friday", "2026-02-27"),
        ("this Friday", "2026-02-20"),
        ("on Monday", "2026-02-16"),
        ("March 3rd", "2026-03-03"),
        ("on 3 March 2027", "2027-03-03"),
        ("in two weeks", "2026-03-02"),
        ("next week", "week of 2026-02-23"),
        ("by the end of the month", "2026-02-28"),
        ("until June", "2026-06"),
        ("last year", "2025"),
        ("截止日期是下周五", "2026-02-27"),
        ("周四之后", "2026-02-19"),
        ("明天", "2026-02-17"),
        ("3月3日", "2026-03-03"),
        ("bis nächsten Freitag", "2026-02-27"),
        ("übermorgen", "2026-02-18"),
        ("来週の金曜", "2026-02-27"),
        ("the Friday after next", "2026-03-06"),
        ("by the end of next month", "2026-03-31"),
        ("at the end of the week", "2026-02-20"),
        ("下个月底之前", "2026-03-31"),
        ("下个月15号", "2026-03-15"),
        ("下下周一", "2026-03-02"),
        ("大后天", "2026-02-19"),
        ("年底", "2026-12-31"),
        ("三个月后", "2026-05-17"),
    ],
)
def test_relative_days_are_counted_from_the_day_they_were_said(text: str, day: str) -> None:
    _is_beside(text, day)


@requirement("extraction:dates")
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("since last Friday", "2026-02-13"),
        ("since Friday", "2026-02-13"),
        ("the outage on Friday was ours", "2026-02-13"),
        ("the launch was moved to Friday", "2026-02-20"),
        ("customers were told that it ends on Friday", "2026-02-20"),
        ("two weeks ago", "2026-02-02"),
        ("the week before last", "week of 2026-02-02"),
        ("上周五上线出了问题", "2026-02-13"),
        ("周五出了故障", "2026-02-13"),
        ("上上周三", "2026-02-04"),
        ("三天前", "2026-02-13"),
        ("letzten Freitag", "2026-02-13"),
        ("先週の金曜", "2026-02-13"),
    ],
)
def test_a_day_that_was_lies_before_the_day_it_was_told(text: str, day: str) -> None:
    _is_beside(text, day)


@requirement("extraction:dates")
@pytest.mark.parametrize(
    "text",
    [
        "every Sunday night",
        "on Tuesdays",
        "Friday afternoons",
        "the last Friday of each month",
        "no Friday deploys",
        "Black Friday",
        "每周日晚上",
        "jeden Sonntag",
        "when i say tomorrow morning i mean CET",
        "never deploy on Friday",
        "don't merge on Friday",
        "never leave a red build for tomorrow",
        '"tomorrow" is a column of that table',
        "wenn ich morgen sage, meine ich vormittags",
        "我说明天的意思是工作日",
        "毎週日曜に",
    ],
)
def test_recurring_days_and_words_about_days_stay(text: str) -> None:
    assert resolve_dates(text, MONDAY).text == text


def test_a_day_of_the_last_weeks_is_not_moved_to_the_next_year() -> None:
    assert resolve_dates("since January 20", MONDAY).last == date(2026, 1, 20)
    assert resolve_dates("on November 3", MONDAY).last == date(2026, 11, 3)


@requirement("extraction:dates")
@pytest.mark.parametrize("text", ["don't merge until Friday", "nobody deploys after Thursday", "周四之后不要合并"])
def test_a_rule_that_ends_or_begins_on_a_day_names_it(text: str) -> None:
    assert "2026-02-" in resolve_dates(text, MONDAY).text


@requirement("extraction:dates")
def test_without_a_day_nothing_changes_and_it_is_told() -> None:
    assert resolve_dates("due tomorrow", None).text == "due tomorrow"
    assert resolve_dates("due tomorrow", None).is_relative
    assert not resolve_dates("due some day", None).is_relative


@requirement("extraction:dates")
@given(
    st.dates(date(2000, 1, 1), date(2099, 1, 1)), st.sampled_from(["next Friday", "tomorrow", "in 3 days", "下周五"])
)
def test_placing_is_idempotent_and_lies_ahead(today: date, text: str) -> None:
    once = resolve_dates(text, today)

    assert once.last is not None
    assert today < once.last <= today + timedelta(days=14)
    assert resolve_dates(once.text, today).text == once.text


_WAS = ["last {}", "since {}", "the outage on {} was ours", "letzten {}"]
_WILL_BE = ["this {}", "by {}", "next {}", "the launch moves to {}"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@requirement("extraction:dates")
@given(st.dates(date(2000, 1, 1), date(2099, 1, 1)), st.integers(0, 6), st.sampled_from(_WAS))
def test_a_weekday_of_the_past_is_the_nearest_before(today: date, number: int, words: str) -> None:
    names = (
        _DAYS
        if "letzten" not in words
        else ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]
    )
    day = resolve_dates(words.format(names[number]), today).last

    assert day is not None
    assert day.weekday() == number
    assert today - timedelta(days=7) <= day < today


@requirement("extraction:dates")
@given(st.dates(date(2000, 1, 1), date(2099, 1, 1)), st.integers(0, 6), st.sampled_from(_WILL_BE))
def test_a_weekday_to_come_is_never_before_today(today: date, number: int, words: str) -> None:
    day = resolve_dates(words.format(_DAYS[number]), today).last

    assert day is not None
    assert day.weekday() == number
    assert today <= day <= today + timedelta(days=13)


@requirement("extraction:dates")
@given(st.dates(date(2000, 1, 1), date(2099, 1, 1)), st.integers(0, 6), st.integers(-2, 2))
def test_weeks_that_are_named_in_chinese_begin_on_monday(today: date, number: int, weeks: int) -> None:
    week = "这" if weeks == 0 else ("下" if weeks > 0 else "上") * abs(weeks)
    day = resolve_dates(f"{week}周{'一二三四五六日'[number]}", today).last

    monday = today - timedelta(days=today.weekday())
    assert day == monday + timedelta(days=7 * weeks + number)
