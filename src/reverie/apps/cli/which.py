"""What a command line says about settings and about the memory that is meant, and where that leads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.values import value

if TYPE_CHECKING:
    from reverie.api.memory import Memory
    from reverie.apps.config import Configuration


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
            sys.stderr.write(f"reverie: {caution}\n")
        return configuration


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
