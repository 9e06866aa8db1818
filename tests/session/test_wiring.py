from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.models import from_settings
from reverie.models.profiles import profile
from reverie.settings.load import Configuration, SettingsFlags, load
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
