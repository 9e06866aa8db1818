from __future__ import annotations

import re

import pytest

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import ErrorAnswer, MessageAnswer
from reverie_simulator.script import (
    Condition,
    Fault,
    Incoming,
    RuleScript,
    ScriptAction,
    ScriptRule,
    ToolCall,
    fill_placeholders,
    in_order,
)
from reverie_simulator.wire import object_at, objects_at, text_at
from tests.requirements import requirement
from tests.simulator.requests import WORDS, answer, assistant, call, provider, refusal, request, result, tool, user


def said(answered: MessageAnswer) -> str:
    return " ".join(text_at(block, "text") for block in objects_at(answered.message, "content"))


AFTER_A_TOOL = request([user("read it"), assistant(call("a", "Read")), user(result("a", "the lines"))])


@requirement("simulator:script:rules")
@pytest.mark.parametrize(
    ("condition", "body", "holds"),
    [
        (Condition(last_user=re.compile("hel+o")), request(), True),
        (Condition(last_user=re.compile("bye")), request(), False),
        (Condition(last_user=re.compile("read it")), AFTER_A_TOOL, True),
        (Condition(system=re.compile("brief")), request(system="Be brief."), True),
        (Condition(system=re.compile("brief")), request(), False),
        (Condition(model=re.compile("opus")), request(), True),
        (Condition(model=re.compile("haiku")), request(), False),
        (Condition(request=1), request(), True),
        (Condition(request=2), request(), False),
        (Condition(has_tool_results=True), AFTER_A_TOOL, True),
        (Condition(has_tool_results=True), request(), False),
        (Condition(has_tool_results=False), request(), True),
        (Condition(tool_result=re.compile("lines")), AFTER_A_TOOL, True),
        (Condition(tool_result=re.compile("rows")), AFTER_A_TOOL, False),
        (Condition(answers_tool="Read"), AFTER_A_TOOL, True),
        (Condition(answers_tool="Bash"), AFTER_A_TOOL, False),
        (Condition(offers_tool="Read"), request(tools=[tool()]), True),
        (Condition(offers_tool="Bash"), request(tools=[tool()]), False),
        (Condition(streams=True), request(stream=True), True),
        (Condition(streams=True), request(), False),
        (Condition(headers=(("x-test", re.compile("^yes$")),)), request(), True),
        (Condition(headers=(("x-test", re.compile("no")),)), request(), False),
        (Condition(model=re.compile("opus"), last_user=re.compile("bye")), request(), False),
    ],
)
def test_a_rule_applies_when_all_its_conditions_hold(condition: Condition, body: JsonObject, holds: bool) -> None:
    assert condition.holds(Incoming(1, body, {"x-test": "yes"})) is holds


@requirement("simulator:script:rules")
def test_the_first_rule_that_holds_and_is_not_used_up_decides() -> None:
    script = RuleScript(
        [
            ScriptRule(when=Condition(last_user=re.compile("bye")), then=(ScriptAction(text="see you"),)),
            ScriptRule(then=(ScriptAction(text="once"),), times=1),
            ScriptRule(
                then=(ScriptAction(text="first"), ScriptAction(text="then always")),
            ),
        ]
    )
    one = provider(script)

    assert [said(answer(one, request())) for _ in range(4)] == ["once", "first", "then always", "then always"]
    assert said(answer(one, request([user("bye")]))) == "see you"


@requirement("simulator:script:rules")
def test_actions_in_order_are_followed_by_the_default_reply() -> None:
    one = provider(in_order(ScriptAction(text="scripted")))

    assert said(answer(one, request())) == "scripted"
    assert said(answer(one, request())) == "You said: hello"


@requirement("simulator:script:rules")
def test_a_function_is_a_script() -> None:
    one = provider(lambda incoming: ScriptAction(text=f"number {incoming.number}"))

    assert [said(answer(one, request())) for _ in range(2)] == ["number 1", "number 2"]


@requirement("simulator:script:rules")
def test_a_reply_can_think_speak_and_call_tools() -> None:
    calls = (ToolCall("Read", {"path": "a"}, id="toolu_given"), ToolCall("Bash", {"command": "ls"}))
    one = provider(in_order(ScriptAction(thinking="hm", text="I look.", tool_calls=calls)))

    answered = answer(one, request(tools=[tool(), tool("Bash")]))

    thought, words, first, second = objects_at(answered.message, "content")
    assert (thought["thinking"], words["text"]) == ("hm", "I look.")
    assert (first["id"], first["name"], first["input"]) == ("toolu_given", "Read", {"path": "a"})
    assert re.fullmatch(r"toolu_01\w{22}", text_at(second, "id"))
    assert answered.message["stop_reason"] == "tool_use"


@requirement("simulator:script:rules")
def test_blocks_and_stop_reason_can_be_given_as_they_are() -> None:
    block: JsonObject = {"type": "text", "text": "No."}
    one = provider(in_order(ScriptAction(blocks=(block,), stop_reason="refusal")))

    answered = answer(one, request())

    assert objects_at(answered.message, "content") == (block,)
    assert answered.message["stop_reason"] == "refusal"


@requirement("simulator:script:rules")
def test_placeholders_are_filled_once_and_unknown_ones_stay() -> None:
    incoming = Incoming(3, request([user("{model}")], system="sys"), {})

    assert fill_placeholders("{last_user}|{system}|{request}|{nothing}", incoming) == "{model}|sys|3|{nothing}"


@requirement("simulator:script:rules")
def test_the_default_reply_follows_from_the_request_alone() -> None:
    def default(**fields: Json) -> tuple[JsonObject, ...]:
        return objects_at(answer(provider(), request(**fields)).message, "content")  # type: ignore[arg-type]

    schema: Json = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "s": {"enum": ["a", "b"]},
            "l": {"type": "array"},
            "b": {"type": ["boolean", "null"]},
        },
        "required": ["n", "s", "l", "b"],
    }
    forced = default(tools=[tool(input_schema=schema)], tool_choice={"type": "tool", "name": "Read"})
    fitting = default(output_config={"format": {"type": "json_schema", "schema": schema}})

    assert default() == default() == ({"type": "text", "text": "You said: hello"},)
    assert forced[0]["input"] == {"n": 0, "s": "a", "l": [], "b": False}
    assert fitting[0]["text"] == '{"n":0,"s":"a","l":[],"b":false}'
    assert said(answer(provider(), AFTER_A_TOOL)) == "Read 1 tool result: the lines"


@requirement("simulator:rules:sizes")
def test_a_reply_stops_at_max_tokens() -> None:
    one = provider(in_order(ScriptAction(text=WORDS * 100)))

    answered = answer(one, request(max_tokens=50))

    assert answered.message["stop_reason"] == "max_tokens"
    assert 0 < len(said(answered)) < len(WORDS) * 100
    used = object_at(answered.message, "usage")["output_tokens"]
    assert isinstance(used, int)
    assert used <= 54


@requirement("simulator:rules:sizes")
def test_a_reply_of_no_tokens_only_fills_the_cache() -> None:
    one = provider()
    body = request([user(WORDS * 200)], max_tokens=0, cache_control={"type": "ephemeral"})

    answered = answer(one, body)

    assert answered.message["content"] == []
    assert answered.message["stop_reason"] == "max_tokens"
    assert answered.outcomes[0].usage.written_tokens > 0
    assert object_at(answered.message, "usage")["output_tokens"] == 0


@requirement("simulator:script:rules")
def test_a_reply_stops_before_a_stop_sequence() -> None:
    one = provider(in_order(ScriptAction(text="one two three")))

    answered = answer(one, request(stop_sequences=["three", "two"]))

    assert said(answered) == "one "
    assert (answered.message["stop_reason"], answered.message["stop_sequence"]) == ("stop_sequence", "two")


@requirement("simulator:faults:as-the-provider")
@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        (Fault("rate_limit", retry_after_seconds=7), 429, "rate_limit_error"),
        (Fault("rate_limit"), 429, "rate_limit_error"),
        (Fault("overloaded"), 529, "overloaded_error"),
        (Fault("server_error"), 500, "api_error"),
        (Fault("server_error", status=503), 503, "api_error"),
        (Fault("timeout"), 504, "timeout_error"),
        (Fault("too_large"), 413, "request_too_large"),
        (Fault("authentication"), 401, "authentication_error"),
        (Fault("billing"), 402, "billing_error"),
        (Fault("permission"), 403, "permission_error"),
        (Fault("not_found"), 404, "not_found_error"),
        (Fault("conflict"), 409, "conflict_error"),
        (Fault("invalid", message="No."), 400, "invalid_request_error"),
        (Fault("prompt_too_long"), 400, "invalid_request_error"),
        (Fault("error_event"), 529, "overloaded_error"),
    ],
)
def test_faults_are_refusals_with_the_providers_status_and_type(fault: Fault, status: int, kind: str) -> None:
    error = refusal(provider(in_order(ScriptAction(fault=fault))), request()).error

    assert error.status == status
    assert object_at(error.as_json(None), "error")["type"] == kind
    assert error.retry_after_seconds == (fault.retry_after_seconds or (1 if status == 429 else None))


@requirement("simulator:faults:as-the-provider")
def test_a_refused_request_leaves_the_cache_alone() -> None:
    one = provider(in_order(ScriptAction(fault=Fault("overloaded"))))
    body = request([user(WORDS * 200)], cache_control={"type": "ephemeral"})

    assert isinstance(refusal(one, body), ErrorAnswer)

    assert answer(one, body).outcomes[0].usage.read_tokens == 0


@requirement("simulator:faults:as-the-provider")
def test_a_too_long_prompt_can_be_staged_with_the_models_window() -> None:
    error = refusal(provider(in_order(ScriptAction(fault=Fault("prompt_too_long")))), request()).error

    assert error.message == "prompt is too long: 1020000 tokens > 1000000 maximum"
