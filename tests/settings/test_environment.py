from __future__ import annotations

import pytest

from reverie.settings import Settings
from reverie.settings.environment import OTHER_NAMES, givens_from, near_misses, speaks
from reverie.settings.layers import Layer, SettingsSource, merge, value_of
from reverie.settings.schema import Form, keys
from tests.requirements import requirement


def settings_from(**environ: str) -> Settings:
    return merge([Layer(SettingsSource.ENVIRONMENT, tuple(givens_from(environ)))]).settings


@requirement("settings:environment:systematic")
def test_every_scalar_and_list_has_a_variable_of_its_own() -> None:
    variables = [key.variable for key in keys().values() if key.variable]
    assert len(variables) == len(set(variables)) > 150
    assert not set(variables) & set(OTHER_NAMES)
    without = [key for key in keys().values() if key.variable is None]
    assert all(key.form is Form.DECLARATION or "*" in key.path for key in without)
    assert "REVERIE_CLEARING_TIME_GAP_MINUTES" in variables


@requirement("settings:environment:names")
@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("REVERIE_HOME", "/h", "home", "/h"),
        ("REVERIE_CONFIG_HOME", "/c", "config_home", "/c"),
        ("REVERIE_SIMPLE_MODE", "1", "simple_mode", True),
        ("REVERIE_REMOTE_MODE", "1", "remote.mode", True),
        ("REVERIE_REMOTE_MEMORY_DIR", "/m", "remote.memory_dir", "/m"),
        ("REVERIE_DISABLE_AUTO_MEMORY", "1", "memory.disabled", True),
        ("REVERIE_DISABLE_AUTO_MEMORY", "0", "memory.disabled", False),
        ("REVERIE_MEMORY_PATH_OVERRIDE", "/o", "memory.path_override", "/o"),
        ("REVERIE_MEMORY_EXTRA_GUIDELINES", "be kind", "memory.extra_guidelines", "be kind"),
        ("REVERIE_AUTO_COMPACT_WINDOW", "120000", "compaction.auto_window_tokens", 120_000),
        ("REVERIE_CONTEXT_COLLAPSE", "true", "collapse.enabled", True),
        ("REVERIE_CONTEXT_COLLAPSE", "false", "collapse.enabled", False),
        ("REVERIE_MODEL", "offline", "model.default", "offline"),
    ],
)
def test_a_variable_has_its_stated_effect(name: str, text: str, key: str, value: object) -> None:
    assert value_of(settings_from(**{name: text}), tuple(key.split("."))) == value


@requirement("settings:environment:vendor")
@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("CLAUDE_CONFIG_DIR", "/c", {"config_home": "/c"}),
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1", {"memory.disabled": True}),
        ("CLAUDE_CODE_SIMPLE", "1", {"simple_mode": True}),
        ("CLAUDE_CODE_SIMPLE", "0", {"simple_mode": False}),
        ("CLAUDE_CODE_REMOTE", "true", {"remote.mode": True}),
        ("CLAUDE_CODE_REMOTE_MEMORY_DIR", "/mnt/m", {"remote.memory_dir": "/mnt/m"}),
        ("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "/mnt/own", {"memory.path_override": "/mnt/own"}),
        ("CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES", "Write in French.", {"memory.extra_guidelines": "Write in French."}),
        ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1", {"instructions.enabled": False, "memory.disabled": True}),
        ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "0", {"instructions.enabled": True, "memory.disabled": False}),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "150000", {"compaction.auto_window_tokens": 150_000}),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70", {"compaction.auto_percent": 70}),
        ("DISABLE_AUTO_COMPACT", "1", {"compaction.auto": False, "compaction.enabled": True}),
        ("DISABLE_COMPACT", "1", {"compaction.enabled": False}),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9", {"model.anthropic_base_url": "http://127.0.0.1:9"}),
    ],
)
def test_variables_that_users_already_set_keep_their_meaning(name: str, text: str, values: dict[str, object]) -> None:
    settings = settings_from(**{name: text})
    assert {key: value_of(settings, tuple(key.split("."))) for key in values} == values


@requirement("settings:environment:vendor")
def test_ours_counts_for_more_than_the_vendors() -> None:
    both = settings_from(CLAUDE_CODE_AUTO_COMPACT_WINDOW="150000", REVERIE_AUTO_COMPACT_WINDOW="120000")
    assert both.compaction.auto_window_tokens == 120_000
    own = settings_from(REVERIE_AUTO_COMPACT_WINDOW="120000", REVERIE_COMPACTION_AUTO_WINDOW_TOKENS="90000")
    assert own.compaction.auto_window_tokens == 90_000


@requirement("settings:environment:vendor")
def test_a_folder_name_counts_only_beside_a_moved_root() -> None:
    assert settings_from(CLAUDE_CODE_PROJECT_DIR_NAME="p").project_dir_name is None
    assert settings_from(CLAUDE_CODE_PROJECT_DIR_NAME="p", CLAUDE_CONFIG_DIR="/c").project_dir_name == "p"


@requirement("settings:environment:systematic")
def test_an_empty_variable_says_nothing() -> None:
    assert settings_from(REVERIE_RECALL_ENABLED="", DISABLE_COMPACT="") == Settings()


@requirement("settings:mistakes:suggestion")
def test_a_misspelt_variable_is_answered_with_the_nearest_one() -> None:
    environ = ["REVERIE_RECAL_MAX_FILES", "REVERIE_SHARED_DATA", "REVERIE_TEAM_TOKEN", "PATH", "REVERIE_MODEL"]
    used = ["REVERIE_TEAM_TOKEN"]
    assert near_misses(environ, used=used) == [
        (
            "REVERIE_RECAL_MAX_FILES",
            "REVERIE_RECAL_MAX_FILES is not a setting; did you mean REVERIE_RECALL_MAX_FILES?",
        )
    ]


@requirement("settings:removed:warning")
def test_a_variable_of_a_removed_key_is_answered_with_what_to_do_instead() -> None:
    names = ["REVERIE_TEAM_SERVER", "REVERIE_INDEX_LINE_CHARS", "REVERIE_TEAMS"]
    found = near_misses(names)
    assert [name for name, _ in found] == ["REVERIE_INDEX_LINE_CHARS", "REVERIE_TEAM_SERVER"]
    assert all("was removed and is ignored: " in sentence for _, sentence in found)


@requirement("settings:load:cheap")
def test_an_environment_without_our_names_is_known_by_a_glance() -> None:
    assert not speaks(["PATH", "HOME", "CLAUDECODE"])
    assert speaks(["PATH", "REVERIE_ANYTHING"])
    assert speaks(["DISABLE_COMPACT"])
