"""The settings of a session: what came with the project counts as far as the user agreed to it.

Each value counts by itself. Hooks are taken along in any case, since `Hooks` asks for trust by itself; of plugins all
that the project's files switch on, or none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from reverie.extensions.json_file import Unread, read_object
from reverie.files.places import Places
from reverie.files.trust import TrustKind, TrustPart, read_trust
from reverie.settings.load import Configuration
from reverie.settings.trust_parts import parts_of_settings
from reverie.values import value


@value
class Agreed:
    """A configuration and what in it waits for, or has, the user's word."""

    configuration: Configuration
    parts: tuple[TrustPart, ...] = ()
    """What the project's settings bring, besides hooks."""
    is_trusted: bool = False
    """Whether the project's files may switch plugins on."""


def agreed(configuration: Configuration, trusted: Callable[[], Configuration]) -> Agreed:
    """What waits for, or has, the user's word in a configuration; `trusted` reads it again with all of it."""
    plugins = tuple(_plugin_parts(configuration))
    waits = any(caution.waits_for_trust for caution in configuration.cautions)
    has_agreed = any(origin.is_agreed for said in configuration.origins.values() for origin in said)
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
        found = read_object(path)
        table = found.get("enabledPlugins") if found is not None and not isinstance(found, Unread) else None
        if isinstance(table, dict) and any(table.values()):
            yield TrustPart(TrustKind.PLUGINS, str(path), json.dumps(table, sort_keys=True, ensure_ascii=False))
