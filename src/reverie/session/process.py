"""What a caller did not say is taken from this process: its settings, its clock, its ids.

The one place where a public face looks up at `apps`: `Memory.open(".")` must find the store that commands find.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.files.places import Places
from reverie.settings import Settings

if TYPE_CHECKING:
    from reverie.models.ports import Model
    from reverie.permissions.approval import Approver
    from reverie.session.setup import Setup


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


def process_settings(project: Path) -> tuple[Places, Settings]:
    """The settings that hold in a project for this process, and the places that follow."""
    from reverie.settings.load import Flags, from_process

    configuration = from_process(Flags(project=project))
    return _places(configuration.home, configuration.config_home, configuration.settings), configuration.settings


def places_of(settings: Settings) -> Places:
    """The places that follow from settings which a caller made."""
    return _places(
        Path(settings.home).expanduser().absolute(), Path(settings.config_home).expanduser().absolute(), settings
    )


def process_model(name: str, project: Path) -> Model:
    """A model by name, with the keys of this process."""
    from reverie.session.wiring import model
    from reverie.settings.load import Flags, from_process

    return model(from_process(Flags(project=project)), name)


def session_setup(project: Path, model: str | None, approver: Approver | None) -> Setup:
    """The ingredients of a session in a project, with the settings and keys of this process."""
    from reverie.session.wiring import agreed_configuration, agreed_setup, model_choice
    from reverie.settings.load import Flags

    directory = project.expanduser().resolve()
    found = agreed_configuration(Flags(project=directory))
    name = model_choice(found.configuration, model).name
    return agreed_setup(found, directory, name, approver=approver, is_interactive=approver is not None)


def _places(home: Path, config_home: Path, settings: Settings) -> Places:
    return Places.at(home, config_home, project_dir_name=settings.project_dir_name)
