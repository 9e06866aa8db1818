"""The flags by which a command is told which memory it works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from reverie.apps.cli.which import Common, Which

__all__ = ["Which", "memory_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


def memory_options(command: Command) -> Command:
    """Give a command `--project`, `--memory-dir` and `--user`; they arrive as `which`."""
    import functools

    @functools.wraps(command)
    def called(
        common: Common, *args: Any, project: str | None, memory_dir: str | None, is_user: bool, **options: Any
    ) -> Any:
        return command(Which(common, project, memory_dir, is_user), *args, **options)

    wrapped: Any = click.pass_obj(called)
    for option in (
        click.option("--user", "is_user", is_flag=True, help="Use your user memory, which applies to all projects."),
        click.option("--memory-dir", metavar="DIR", help="Use this memory directory."),
        click.option("--project", metavar="DIR", help="Project directory (default: the current directory)."),
    ):
        wrapped = option(wrapped)
    result: Command = wrapped
    return result
