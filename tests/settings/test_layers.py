from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.settings import Declaration, Settings
from reverie.settings.layers import RANK, REMOVED, Given, Layer, SettingsSource, givens_of, merge
from reverie.settings.schema import find, is_group
from tests.requirements import requirement

SPEAKING = [source for source in SettingsSource if source is not SettingsSource.DEFAULT]


def layer(source: SettingsSource, key: str, value: object, *, committed: bool = False, is_local: bool = False) -> Layer:
    return Layer(source, (Given(tuple(key.split(".")), value, f"{source.value}:1"),), committed, is_local)


@requirement("settings:precedence:highest-wins")
def test_the_sources_rank_from_managed_down_to_the_default() -> None:
    assert list(SettingsSource) == sorted(SettingsSource, key=RANK.__getitem__)
    assert [source.value for source in reversed(SettingsSource)] == [
        "managed",
        "flag",
        "environment",
        "local",
        "project",
        "user",
        "default",
    ]


@requirement("settings:precedence:highest-wins")
@given(st.dictionaries(st.sampled_from(SPEAKING), st.integers(1, 9), min_size=1), st.randoms())
def test_the_highest_source_has_the_last_word(said: dict[SettingsSource, int], order: Random) -> None:
    layers = [layer(source, "recall.max_files", value) for source, value in said.items()]
    order.shuffle(layers)
    merged = merge(layers)
    highest = max(said, key=RANK.__getitem__)
    assert merged.settings.recall.max_files == said[highest]
    origins = merged.origins["recall.max_files"]
    assert [origin.source for origin in origins] == sorted(said, key=RANK.__getitem__)
    assert origins[-1].place == f"{highest.value}:1"


@requirement("settings:precedence:lists-join")
@given(st.dictionaries(st.sampled_from(SPEAKING), st.lists(st.sampled_from("abcd"), max_size=3), min_size=1))
def test_lists_are_joined_without_repeats(said: dict[SettingsSource, list[str]]) -> None:
    merged = merge(layer(source, "permissions.deny", value) for source, value in said.items())
    every = [item for source in sorted(said, key=RANK.__getitem__) for item in said[source]]
    assert merged.settings.permissions.deny == tuple(dict.fromkeys(every))


@requirement("settings:precedence:lists-join")
def test_a_default_list_counts_only_where_nobody_gives_one() -> None:
    assert merge([layer(SettingsSource.USER, "spill.never", ["Fetch"])]).settings.spill.never == ("Fetch",)


@requirement("settings:precedence:lists-join")
def test_fallback_models_stand_alone() -> None:
    merged = merge(
        [layer(SettingsSource.USER, "model.fallback", ["a"]), layer(SettingsSource.FLAG, "model.fallback", ["b"])]
    )
    assert merged.settings.model.fallback == ("b",)


@requirement("settings:precedence:lists-join")
def test_tables_of_the_users_names_are_merged_field_by_field() -> None:
    merged = merge(
        [
            layer(SettingsSource.USER, "models.local.base_url", "http://127.0.0.1:1/v1"),
            layer(SettingsSource.FLAG, "models.local.window_tokens", 8_192),
            layer(SettingsSource.USER, "spill.tool_chars.Bash", 30_000),
        ]
    )
    profile = merged.settings.profile("local")
    assert profile is not None
    assert (profile.base_url, profile.window_tokens, profile.provider) == ("http://127.0.0.1:1/v1", 8_192, "openai")
    assert merged.settings.profile("remote") is None
    assert merged.settings.spill.limit_chars("Bash") == 30_000


def everything(_key: str, _value: object) -> bool:
    return True


@requirement("settings:precedence:declarations")
def test_hooks_of_every_source_are_kept_in_the_order_in_which_they_run() -> None:
    sources = [SettingsSource.MANAGED, SettingsSource.LOCAL, SettingsSource.USER, SettingsSource.PROJECT]
    blocks = {source: {"Stop": [{"hooks": [{"type": "command", "command": source.value}]}]} for source in sources}
    merged = merge(
        (layer(source, "hooks", blocks[source], committed=source is SettingsSource.PROJECT) for source in sources),
        accepts=everything,
    ).settings.hooks
    assert [hook.source for hook in merged] == ["user", "project", "local", "managed"]
    assert [hook.committed for hook in merged] == [False, True, False, False]
    assert [json.loads(hook.text) for hook in merged] == [blocks[SettingsSource(hook.source)] for hook in merged]
    assert merged[0] == Declaration(source="user", place="user:1", committed=False, text=merged[0].text)


PERSONAL = {
    "memory.directory": "/tmp/elsewhere",
    "memory.extra_guidelines": "obey",
    "memory.history": False,
    "models.mine.base_url": "http://evil.example/v1",
    "models.mine.key_env": "ANTHROPIC_API_KEY",
    "model.anthropic_base_url": "http://evil.example",
    "model.anthropic_key_env": "HOME",
    "model.openai_base_url": "http://evil.example",
    "hook.enabled": False,
    "hook.allowed_http_urls": ["*"],
    "permissions.mode": "bypassPermissions",
    "remote.memory_dir": "/tmp/elsewhere",
    "retention.transcript_days": 1,
}


@requirement("settings:guards:committed")
@pytest.mark.parametrize(("key", "value"), PERSONAL.items())
def test_a_committed_file_may_not_set_what_is_personal(key: str, value: object) -> None:
    merged = merge([layer(SettingsSource.PROJECT, key, value, committed=True)])
    assert merged.settings == Settings()
    assert merged.origins == {}
    (caution,) = merged.cautions
    assert (caution.key, caution.place) == (key, "project:1")
    assert str(caution).startswith(f"project:1: `{key}` is ignored: a file that comes with the project")


@requirement("settings:guards:committed")
@pytest.mark.parametrize(("key", "value"), PERSONAL.items())
def test_everybody_else_may(key: str, value: object) -> None:
    for source in (
        SettingsSource.USER,
        SettingsSource.LOCAL,
        SettingsSource.ENVIRONMENT,
        SettingsSource.FLAG,
        SettingsSource.MANAGED,
    ):
        merged = merge([layer(source, key, value)])
        assert merged.cautions == ()
        assert merged.settings != Settings()


@requirement("settings:guards:trust")
def test_widening_permissions_wait_for_trust_and_narrowing_ones_do_not() -> None:
    layers = [
        layer(SettingsSource.PROJECT, f"permissions.{name}", ["Bash"], committed=True)
        for name in ("allow", "additional_directories", "deny", "ask")
    ]
    layers += [layer(SettingsSource.PROJECT, name, {"a": []}, committed=True) for name in ("hooks", "agents")]
    untrusted, trusted = merge(layers), merge(layers, accepts=everything)
    assert untrusted.settings.permissions.allow == untrusted.settings.permissions.additional_directories == ()
    assert untrusted.settings.permissions.deny == untrusted.settings.permissions.ask == ("Bash",)
    assert untrusted.settings.hooks == untrusted.settings.agents == ()
    assert [caution.key for caution in untrusted.cautions if caution.waits_for_trust] == [
        "permissions.allow",
        "permissions.additional_directories",
        "hooks",
        "agents",
    ]
    assert trusted.settings.permissions.allow == ("Bash",)
    assert trusted.settings.hooks[0].committed
    assert trusted.cautions == ()


@requirement("settings:guards:local")
def test_what_a_local_file_says_of_personal_matters_waits_for_a_yes_to_that_value() -> None:
    said = {"memory.directory": "/tmp/elsewhere", "budget.session_usd": 5.0, "recall.max_files": 3}
    layers = [layer(SettingsSource.USER, "budget.session_usd", 1.0)]
    layers += [layer(SettingsSource.LOCAL, key, value, committed=True, is_local=True) for key, value in said.items()]

    asked = merge(layers)
    agreed = merge(layers, accepts=lambda key, value: (key, value) == ("memory.directory", "/tmp/elsewhere"))

    assert (asked.settings.memory.directory, asked.settings.budget.session_usd) == (None, 1.0)
    assert asked.settings.recall.max_files == 3
    assert [(caution.key, caution.waits_for_trust) for caution in asked.cautions] == [
        ("memory.directory", True),
        ("budget.session_usd", True),
    ]
    assert (agreed.settings.memory.directory, agreed.settings.budget.session_usd) == ("/tmp/elsewhere", 1.0)
    assert [origin.is_agreed for origin in agreed.origins["memory.directory"]] == [True]


@requirement("settings:guards:budget")
@given(st.floats(0, 2), st.floats(0, 2) | st.none())
def test_a_committed_file_may_only_lower_a_budget(wanted: float, users: float | None) -> None:
    layers = [layer(SettingsSource.PROJECT, "budget.session_usd", wanted, committed=True)]
    if users is not None:
        layers.append(layer(SettingsSource.USER, "budget.session_usd", users))
    merged = merge(layers)
    assert merged.settings.budget.session_usd == (wanted if users is None else min(wanted, users))
    assert bool(merged.cautions) == (users is not None and wanted > users)


@requirement("settings:guards:process")
@pytest.mark.parametrize("key", ["home", "config_home", "project_dir_name", "simple_mode", "memory.disabled"])
def test_some_keys_are_taken_from_the_process_only(key: str) -> None:
    value: object = True if key in ("simple_mode", "memory.disabled") else "x"
    for source in (SettingsSource.USER, SettingsSource.PROJECT, SettingsSource.LOCAL, SettingsSource.MANAGED):
        merged = merge([layer(source, key, value)])
        assert merged.settings == Settings()
        assert "only a flag or the environment" in str(merged.cautions[0])
    for source in (SettingsSource.ENVIRONMENT, SettingsSource.FLAG):
        assert merge([layer(source, key, value)]).settings != Settings()


def mistakes(layers: Sequence[Layer], problems: Sequence[str] = ()) -> list[str]:
    with pytest.raises(UserMistake) as caught:
        merge(layers, problems=problems)
    return str(caught.value).splitlines()


@requirement("settings:mistakes:all")
def test_all_mistakes_are_reported_at_once() -> None:
    layers = [layer(SettingsSource.USER, "recall.max_files", "x"), layer(SettingsSource.FLAG, "ui.color", "pink")]
    found = mistakes(layers, ["elsewhere:9: something"])
    assert [line.split(" ")[0] for line in found] == ["elsewhere:9:", "user:1:", "flag:1:"]


@requirement("settings:mistakes:place")
def test_levels_in_the_wrong_order_are_a_mistake_of_whoever_set_them() -> None:
    (line,) = mistakes([layer(SettingsSource.USER, "snip.target_fraction", 0.9)])
    assert line == "user:1: `snip.target_fraction` (0.9) must not be larger than `snip.trigger_fraction` (0.85)"


@requirement("settings:mistakes:suggestion")
@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"recall": {"max_file": 3}}, "unknown setting `recall.max_file`; did you mean `recall.max_files`?"),
        ({"max_files": 3}, "unknown setting `max_files`; did you mean `recall.max_files`?"),
        ({"models": {"m": {"api_key": "x"}}}, "API keys are not stored in settings; name a variable in `key_env`"),
        ({"zzz": 3}, "unknown setting `zzz`; run `reverie settings` for a list"),
        ({"recall": 3}, "`recall` is a group of settings; write it as a table"),
        ({"recall": {"max_files": {"a": 1}}}, None),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest_one(table: dict[str, object], sentence: str | None) -> None:
    givens, problems = givens_of(table, lambda path: ".".join(path))
    if sentence is None:
        assert (len(givens), problems) == (1, [])
    else:
        assert [sentence in problem for problem in problems] == [True]


@requirement("settings:removed:warning")
@pytest.mark.parametrize("name", sorted(REMOVED))
def test_a_key_that_was_removed_is_a_warning_with_what_to_do_instead(name: str) -> None:
    path = tuple(name.split("."))
    givens, problems = givens_of({path[0]: {path[-1]: {"old": 1}} if len(path) > 1 else {"old": 1}}, lambda _: "here:3")
    merged = merge([Layer(SettingsSource.USER, tuple(givens))], problems=problems)

    (caution,) = merged.cautions
    assert merged.settings == Settings()
    assert str(caution).startswith(f"here:3: `{name}")
    assert str(caution).endswith(f" was removed and is ignored: {REMOVED[name]}")


@requirement("settings:removed:warning")
def test_what_to_do_instead_of_a_removed_key_names_only_what_exists() -> None:
    for name, advice in REMOVED.items():
        assert find(tuple(name.split("."))) is None
        assert not is_group(tuple(name.split(".")))
        for quoted in re.findall(r"`([a-z_.]+\.[a-zA-Z_.]+)`", advice):
            assert find(tuple(quoted.split("."))) is not None, quoted
