"""The settings of a session: what came with the project counts as far as the user agreed to it.

Hooks are taken along in any case, since `Hooks` asks for trust by itself. Of all other guarded settings either
everything counts or nothing: one that is not agreed to leaves all of them out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from reverie.apps.config import Configuration
from reverie.places import Places
from reverie.plugins.json_file import Unread, read_object
from reverie.trust import Kind, Part, parts_of_settings, read_trust
from reverie.values import value


@value
class Agreed:
    """A configuration and what in it waits for, or has, the user's word."""

    configuration: Configuration
    parts: tuple[Part, ...] = ()
    """What the project's settings bring, besides hooks."""
    is_trusted: bool = False
    """Whether the project's files may switch plugins on."""


def agreed(
    configuration: Configuration, trusted: Callable[[], Configuration], *, is_tracked: Callable[[Path], bool]
) -> Agreed:
    """What counts of a configuration that was read without trust; `trusted` reads it again with all of it."""
    plugins = tuple(_plugin_parts(configuration, is_tracked))
    waits = any(caution.waits_for_trust for caution in configuration.cautions)
    if not waits and not plugins:
        return Agreed(configuration)
    answers = read_trust(_places(configuration).trust, configuration.project)
    is_trusted = bool(plugins) and all(map(answers.accepts, plugins))
    if not waits:
        return Agreed(configuration, plugins, is_trusted)
    whole = trusted()
    parts = parts_of_settings(whole.origins)
    if not all(map(answers.accepts, parts)):
        whole = replace(configuration, settings=replace(configuration.settings, hooks=whole.settings.hooks))
    return Agreed(whole, (*parts, *plugins), is_trusted)


def _places(configuration: Configuration) -> Places:
    return Places.at(configuration.home, configuration.config_home)


def _plugin_parts(configuration: Configuration, is_tracked: Callable[[Path], bool]) -> Iterator[Part]:
    """The plugins that files of the project switch on."""
    files = _places(configuration).host_settings_files(configuration.project)
    for path in (files.project, files.local):
        found = read_object(path)
        table = found.get("enabledPlugins") if found is not None and not isinstance(found, Unread) else None
        if not isinstance(table, dict) or not any(table.values()):
            continue
        if path == files.project or is_tracked(path):
            yield Part(Kind.PLUGINS, str(path), json.dumps(table, sort_keys=True, ensure_ascii=False))
