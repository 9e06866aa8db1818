"""Every setting changes something that is seen from outside."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import pytest

from reverie.settings import Settings
from reverie.settings.layers import Given, Layer, SettingsSource, merge
from reverie.settings.schema import find, keys
from reverie.settings.tree import Guard
from tests.requirements import requirement
from tests.settings.effects.doors import Door
from tests.settings.effects.rows import ROWS

NAMES = tuple(key.name for key in keys().values())
CHANCE = random.Random(12)
FAMILIES = sorted({name.partition(".")[0] for name in ROWS})
SAMPLE = [
    name
    for family in FAMILIES
    for rows in [sorted(row for row in ROWS if row.partition(".")[0] == family)]
    for name in CHANCE.sample(rows, (len(rows) + 7) // 8)
]
"""An eighth of each family, and one at least."""
_SEEN: dict[tuple[int, str], str] = {}


def settings_with(values: Mapping[str, object]) -> Settings:
    """Settings as flags or an administrator make them; a star stands for a name of the user's own."""
    layers = []
    for name, each in values.items():
        path = tuple(name.replace("*", "mine" if name.startswith("models") else "Fetch").split("."))
        key = find(path)
        assert key is not None, name
        source = SettingsSource.MANAGED if key.guard is Guard.MANAGED else SettingsSource.FLAG
        layers.append(Layer(source, (Given(path, each, "here"),)))
    merged = merge(layers)
    assert not merged.cautions
    return merged.settings


@requirement("settings:effect:every")
def test_every_setting_has_a_row() -> None:
    assert sorted(set(NAMES) - set(ROWS)) == []
    assert sorted(set(ROWS) - set(NAMES)) == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Some rows of each family, or all of them."""
    if "tried" in metafunc.fixturenames:
        metafunc.parametrize("tried", ROWS if metafunc.config.getoption("--thorough") else sorted(SAMPLE))


@requirement("settings:effect:every")
def test_another_value_is_seen(tried: str, *, thorough: bool) -> None:
    row = ROWS[tried]
    usual = seen(row.door, row.base)
    if thorough:
        assert shown(row.door, row.base) == usual, "the door shows something else each time"
    assert shown(row.door, {**row.base, tried: row.value}) != usual


def seen(door: Door, values: Mapping[str, object]) -> str:
    """What the door shows; rows that begin alike look once."""
    key = (id(door), repr(sorted(values.items())))
    if key not in _SEEN:
        _SEEN[key] = shown(door, values)
    return _SEEN[key]


def shown(door: Door, values: Mapping[str, object]) -> str:
    """What the door shows now, without how long it took and what ran beside it at that moment."""
    return re.sub(r"(?<!\w)seconds=[\d.e-]+|, background=\([^)]*\)", "", repr(door(settings_with(values))))
