"""Every setting changes something that is seen from outside."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from reverie.settings import Settings
from reverie.settings.bounds import Guard
from reverie.settings.layers import Given, Layer, Source, merge
from reverie.settings.schema import find, keys
from tests.requirements import requirement
from tests.settings.effects.rows import ROWS, Row

NAMES = tuple(key.name for key in keys().values())


def settings_with(values: Mapping[str, object]) -> Settings:
    """Settings as flags or an administrator make them; a star stands for a name of the user's own."""
    layers = []
    for name, each in values.items():
        path = tuple(name.replace("*", "mine" if name.startswith("models") else "Fetch").split("."))
        key = find(path)
        assert key is not None, name
        source = Source.MANAGED if key.guard is Guard.MANAGED else Source.FLAG
        layers.append(Layer(source, (Given(path, each, "here"),)))
    merged = merge(layers)
    assert not merged.cautions
    return merged.settings


@requirement("settings:effect:every")
def test_every_setting_has_a_row() -> None:
    assert sorted(set(NAMES) - set(ROWS)) == []
    assert sorted(set(ROWS) - set(NAMES)) == []


@requirement("settings:effect:every")
@pytest.mark.parametrize("name", NAMES)
def test_another_value_is_seen(name: str, *, thorough: bool) -> None:
    row = ROWS[name]
    usual = seen(row, row.given)
    if thorough:
        assert seen(row, row.given) == usual, "the door shows something else each time"
    assert seen(row, {**row.given, name: row.value}) != usual


def seen(row: Row, values: Mapping[str, object]) -> str:
    """What the door shows, without how long it took."""
    return re.sub(r"seconds=[\d.e-]+", "", repr(row.door(settings_with(values))))
