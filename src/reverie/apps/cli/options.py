"""The flags that many commands share, and what they become."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reverie.apps.cli.which import Common

__all__ = ["Common", "Moment", "added_directories", "as_json", "project_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def added_directories(named: tuple[str, ...]) -> tuple[str, ...]:
    """What `--add-dir` comes to, as `--set` would say it: a list of settings grows by what is said later."""
    if not named:
        return ()
    import json
    from pathlib import Path

    from reverie.errors import UserMistake

    places = [Path(name).expanduser().resolve() for name in named]
    for name, place in zip(named, places, strict=True):
        if not place.is_dir():
            raise UserMistake(f"--add-dir {name}: {place} is not a directory; name an existing one")
    return (f"permissions.additional_directories={json.dumps([str(place) for place in places])}",)


def as_json(command: Command) -> Command:
    """Give a command `--json`: one document on standard output and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


if TYPE_CHECKING:
    _Dates = click.ParamType[datetime]
else:  # older ones take no argument
    _Dates = click.ParamType


class Moment(_Dates):
    """A day or a moment as people spell it, or as ISO 8601 does; without a zone, in this machine's."""

    name = "date"

    def __init__(self, *, ends: bool) -> None:
        """Whether a day stands for its end or for its beginning."""
        self._ends = ends

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        from reverie.settings.process import SystemClock

        now = SystemClock().now().replace(tzinfo=None)
        try:
            return read_moment(value, now, ends=self._ends).astimezone()
        except (ValueError, OverflowError):
            examples = "2026-03-01, yesterday, '3 days ago', 'last monday' or 2026-03-01T12:30:00Z"
            self.fail(f"{value!r} is not a date; use a form such as {examples}", param, ctx)


def project_option(command: Command) -> Command:
    """Give a command `--project`."""
    return click.option("--project", metavar="DIR", help="Project directory (default: the current directory).")(command)


# Days and moments as people type them: `yesterday`, `3 days ago`, `last monday`, `1 march`, `2026-03-01T12:30:00Z`.

_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_AGO = re.compile(
    r"(?P<count>\d{1,4}|an?|one)\s+(?P<unit>minute|hour|day|week|month|year)s?\s+ago|last\s+(?P<last>week|month|year)"
)
_DATE = re.compile(
    r"""(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?\s+)?(?:of\s+)?(?P<month>[a-z]{3,9})\.?
        (?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?)?(?:,?\s+(?P<year>\d{4}))?""",
    re.VERBOSE,
)
_MONTH = re.compile(r"(\d{4})-(\d{2})")


def read_moment(text: str, now: datetime, *, ends: bool) -> datetime:
    """The moment that is meant, seen from `now`; a day, a month or a year stands for its end or its beginning.

    Raises `ValueError` when it is none.
    """
    said = " ".join(text.lower().split())
    begin, whole = _spell(said, text.strip(), now)
    if whole is None:
        return begin
    return whole - timedelta(seconds=1) if ends else begin


def _spell(said: str, text: str, now: datetime) -> tuple[datetime, datetime | None]:
    """Where it begins, and where it is over if it is longer than a moment."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said == "now":
        return now, None
    if said in ("today", "yesterday"):
        return _day(today - timedelta(days=said == "yesterday"))
    if ago := _AGO.fullmatch(said):
        unit = ago["unit"] or ago["last"]
        number = ago["count"] or "1"
        then = now - _UNITS[unit] * (int(number) if number.isdigit() else 1)
        return (then, None) if unit in ("minute", "hour") else _day(then)
    weekday = said.removeprefix("last ").removeprefix("on ")
    if (number := _index(weekday, _WEEKDAYS)) is not None:
        return _day(today - timedelta(days=(today.weekday() - number) % 7 or 7))
    if (date := _DATE.fullmatch(said)) and (month := _index(date["month"], _MONTHS)) is not None:
        return _dated(date, month + 1, today)
    if numbers := _MONTH.fullmatch(said):
        return _month(today.replace(year=int(numbers[1]), month=int(numbers[2]), day=1))
    moment = datetime.fromisoformat(text)
    return _day(moment) if ":" not in text and "T" not in text.upper() else (moment, None)


def _dated(date: re.Match[str], month: int, today: datetime) -> tuple[datetime, datetime | None]:
    day = date["day"] or date["after"]
    begin = today.replace(year=int(date["year"] or today.year), month=month, day=int(day or 1))
    if not date["year"] and begin > today:
        begin = begin.replace(year=begin.year - 1)
    return _day(begin) if day else _month(begin)


def _day(moment: datetime) -> tuple[datetime, datetime]:
    begin = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return begin, begin + timedelta(days=1)


def _month(begin: datetime) -> tuple[datetime, datetime]:
    return begin, (begin + timedelta(days=32)).replace(day=1)


def _index(word: str, names: tuple[str, ...]) -> int | None:
    """Which name it is, also by its first three letters or more."""
    return next((number for number, name in enumerate(names) if len(word) >= 3 and name.startswith(word)), None)
