"""The flags that every command shares, and what they become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reverie.values import value

if TYPE_CHECKING:
    from reverie.apps.config import Configuration

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
        """The settings of this process; a project named with the command counts for more."""
        from reverie.apps.config import Flags, from_process

        named = project or self.project
        flags = Flags(
            project=None if named is None else Path(named),
            settings=self.settings_files,
            assignments=self.assignments,
            bare=self.bare,
        )
        configuration = from_process(flags)
        for caution in configuration.cautions:
            click.echo(f"reverie: {caution}", err=True)
        return configuration


def as_json(command: Command) -> Command:
    """Give a command `--json`: one document on standard output and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def project_option(command: Command) -> Command:
    """Give a command `--project`."""
    return click.option("--project", metavar="DIR", help="A directory of the project; the current one by default.")(
        command
    )
