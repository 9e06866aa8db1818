from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from reverie.settings import ModelProfile, Settings, SpillSettings
from tests.requirements import requirement


@requirement("settings:tree:immutable")
def test_a_setting_cannot_be_assigned_or_deleted() -> None:
    settings = Settings()
    with pytest.raises(FrozenInstanceError):
        settings.spill.result_chars = 1  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del settings.spill
    with pytest.raises(AttributeError):
        settings.unheard_of = 1  # type: ignore[attr-defined]


@requirement("settings:tree:immutable")
def test_settings_are_values() -> None:
    changed = replace(Settings(), spill=replace(Settings().spill, result_chars=7))
    assert changed != Settings()
    assert changed == replace(Settings(), spill=SpillSettings(result_chars=7))
    assert hash(changed) == hash(copy.deepcopy(changed))
    assert pickle.loads(pickle.dumps(changed)) == changed
    assert repr(changed) == "Settings(spill=SpillSettings(result_chars=7))"


@requirement("settings:tree:immutable")
def test_an_area_refuses_names_it_does_not_have_and_asks_for_those_it_needs() -> None:
    with pytest.raises(TypeError, match="'result_char'"):
        SpillSettings(result_char=7)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'name'"):
        ModelProfile()  # type: ignore[call-arg]


@requirement("settings:tree:immutable")
def test_the_tools_of_dataclasses_work_on_areas() -> None:
    assert asdict(Settings())["recall"]["max_files"] == 5
    assert not hasattr(SpillSettings(), "__dict__")
