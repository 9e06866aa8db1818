"""What a command line says about settings and about the memory that is meant, and where that leads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.session.wiring import Agreed
    from reverie.settings.load import Configuration, SettingsFlags


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

    def agreed(self, project: str | None = None) -> Agreed:
        """The settings of a session, with what the user agreed to of the project's; tells nothing."""
        from reverie.session.wiring import agreed_configuration

        return agreed_configuration(self._flags(project))

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
class Which:
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

    def open_for(self, name: str, *, or_gone: bool = False) -> Memory:
        """The memory that holds a name: the user's own when the project has nothing of that name.

        `or_gone` allows for a name that only the past knows.
        """
        from contextlib import suppress

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
        return "".join(f" {flag} {quote(said)}" for flag, said in named if said is not None)
