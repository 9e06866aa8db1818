"""Finds plugins: installed and enabled with the host agent, in our home, or given by a flag.

The host keeps them under `plugins/`: `installed_plugins.json` says where each lies, else the newest folder of the cache
counts, else the folder of its marketplace. Settings enable one by `NAME@MARKETPLACE`. A file in the project
may always switch one off, but may switch one on only once the user agreed to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reverie.errors import Refused
from reverie.extensions.json_file import Unread, read_object
from reverie.extensions.mcp.servers import Servers, join_servers
from reverie.extensions.plugins.plugin import Plugin, read_plugin
from reverie.files import check_name, safe_join
from reverie.files.places import Places
from reverie.messages.blocks import Json, JsonObject
from reverie.values import value

_ORPHANED = ".orphaned_at"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]")


@value
class Plugins:
    """What was found."""

    plugins: tuple[Plugin, ...] = ()
    """By name; of several with one name the first of flags, our home, the host."""
    problems: tuple[str, ...] = ()
    """What is broken or missing, a sentence each."""

    @property
    def servers(self) -> Servers:
        """The servers of all, for `list_servers`."""
        return join_servers(plugin.servers for plugin in self.plugins)


def list_plugins(
    *,
    places: Places,
    project: Path,
    environment: Mapping[str, str],
    flags: Iterable[Path] = (),
    project_is_trusted: bool = False,
) -> Plugins:
    """Read every plugin that is enabled; `flags` are the folders of `--plugin-dir`."""
    plugins: dict[str, Plugin] = {}
    problems: list[str] = []
    folders = [
        *((path, path.name) for path in flags),
        *((path, path.name) for path in _list_folders(places.home / "plugins")),
        *_list_enabled(places, project, problems, is_trusted=project_is_trusted),
    ]
    for root, label in folders:
        data = places.home / "plugin-data" / _NOT_IN_A_NAME.sub("-", label)
        name = label.partition("@")[0]
        plugin = read_plugin(root, data=data, project=project, environment=environment, name=name)
        if isinstance(plugin, Unread):
            problems.append(f"plugin {label!r} is not loaded: {plugin.sentence}")
            continue
        if plugins.setdefault(plugin.name, plugin) is not plugin:
            first = plugins[plugin.name].root
            problems.append(f"plugin {plugin.name!r} in {root} is not loaded: {first} has the same name")
            continue
        problems += plugin.problems
    return Plugins(tuple(sorted(plugins.values(), key=lambda plugin: plugin.name)), tuple(problems))


def _list_folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []


def _list_enabled(
    places: Places, project: Path, problems: list[str], *, is_trusted: bool
) -> Iterator[tuple[Path, str]]:
    """The folders of all that settings enable, with their full names."""
    home = places.config_home / "plugins"
    registry = read_object(home / "installed_plugins.json")
    if isinstance(registry, Unread):
        problems.append(registry.sentence)
        registry = None
    for label in _read_enabled_labels(places, project, problems, is_trusted=is_trusted):
        try:
            root = _find_root(home, label, registry or {})
        except Refused as refusal:
            problems.append(f"plugin {label!r} is not loaded: {refusal}")
            continue
        if root is None:
            problems.append(f"plugin {label!r} is enabled but not installed under {home}")
        else:
            yield root, label


def _read_enabled_labels(places: Places, project: Path, problems: list[str], *, is_trusted: bool) -> list[str]:
    files = places.host_settings_files(project)
    answers: dict[str, bool] = {}
    for path in (files.user, files.project, files.local):
        document = read_object(path)
        table = document.get("enabledPlugins") if document is not None and not isinstance(document, Unread) else None
        if not isinstance(table, dict):
            continue
        for label, answer in table.items():
            is_on = answer is True or isinstance(answer, list | dict)
            if is_on and path != files.user and not is_trusted and not answers.get(label):
                problems.append(f"{path}: plugin {label!r} is not loaded until you trust the project (`reverie trust`)")
                continue
            answers[label] = is_on
    return [label for label, is_on in answers.items() if is_on]


def _find_root(home: Path, label: str, registry: JsonObject) -> Path | None:
    name, _, market = label.partition("@")
    check_name(name, what="plugin name")
    installed = _find_install_path(registry, label)
    if installed is not None and installed.is_dir():
        return installed
    if not market:
        return None
    check_name(market, what="marketplace name")
    versions = [path for path in _list_folders(home / "cache" / market / name) if not (path / _ORPHANED).exists()]
    if versions:
        return max(versions, key=_version)
    return _in_marketplace(home / "marketplaces" / market, name)


def _find_install_path(registry: JsonObject, label: str) -> Path | None:
    plugins = registry.get("plugins")
    entry: Json = plugins.get(label) if isinstance(plugins, dict) else None
    # Several scopes make a list; the last one was installed for the nearest.
    newest = entry[-1] if isinstance(entry, list) and entry else entry
    path = newest.get("installPath") if isinstance(newest, dict) else None
    return Path(path) if isinstance(path, str) and path else None


def _version(path: Path) -> tuple[tuple[int, ...], bool, str]:
    numbers, dash, _ = path.name.partition("-")
    return tuple(int(part) for part in re.findall(r"\d+", numbers)), not dash, path.name


def _in_marketplace(folder: Path, name: str) -> Path | None:
    marketplace = read_object(folder / ".claude-plugin" / "marketplace.json")
    listed = marketplace.get("plugins") if marketplace is not None and not isinstance(marketplace, Unread) else None
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get("source"), str):
            return safe_join(folder, str(entry["source"]))
    return None
