"""The flags that commands share, and what they lead to: settings, the memory that is meant, a moment in time."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reverie.patterns import lazy_regex
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.topics.value import Topic
    from reverie.session.wiring import Agreed
    from reverie.settings.load import Configuration, SettingsFlags

Command = TypeVar("Command", bound=Callable[..., Any])


@value
class Common:
    """What was said before the name of the command."""

    project: str | None = None
    settings_files: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    bare: bool = False
    model: str | None = None

    def directory(self, project: str | None = None) -> Path:
        """The working directory that the command is about."""
        return Path(project or self.project or ".").resolve()

    def configuration(self, project: str | None = None) -> Configuration:
        """The settings of this process; a project named with the command counts for more.

        What waits for trust is not told here: sessions say so in a line, `reverie trust` shows it.
        """
        from reverie.settings.load import from_process

        configuration = from_process(self._flags(project))
        for caution in configuration.cautions:
            if not caution.waits_for_trust:
                sys.stderr.write(f"reverie: {caution}\n")
        return configuration

    def load_agreed(self, project: str | None = None) -> Agreed:
        """The settings of a session, with what the user agreed to of the project's; tells nothing."""
        from reverie.session.wiring import load_agreed_configuration

        return load_agreed_configuration(self._flags(project))

    def _flags(self, project: str | None) -> SettingsFlags:
        from reverie.settings.load import SettingsFlags

        named = project or self.project
        return SettingsFlags(
            project=None if named is None else Path(named),
            settings=self.settings_files,
            assignments=self.assignments,
            bare=self.bare,
        )


@value
class MemorySelection:
    """What was said about the memory that is meant."""

    common: Common
    project: str | None
    directory: str | None
    is_user: bool

    def open(self) -> Memory:
        """The memory: of the named directory, of the user, or of the project."""
        from reverie.files.places import Places
        from reverie.memory.memory import Memory

        configuration = self.common.configuration(self.project)
        settings = configuration.settings
        if self.directory is not None:
            place = Path(self.directory).expanduser()
            return Memory(place, project=configuration.project, settings=settings)
        places = Places.at(configuration.home, configuration.config_home, project_dir_name=settings.project_dir_name)
        memory = Memory.at(places, settings, self.common.directory(self.project))
        return memory.user if self.is_user else memory

    def read(self, name: str) -> tuple[Memory, Topic]:
        """The memory of a name, and whose it is: the user's own when the project has nothing of that name."""
        from reverie.errors import UserMistake

        project, *user = self.all(self.open())
        try:
            return project, project.read(name)
        except UserMistake:
            for memory in user:
                with suppress(UserMistake):
                    return memory, memory.read(name)
            raise

    def open_for(self, name: str, *, or_gone: bool = False) -> Memory:
        """The memory that holds a name: the user's own when the project has nothing of that name.

        `or_gone` allows for a name that only the past knows.
        """
        from reverie.errors import Error, UserMistake

        both = self.all(self.open())
        missing: UserMistake | None = None
        for memory in both:
            try:
                memory.path_of(name)
            except UserMistake as mistake:
                missing = missing or mistake
            else:
                return memory
        for memory in both if or_gone else ():
            with suppress(Error):
                if memory.log(name, limit=1):
                    return memory
        if missing is None or or_gone:
            return both[0]
        raise missing

    def open_with(self, commit: str | None) -> Memory:
        """The memory whose history has a commit: the user's own when the project's has not."""
        both = self.all(self.open())
        return both[0] if commit is None else next((each for each in both if each.knows(commit)), both[0])

    def all(self, memory: Memory) -> tuple[Memory, ...]:
        """A memory, and the user's own beside it where none was named."""
        if self.directory is not None or self.is_user or not memory.user.directory.is_dir():
            return (memory,)
        return (memory, memory.user)

    @property
    def flags(self) -> str:
        """What a further command must say to mean the same memory; the user's own is found without."""
        from shlex import quote

        named = (("--memory-dir", self.directory), ("--project", self.project))
        return "".join(f" {flag} {quote(value)}" for flag, value in named if value is not None)


def memory_options(command: Command) -> Command:
    """Give a command `--project`, `--memory-dir` and `--user`; they arrive as `selection`."""

    @functools.wraps(command)
    def call_command(
        common: Common, *args: Any, project: str | None, memory_dir: str | None, is_user: bool, **options: Any
    ) -> Any:
        return command(MemorySelection(common, project, memory_dir, is_user), *args, **options)

    wrapped: Any = click.pass_obj(call_command)
    for option in (
        click.option("--user", "is_user", is_flag=True, help="Use your user memory, which applies to all projects."),
        click.option("--memory-dir", metavar="DIR", help="Use this memory directory."),
        click.option("--project", metavar="DIR", help="Project directory (default: the current directory)."),
    ):
        wrapped = option(wrapped)
    result: Command = wrapped
    return result


def resolve_added_directories(named: tuple[str, ...]) -> tuple[str, ...]:
    """What `--add-dir` comes to, as `--set` would say it: a list of settings grows by what is said later."""
    if not named:
        return ()
    import json

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
        from reverie.settings.load import SystemClock

        now = SystemClock().now().replace(tzinfo=None)
        try:
            return read_moment(value, now, ends=self._ends).astimezone()
        except (ValueError, OverflowError):
            examples = "2026-03-01, yesterday, '3 days ago', 'last monday' or 2026-03-01T12:30:00Z"
            self.fail(f"{value!r} is not a date; use a form such as {examples}", param, ctx)


def project_option(command: Command) -> Command:
    """Give a command `--project`."""
    return click.option("--project", metavar="DIR", help="Project directory (default: the current directory).")(command)


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
_AGO = lazy_regex(
    r"(?P<count>\d{1,4}|an?|one)\s+(?P<unit>minute|hour|day|week|month|year)s?\s+ago|last\s+(?P<last>week|month|year)"
)
_DATE = lazy_regex(
    r"""(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?\s+)?(?:of\s+)?(?P<month>[a-z]{3,9})\.?
        (?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?)?(?:,?\s+(?P<year>\d{4}))?""",
    re.VERBOSE,
)
_MONTH = lazy_regex(r"(\d{4})-(\d{2})")


def read_moment(text: str, now: datetime, *, ends: bool) -> datetime:
    """The moment that is meant, seen from `now`; a day, a month or a year stands for its end or its beginning.

    Raises `ValueError` when it is none.
    """
    words = " ".join(text.lower().split())
    begin, whole = _spell(words, text.strip(), now)
    if whole is None:
        return begin
    return whole - timedelta(seconds=1) if ends else begin


def _spell(words: str, text: str, now: datetime) -> tuple[datetime, datetime | None]:
    """Where it begins, and where it is over if it is longer than a moment."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if words == "now":
        return now, None
    if words in ("today", "yesterday"):
        return _day(today - timedelta(days=words == "yesterday"))
    if ago := _AGO.fullmatch(words):
        unit = ago["unit"] or ago["last"]
        number = ago["count"] or "1"
        then = now - _UNITS[unit] * (int(number) if number.isdigit() else 1)
        return (then, None) if unit in ("minute", "hour") else _day(then)
    weekday = words.removeprefix("last ").removeprefix("on ")
    if (number := _index(weekday, _WEEKDAYS)) is not None:
        return _day(today - timedelta(days=(today.weekday() - number) % 7 or 7))
    if (date := _DATE.fullmatch(words)) and (month := _index(date["month"], _MONTHS)) is not None:
        return _resolve_month_date(date, month + 1, today)
    if numbers := _MONTH.fullmatch(words):
        return _month(today.replace(year=int(numbers[1]), month=int(numbers[2]), day=1))
    moment = datetime.fromisoformat(text)
    return _day(moment) if ":" not in text and "T" not in text.upper() else (moment, None)


def _resolve_month_date(date: re.Match[str], month: int, today: datetime) -> tuple[datetime, datetime | None]:
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
