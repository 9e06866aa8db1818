"""A session from the settings of this process: the one place where settings become the parts of a session.

What came with the project counts as far as the user agreed to it, each value by itself. Hooks are taken along in any
case, since `Hooks` asks for trust by itself; of plugins all that the project's files switch on, or none.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reverie import __version__
from reverie.extensions.json_file import Unread, read_object
from reverie.files.places import Places
from reverie.files.trust import TrustKind, TrustPart, read_trust
from reverie.models.from_settings import model, model_choice, profile_overrides
from reverie.permissions.approval import Approver, NobodyThere
from reverie.session.options import SessionOptions
from reverie.settings.load import (
    Configuration,
    SettingsFlags,
    from_process,
    git_tracks,
    new_id,
    parts_of_settings,
    places,
    system_now,
)
from reverie.values import value


def transcript_path(configuration: Configuration, directory: Path, session: str) -> Path:
    """Where a session of this working directory is written."""
    return places(configuration).project(directory).transcript(session)


def load_agreed_configuration(flags: SettingsFlags) -> Agreed:
    """The settings of this process for a session, with what the user agreed to of the project's own."""
    return apply_trust(from_process(flags), lambda: from_process(flags, trusted=True))


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
    configuration = load_agreed_configuration(SettingsFlags(project=directory))
    name = model_choice(configuration.configuration, model).name
    options = build_agreed_options(
        configuration, directory, name, approver=approver, is_interactive=approver is not None
    )
    # A program that opens sessions goes on after the turn, unlike `-p`: it learns whether or not somebody can be asked.
    learning = replace(options.settings.extraction, noninteractive=True)
    return replace(options, settings=replace(options.settings, extraction=learning))


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


@value
class Agreed:
    """A configuration and what in it waits for, or has, the user's word."""

    configuration: Configuration
    parts: tuple[TrustPart, ...] = ()
    """What the project's settings bring, besides hooks."""
    is_trusted: bool = False
    """Whether the project's files may switch plugins on."""


def apply_trust(configuration: Configuration, trusted: Callable[[], Configuration]) -> Agreed:
    """What waits for, or has, the user's word in a configuration; `trusted` reads it again with all of it."""
    plugins = tuple(_plugin_parts(configuration))
    waits = any(caution.waits_for_trust for caution in configuration.cautions)
    has_agreed = any(origin.is_agreed for origins in configuration.origins.values() for origin in origins)
    if not waits and not has_agreed and not plugins:
        return Agreed(configuration)
    answers = read_trust(_places(configuration).trust, configuration.project)
    is_trusted = bool(plugins) and all(map(answers.accepts, plugins))
    whole = trusted() if waits else configuration
    counted = replace(configuration, settings=replace(configuration.settings, hooks=whole.settings.hooks))
    return Agreed(counted, (*parts_of_settings(whole.origins), *plugins), is_trusted)


def _places(configuration: Configuration) -> Places:
    return Places.at(configuration.home, configuration.config_home)


def _plugin_parts(configuration: Configuration) -> Iterator[TrustPart]:
    """The plugins that files of the project switch on."""
    files = _places(configuration).host_settings_files(configuration.project)
    for path in (files.project, files.local):
        document = read_object(path)
        table = document.get("enabledPlugins") if document is not None and not isinstance(document, Unread) else None
        if isinstance(table, dict) and any(table.values()):
            yield TrustPart(TrustKind.PLUGINS, str(path), json.dumps(table, sort_keys=True, ensure_ascii=False))
