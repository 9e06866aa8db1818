"""The flags that many commands share, and what they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from reverie.apps.cli.which import Common

__all__ = ["Common", "as_json", "project_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def as_json(command: Command) -> Command:
    """Give a command `--json`: one document on standard output and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def project_option(command: Command) -> Command:
    """Give a command `--project`."""
    return click.option("--project", metavar="DIR", help="A directory of the project; the current one by default.")(
        command
    )
