""""""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.files.trust import TrustKind, write_answers
from reverie.models import from_settings
from reverie.models.profiles import profile
from reverie.session.wiring import Agreed, apply_trust
from reverie.settings.load import Configuration, SettingsFlags, load, places
from tests.requirements import requirement


def configured(tmp_path: Path, text: str = "", **environ: str) -> Configuration:
    home = tmp_path / "home"
    (home / ".reverie").mkdir(parents=True)
    (home / ".reverie" / "settings.toml").write_text(text, encoding="utf-8")
    return load(SettingsFlags(), environ=environ, user_home=home, directory=tmp_path)


@requirement("wiring:model:by-keys")
@pytest.mark.parametrize(
    ("environ", "named", "name", "is_chosen"),
    [
        ({}, None, "offline", False),
        ({"ANTHROPIC_API_KEY": "k"}, None, "claude-sonnet-5", False),
        ({"OPENAI_API_KEY": "k"}, None, "openai/gpt-5", False),
        ({"ANTHROPIC_API_KEY": "k"}, "offline", "offline", True),
    ],
)
def test_the_keys_at_hand_choose_the_model(
    tmp_path: Path, environ: dict[str, str], named: str | None, name: str, is_chosen: bool
) -> None:
    choice = from_settings.model_choice(configured(tmp_path, **environ), named)

    assert (choice.name, choice.is_chosen) == (name, is_chosen)


@requirement("wiring:model:own-profile")
def test_a_local_server_is_two_lines_of_settings(tmp_path: Path) -> None:
    text = '[models.tiny]\nbase_url = "http://localhost:8080/v1"\nwindow_tokens = 4096\nabilities = ["cache_edits"]\n'
    configuration = configured(tmp_path, text)

    model = from_settings.model(configuration, "tiny")
    facts = profile("tiny", from_settings.profile_overrides(configuration.settings))

    assert model.name == "tiny"
    assert facts.window_tokens == 4096
    assert facts.abilities.cache_edits


@requirement("wiring:model:own-profile")
def test_a_profile_whose_key_is_not_set_is_a_mistake_that_names_the_variable(tmp_path: Path) -> None:
    configuration = configured(tmp_path, '[models.hosted]\nbase_url = "http://h/v1"\nkey_env = "HOSTED_KEY"\n')

    with pytest.raises(UserMistake, match="HOSTED_KEY"):
        from_settings.model(configuration, "hosted")


@requirement("wiring:budget:settings")
def test_the_lines_of_the_window_follow_the_settings(tmp_path: Path) -> None:
    plain = from_settings.budget(configured(tmp_path / "a").settings, "claude-sonnet-4-5")
    moved = from_settings.budget(
        configured(tmp_path / "b", "[compaction]\nauto_percent = 50\n[window]\nwarning_fraction = 0.5\n").settings,
        "claude-sonnet-4-5",
    )
    raised = from_settings.budget(
        configured(tmp_path / "c", "[compaction]\nauto_percent = 100\n").settings, "claude-sonnet-4-5"
    )

    assert plain.compact_at_tokens == 167_000
    assert moved.compact_at_tokens == 100_000
    assert moved.warning_tokens == 50_000
    assert raised.compact_at_tokens == plain.compact_at_tokens


@requirement("wiring:budget:settings")
def test_a_reported_size_above_the_window_shows_the_extended_one(tmp_path: Path) -> None:
    settings = configured(tmp_path).settings

    assert from_settings.budget(settings, "claude-sonnet-4-5", reported_tokens=300_000).window_tokens == 1_000_000


def _load(tmp_path: Path, *, trusted: bool | None = None) -> Configuration:
    return load(
        SettingsFlags(),
        environ={},
        user_home=tmp_path / "home",
        directory=tmp_path / "project",
        managed=tmp_path / "managed",
        trusted=trusted,
    )


def _agreed(tmp_path: Path) -> Agreed:
    return apply_trust(_load(tmp_path), lambda: _load(tmp_path, trusted=True))


@requirement("extensions:trust:waiting", "extensions:trust:answers")
def test_guarded_settings_count_as_far_as_they_are_agreed_to_and_hooks_go_along(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude"
    folder.mkdir(parents=True)
    said = {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(rm:*)"], "additionalDirectories": ["../other"]},
        "enabledPlugins": {"crane@market": True},
    }
    (folder / "settings.json").write_text(json.dumps(said), encoding="utf-8")

    before = _agreed(tmp_path)
    assert before.configuration.settings.permissions.allow == ()
    assert before.configuration.settings.permissions.deny == ("Bash(rm:*)",)
    assert len(before.configuration.settings.hooks) == 1
    assert {part.kind for part in before.parts} == {TrustKind.ALLOW, TrustKind.DIRECTORIES, TrustKind.PLUGINS}
    assert not before.is_trusted

    store, project = places(before.configuration).trust, before.configuration.project
    now = datetime(2026, 1, 1, tzinfo=UTC)
    write_answers(store, project, before.parts[:1], accepted=True, now=now)
    partly = _agreed(tmp_path)
    assert partly.configuration.settings.permissions.allow == ("Bash(make:*)",)
    assert partly.configuration.settings.permissions.additional_directories == ()
    assert partly.parts == before.parts
    write_answers(store, project, before.parts, accepted=True, now=now)
    after = _agreed(tmp_path)
    assert after.configuration.settings.permissions.allow == ("Bash(make:*)",)
    assert after.configuration.settings.permissions.additional_directories == ("../other",)
    assert after.is_trusted


@requirement("extensions:trust:waiting")
def test_a_project_that_brings_nothing_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()

    def never() -> Configuration:
        raise AssertionError("read twice")

    found = apply_trust(_load(tmp_path), never)
    assert found.parts == ()
