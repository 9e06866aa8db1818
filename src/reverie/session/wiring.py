"""A session from the settings of this process: the one place where settings become the parts of a session."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from reverie import __version__
from reverie.models.from_settings import model, model_choice, profile_overrides
from reverie.permissions.approval import Approver, NobodyThere
from reverie.session.agreed_settings import Agreed, agreed
from reverie.session.options import SessionOptions
from reverie.settings.load import Configuration, SettingsFlags, from_process, git_tracks
from reverie.settings.process import new_id, places, system_now


def transcript_path(configuration: Configuration, directory: Path, session: str) -> Path:
    """Where a session of this working directory is written."""
    return places(configuration).project(directory).transcript(session)


def agreed_configuration(flags: SettingsFlags) -> Agreed:
    """The settings of this process for a session, with what the user agreed to of the project's own."""
    return agreed(from_process(flags), lambda: from_process(flags, trusted=True))


def build_agreed_options(agreed: Agreed, directory: Path, model_name: str, **further: Any) -> SessionOptions:
    """The options of a session in which the project's own settings count as far as the user agreed to them."""
    return build_options(
        agreed.configuration,
        directory,
        model_name,
        trust_parts=agreed.parts,
        is_trusted=agreed.is_trusted,
        is_tracked=git_tracks,
        **further,
    )


def build_process_options(project: Path, model: str | None, approver: Approver | None) -> SessionOptions:
    """The options of a session in a project, with the settings and keys of this process."""
    directory = project.expanduser().resolve()
    found = agreed_configuration(SettingsFlags(project=directory))
    name = model_choice(found.configuration, model).name
    return build_agreed_options(found, directory, name, approver=approver, is_interactive=approver is not None)


def build_options(
    configuration: Configuration,
    directory: Path,
    model_name: str,
    *,
    approver: Approver | None = None,
    **further: Any,
) -> SessionOptions:
    """The options of a session; `further` are fields of `SessionOptions` that the command line gives."""
    return SessionOptions(
        settings=configuration.settings,
        places=places(configuration),
        directory=directory,
        project=configuration.project,
        model=model_name,
        make_model=lambda name: model(configuration, name),
        now=system_now,
        new_id=new_id,
        user_home=Path.home(),
        environment=dict(os.environ),
        overrides=profile_overrides(configuration.settings),
        approver=approver or NobodyThere(),
        origins=configuration.origins,
        ripgrep=shutil.which("rg"),
        version=__version__,
        **further,
    )
