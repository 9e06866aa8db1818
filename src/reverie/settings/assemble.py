"""Builds the settings tree from values by path, and walks it by path.

A table whose names the user chooses is a tuple in the tree: of profiles for `models`, of pairs elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from reverie.settings.schema import ANY_NAME, Key, KeyPath, keys
from reverie.settings.session import ModelProfile
from reverie.settings.tree import Settings


def assembled(values: Mapping[KeyPath, object]) -> Settings:
    """The defaults with these values in them."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        here = tree
        for name in path[:-1]:
            here = here.setdefault(name, {})
        here[path[-1]] = value
    built = _with(Settings(), tree)
    assert isinstance(built, Settings)
    return built


def _with(area: Any, changes: Mapping[str, Any]) -> object:
    """The area with the changes in it; a table of the user's names becomes a tuple."""
    values: dict[str, object] = {}
    for name, new in changes.items():
        old = getattr(area, name)
        if is_dataclass(old):
            values[name] = _with(old, new)
        elif name == "models":
            values[name] = tuple(ModelProfile(name=chosen, **profile) for chosen, profile in new.items())
        elif isinstance(new, dict):
            values[name] = tuple(new.items())
        else:
            values[name] = new
    return replace(area, **values)


def value_of(settings: Settings, path: KeyPath) -> object:
    """The value at a path, through tables that the user named."""
    here: object = settings
    for name in path:
        if isinstance(here, tuple):
            here = _named(here, name)
        else:
            here = getattr(here, name)
    return here


def present_paths(settings: Settings) -> Iterator[tuple[Key, KeyPath]]:
    """Every key with the path it has here: a star becomes each name that the user chose."""
    for key in keys().values():
        if ANY_NAME not in key.path:
            yield key, key.path
            continue
        star = key.path.index(ANY_NAME)
        table = value_of(settings, key.path[:star])
        assert isinstance(table, tuple)
        for entry in table:
            name = entry.name if isinstance(entry, ModelProfile) else entry[0]
            yield key, (*key.path[:star], name, *key.path[star + 1 :])


def _named(table: tuple[object, ...], name: str) -> object:
    for entry in table:
        if isinstance(entry, ModelProfile) and entry.name == name:
            return entry
        if isinstance(entry, tuple) and entry[0] == name:
            return entry[1]
    raise KeyError(name)
