"""Settings, clock and id generator of this process, for callers that give none.

`Memory.open(".")` must find the store that commands find, so both come here.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from reverie.files.places import Places
from reverie.settings import Settings
from reverie.settings.load import Configuration, SettingsFlags, from_process


class SystemClock:
    """The time of this machine, in its zone."""

    def now(self) -> datetime:
        return system_now()


def system_now() -> datetime:
    """The time of this machine, in its zone."""
    return datetime.now().astimezone()  # noqa: TID251 - the default clock of the public faces


def new_id() -> str:
    """A fresh random id."""
    import uuid

    return str(uuid.uuid4())  # noqa: TID251 - the default ids of the public faces


def fresh_marker() -> str:
    """A fresh mark for a repository; importing `uuid` would take longer than opening a memory."""
    return os.urandom(16).hex()


def places(configuration: Configuration) -> Places:
    """Where everything lies."""
    return _places(configuration.home, configuration.config_home, configuration.settings)


def process_settings(project: Path) -> tuple[Places, Settings]:
    """The settings that hold in a project for this process, and the places that follow."""
    configuration = from_process(SettingsFlags(project=project))
    return places(configuration), configuration.settings


def places_of(settings: Settings) -> Places:
    """The places that follow from settings which a caller made."""
    return _places(
        Path(settings.home).expanduser().absolute(), Path(settings.config_home).expanduser().absolute(), settings
    )


def _places(home: Path, config_home: Path, settings: Settings) -> Places:
    return Places.at(home, config_home, project_dir_name=settings.project_dir_name)
