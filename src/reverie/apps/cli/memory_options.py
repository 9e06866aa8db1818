"""Which memory a command works on: the flags, and the `Memory` they lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reverie.apps.cli.options import Common
from reverie.values import value

if TYPE_CHECKING:
    from reverie.api.memory import Memory

Command = TypeVar("Command", bound=Callable[..., Any])


@value
class Which:
    """What was said about the memory that is meant."""

    common: Common
    project: str | None
    directory: str | None
    is_user: bool

    def open(self) -> Memory:
        """The memory: of the named directory, of the user, or of the project."""
        from reverie.api.memory import Memory
        from reverie.places import Places

        configuration = self.common.configuration(self.project)
        settings = configuration.settings
        if self.directory is not None:
            place = Path(self.directory).expanduser()
            return Memory(place, project=configuration.project, settings=settings)
        places = Places.at(configuration.home, configuration.config_home, project_dir_name=settings.project_dir_name)
        memory = Memory.at(places, settings, self.common.directory(self.project))
        return memory.user if self.is_user else memory

    def open_for(self, name: str, *, or_gone: bool = False) -> Memory:
        """The memory that holds a name: the user's own when the project has nothing of that name.

        `or_gone` allows for a name that only the past of the project knows.
        """
        from reverie.errors import UserMistake

        memory = self.open()
        if self.directory is not None or self.is_user or not memory.user.directory.is_dir():
            return memory
        try:
            memory.path_of(name)
        except UserMistake as missing:
            try:
                memory.user.path_of(name)
            except UserMistake:
                if or_gone:
                    return memory
                raise missing from None
            return memory.user
        return memory


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
        click.option("--user", "is_user", is_flag=True, help="Your own memory, which holds in every project."),
        click.option("--memory-dir", metavar="DIR", help="Exactly this memory directory."),
        click.option("--project", metavar="DIR", help="A directory of the project; the current one by default."),
    ):
        wrapped = option(wrapped)
    result: Command = wrapped
    return result
