"""The flags that many commands share, and what they become."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
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
        from reverie.apps.cli.moments import read_moment
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
