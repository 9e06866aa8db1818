"""The flags that many commands share, and what they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from reverie.apps.cli.which import Common

__all__ = ["Common", "added_directories", "as_json", "project_option"]

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
            raise UserMistake(f"--add-dir {name}: {place} is not a directory; name one that exists")
    return (f"permissions.additional_directories={json.dumps([str(place) for place in places])}",)


def as_json(command: Command) -> Command:
    """Give a command `--json`: one document on standard output and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def project_option(command: Command) -> Command:
    """Give a command `--project`."""
    return click.option("--project", metavar="DIR", help="A directory of the project; the current one by default.")(
        command
    )
