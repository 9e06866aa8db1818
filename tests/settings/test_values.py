from __future__ import annotations

import pytest

from reverie.settings.schema import ValueMismatch, describe_expected, find, parse, read
from tests.requirements import requirement


def sentence(key: str, raw: object) -> str:
    found = find(tuple(key.split(".")))
    assert found is not None
    outcome = read(found, raw)
    assert isinstance(outcome, ValueMismatch), outcome
    return outcome.sentence


@requirement("settings:mistakes:place")
@pytest.mark.parametrize(
    ("key", "raw", "words"),
    [
        ("spill.result_chars", "many", "takes a whole number of at least 1, not the text 'many'"),
        ("spill.result_chars", 0, "takes a whole number of at least 1, not 0"),
        ("spill.result_chars", 1.5, "takes a whole number of at least 1, not 1.5"),
        ("spill.result_chars", True, "takes a whole number of at least 1, not true"),
        ("spill.enabled", 1, "takes `true` or `false`, not 1"),
        ("snip.trigger_fraction", 1.01, "takes a number from 0 to 1, not 1.01"),
        ("snip.trigger_fraction", float("nan"), "takes a number from 0 to 1, not nan"),
        ("dream.min_hours", float("inf"), "takes a number of at least 0, not inf"),
        ("snip.trigger_fraction", 10**400, f"takes a number from 0 to 1, not {10**400}"),
        ("compaction.auto_percent", 101, "takes a whole number from 1 to 100, not 101"),
        ("ui.color", "pink", "takes one of `auto`, `always`, `never`, not the text 'pink'"),
        ("permissions.deny", "Bash", "takes a list, each item a text, not the text 'Bash'"),
        ("permissions.deny", ["Bash", 3], "takes a list, each item a text, not 3"),
        ("hooks", [], "takes a table, not a list"),
        ("memory.directory", {"a": 1}, "takes a text, not a table"),
    ],
)
def test_a_value_that_does_not_fit_is_answered_with_what_would(key: str, raw: object, words: str) -> None:
    assert sentence(key, raw) == words


@requirement("settings:values:same-everywhere")
@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("spill.enabled", "ON", True),
        ("spill.enabled", "0", False),
        ("spill.result_chars", " 60_000 ", 60_000),
        ("dream.min_hours", "2", 2.0),
        ("permissions.deny", "Bash, Write,", ("Bash", "Write")),
        ("permissions.deny", '["Bash(a, b)"]', ("Bash(a, b)",)),
        ("permissions.deny", "", ()),
        ("memory.extra_guidelines", " kept as it is ", " kept as it is "),
        ("cache.ttl", "5m", "5m"),
    ],
)
def test_a_text_stands_for_a_value_of_the_keys_type(key: str, text: str, value: object) -> None:
    found = find(tuple(key.split(".")))
    assert found is not None
    assert parse(found, text) == value


@requirement("settings:values:same-everywhere")
@pytest.mark.parametrize(
    ("key", "text"),
    [("spill.enabled", "maybe"), ("spill.result_chars", "1e3"), ("dream.min_hours", "soon"), ("permissions.deny", "[")],
)
def test_a_text_that_stands_for_nothing_is_a_mismatch(key: str, text: str) -> None:
    found = find(tuple(key.split(".")))
    assert found is not None
    assert isinstance(parse(found, text), ValueMismatch)


@requirement("settings:secrets:never-shown")
def test_a_key_pasted_where_its_variable_belongs_is_not_repeated() -> None:
    pasted = "-".join(["sk", "ant", "api03", "x" * 30])
    words = sentence("models.mine.key_env", pasted)
    assert words == "takes the name of an environment variable, never a key itself"
    assert pasted not in words


@requirement("settings:docs:true")
def test_a_key_says_what_it_takes() -> None:
    from reverie.settings.schema import keys

    assert {describe_expected(key) for key in keys().values()} >= {
        "`true` or `false`",
        "a text",
        "a table",
        "a whole number of at least 1",
        "a number from 0 to 1",
        "a list, each item a text",
    }
