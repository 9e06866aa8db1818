"""Every setting changes something that is seen from outside."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import reverie
from reverie.settings import Settings
from reverie.settings.bounds import Guard
from reverie.settings.layers import Given, Layer, Source, merge
from reverie.settings.schema import find, keys
from tests.requirements import requirement
from tests.settings.effects.rows import ONLY_READ, ROWS, Row

NAMES = tuple(key.name for key in keys().values())
SAMPLE = frozenset(random.Random(12).sample(sorted(ROWS), 30))


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
    assert sorted(set(NAMES) - set(ROWS) - set(ONLY_READ)) == []
    assert sorted(set(ROWS) - set(NAMES)) == []
    assert sorted(set(ONLY_READ) & set(ROWS)) == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A sample of all rows, or all of them."""
    if "tried" in metafunc.fixturenames:
        metafunc.parametrize("tried", ROWS if metafunc.config.getoption("--thorough") else sorted(SAMPLE))


@requirement("settings:effect:every")
def test_another_value_is_seen(tried: str, *, thorough: bool) -> None:
    row = ROWS[tried]
    usual = seen(row, row.base)
    if thorough:
        assert seen(row, row.base) == usual, "the door shows something else each time"
    assert seen(row, {**row.base, tried: row.value}) != usual


@requirement("settings:effect:every")
@pytest.mark.parametrize("name", ONLY_READ)
def test_a_setting_without_a_row_is_read_by_the_program(name: str) -> None:
    field = name.rpartition(".")[2]
    folder = Path(reverie.__file__).parent
    sources = (path for path in folder.rglob("*.py") if path.parent != folder / "settings")
    assert any(re.search(rf"\.{field}\b", path.read_text(encoding="utf-8")) for path in sources)


def seen(row: Row, values: Mapping[str, object]) -> str:
    """What the door shows, without how long it took."""
    return re.sub(r"(?<!\w)seconds=[\d.e-]+", "", repr(row.door(settings_with(values))))
