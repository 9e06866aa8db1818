from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import pytest

from reverie.settings import Settings
from reverie.settings.features import features, find_off_reason
from tests.requirements import requirement

MEMORY_PARTS = ("rules", "index", "recall", "extraction", "dream", "agent_memory")
EVERY_WAY = list(product([False, True], repeat=5))


def made(*, disabled: bool, simple: bool, remote: bool, directory: bool, enabled: bool) -> Settings:
    settings = Settings(simple_mode=simple)
    return replace(
        settings,
        memory=replace(settings.memory, disabled=disabled, enabled=enabled),
        remote=replace(settings.remote, mode=remote, memory_dir="/mnt/memory" if directory else None),
    )


def changed(area: str, **values: object) -> Settings:
    settings = Settings()
    return replace(settings, **{area: replace(getattr(settings, area), **values)})


@requirement("settings:memory:off-matrix", "settings:memory:off-means-all")
@pytest.mark.parametrize(("disabled", "simple", "remote", "directory", "enabled"), EVERY_WAY)
def test_memory_is_off_exactly_when_something_turns_it_off(
    disabled: bool, simple: bool, remote: bool, directory: bool, enabled: bool
) -> None:
    settings = made(disabled=disabled, simple=simple, remote=remote, directory=directory, enabled=enabled)
    off = disabled or simple or (remote and not directory) or not enabled
    assert (find_off_reason(settings) is not None) == off
    running = features(settings)
    assert [getattr(running, part) for part in MEMORY_PARTS if part not in ("extraction", "dream")] == [not off] * 4
    assert running.extraction == running.dream == (not off and not remote)


@requirement("settings:memory:off-matrix")
def test_the_reason_names_the_switch() -> None:
    reasons = {
        "REVERIE_DISABLE_AUTO_MEMORY": changed("memory", disabled=True),
        "--bare": Settings(simple_mode=True),
        "REVERIE_REMOTE_MEMORY_DIR": changed("remote", mode=True),
        "memory.enabled": changed("memory", enabled=False),
    }
    for word, settings in reasons.items():
        assert word in (find_off_reason(settings) or "")


@requirement("settings:features:remote")
def test_remote_mode_with_a_directory_remembers_but_never_extracts_or_dreams() -> None:
    running = features(changed("remote", mode=True, memory_dir="/mnt/memory"))
    assert (running.recall, running.extraction, running.dream) == (True, False, False)


@requirement("settings:memory:off-means-all")
@pytest.mark.parametrize(
    ("area", "values", "part"),
    [
        ("recall", {"enabled": False}, "recall"),
        ("extraction", {"enabled": False}, "extraction"),
        ("dream", {"enabled": False}, "dream"),
        ("memory", {"daily_log": True}, "dream"),
        ("notes", {"enabled": False}, "notes"),
        ("compaction", {"from_notes": False}, "notes_compaction"),
        ("instructions", {"enabled": False}, "instructions"),
        ("hook", {"enabled": False}, "hooks"),
    ],
)
def test_each_part_has_a_switch_of_its_own(area: str, values: dict[str, object], part: str) -> None:
    on, off = features(Settings()), features(changed(area, **values))
    assert getattr(on, part)
    assert not getattr(off, part)
    assert off.agent_memory


@requirement("settings:features:notes")
def test_notes_need_automatic_compaction_and_not_memory() -> None:
    assert features(changed("memory", disabled=True)).notes
    assert not features(changed("compaction", auto=False)).notes
    assert not features(changed("compaction", enabled=False)).notes


@requirement("settings:memory:off-means-all")
def test_simple_mode_runs_nothing_of_it() -> None:
    running = features(Settings(simple_mode=True))
    assert [field.name for field in fields(running) if getattr(running, field.name)] == []


@requirement("settings:memory:off-means-all")
def test_a_process_that_answers_once_extracts_only_when_asked_to() -> None:
    assert not features(Settings(), interactive=False).extraction
    assert features(changed("extraction", noninteractive=True), interactive=False).extraction
