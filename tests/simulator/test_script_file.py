from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from reverie.errors import UserMistake
from reverie.messages.blocks import Json
from reverie_simulator.script import Fault, Incoming, ScriptAction, ToolCall
from reverie_simulator.script_file import action_from_json, read_script, script_from_json
from tests.requirements import requirement
from tests.simulator.requests import assistant, call, request, result, user


def written(folder: Path, script: Json) -> Path:
    path = folder / "script.json"
    path.write_bytes(msgspec.json.encode(script))
    return path


@requirement("simulator:script:rules")
def test_a_file_says_the_same_as_rules_in_python(tmp_path: Path) -> None:
    script = read_script(
        written(
            tmp_path,
            {
                "rules": [
                    {
                        "name": "read first",
                        "when": {"last_user": "FIX", "has_tool_results": False},
                        "then": {"thinking": "hm", "tool_calls": [{"name": "Read", "input": {"path": "a"}}]},
                    },
                    {"when": {"answers_tool": "Read"}, "then": ["First.", {"text": "Second.", "delay_ms": 250}]},
                    {
                        "then": {"fault": {"kind": "rate_limit", "retry_after": 2, "message": "Slow down."}},
                        "times": 1,
                    },
                    {"then": {"fault": "drop"}},
                ]
            },
        )
    )
    asks = Incoming(1, request([user("please fix it")]))
    answers = Incoming(2, request([user("fix"), assistant(call("a", "Read")), user(result("a"))]))
    other = Incoming(3, request([user("hello")]))

    assert script(asks) == ScriptAction(thinking="hm", tool_calls=(ToolCall("Read", {"path": "a"}),))
    assert [script(answers) for _ in range(2)] == [
        ScriptAction(text="First."),
        ScriptAction(text="Second.", delay_seconds=0.25),
    ]
    assert script(answers) == ScriptAction(fault=Fault("rate_limit", message="Slow down.", retry_after_seconds=2))
    assert script(other) == ScriptAction(fault=Fault("drop"))


@requirement("simulator:script:rules")
def test_headers_are_matched_whatever_their_case() -> None:
    script = script_from_json([{"when": {"headers": {"X-Test": "yes"}}, "then": "heard"}], "here")

    assert script(Incoming(1, request(), {"x-test": "yes"})) == ScriptAction(text="heard")
    assert script(Incoming(2, request(), {})) is None


MISTAKES: list[tuple[Json, str]] = [
    ({"rules": {}}, "rules must be a list of rules"),
    ({"rulez": []}, "rulez is not a known field; there are rules"),
    ([{"when": {}}], "0.then is missing: it says what happens"),
    ([{"then": []}], "0.then must not be empty"),
    ([{"then": 5}], "0.then must be an object"),
    ([{"then": {"txt": "x"}}], "0.then.txt is not a known field; there are text, thinking,"),
    ([{"then": {"text": 5}}], "0.then.text must be a string"),
    ([{"then": ["ok", {"delay_ms": "x"}]}], "0.then.1.delay_ms must be a number of at least 0"),
    ([{"then": "x", "times": 0}], "0.times must be a whole number of at least 1"),
    ([{"then": "x", "when": {"user": "x"}}], "0.when.user is not a known field; there are last_user,"),
    ([{"then": "x", "when": {"last_user": "("}}], "0.when.last_user is not a regular expression:"),
    ([{"then": "x", "when": {"streams": 1}}], "0.when.streams must be true or false"),
    ([{"then": "x", "when": {"request": 0}}], "0.when.request must be a whole number of at least 1"),
    ([{"then": {"tool_calls": [{"input": {}}]}}], "0.then.tool_calls.0.name is missing"),
    ([{"then": {"tool_calls": [{"name": "x", "input": []}]}}], "0.then.tool_calls.0.input must be an object"),
    ([{"then": {"blocks": "x"}}], "0.then.blocks must be a list"),
    ([{"then": {"fault": "explosion"}}], "0.then.fault.kind is 'explosion'; there are rate_limit,"),
    ([{"then": {"fault": {"kind": "drop", "after": 1}}}], "0.then.fault.after is not a known field"),
    ([{"then": {"fault": {"kind": "drop", "after_events": -1}}}], "0.then.fault.after_events must be a whole number"),
    (["x"], "0 must be an object"),
]


@requirement("simulator:script:names-mistakes")
@pytest.mark.parametrize(("script", "words"), MISTAKES, ids=[words[:40] for _, words in MISTAKES])
def test_a_mistake_names_file_rule_and_field(tmp_path: Path, script: Json, words: str) -> None:
    path = written(tmp_path, script)

    with pytest.raises(UserMistake) as caught:
        read_script(path)

    assert str(caught.value).startswith(f"The script {path} has a mistake: ")
    assert words in str(caught.value)


@requirement("simulator:script:names-mistakes")
def test_a_file_that_is_missing_or_no_json_is_named(tmp_path: Path) -> None:
    missing, broken = tmp_path / "missing.json", tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")

    with pytest.raises(UserMistake, match=r"missing\.json cannot be read"):
        read_script(missing)
    with pytest.raises(UserMistake, match=r"broken\.json is not valid JSON"):
        read_script(broken)


def test_one_action_can_be_read_alone() -> None:
    assert action_from_json({"text": "x"}, "here") == ScriptAction(text="x")
