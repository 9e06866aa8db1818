from __future__ import annotations

import pytest

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import MessageAnswer, PromptCount
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.rules.headers import CONTEXT_MANAGEMENT_BETA
from reverie_simulator.wire import object_at, objects_at
from tests.requirements import requirement
from tests.simulator.requests import (
    EPHEMERAL,
    WORDS,
    answer,
    assistant,
    call,
    headers,
    provider,
    request,
    result,
    serve,
    text,
    tool,
    user,
)


def session(calls: int, *, tool_name: str = "Read", thinks: bool = False) -> list[JsonObject]:
    """A task, then so many calls with long results."""
    messages: list[JsonObject] = [user("the task")]
    for number in range(calls):
        thought: list[JsonObject] = [thinking(number)] if thinks else []
        messages.append(assistant(*thought, call(f"t{number}", tool_name, path=f"/{number}")))
        messages.append(user(result(f"t{number}", f"{number} {WORDS * 20}")))
    return messages


def thinking(number: int) -> JsonObject:
    return {"type": "thinking", "thinking": f"thought {number} {WORDS * 4}", "signature": "s"}


def cleared(one: SimulatedProvider, messages: list[JsonObject], *edits: JsonObject, **fields: Json) -> list[JsonObject]:
    body = request(messages, context_management={"edits": [dict(edit) for edit in edits]}, **fields)
    answered = answer(one, body, CONTEXT_MANAGEMENT_BETA)
    return list(objects_at(object_at(answered.message, "context_management"), "applied_edits"))


def input_tokens(answered: MessageAnswer) -> int:
    return answered.outcomes[-1].usage.total_tokens


@requirement("simulator:edits:clearing")
def test_below_the_trigger_nothing_is_cleared_and_the_reply_says_so() -> None:
    assert cleared(provider(), session(5), {"type": "clear_tool_uses_20250919"}) == []


@requirement("simulator:edits:clearing")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 7),
        ({"keep": {"type": "tool_uses", "value": 5}}, 5),
        ({"keep": {"type": "tool_uses", "value": 0}}, 10),
        ({"clear_at_least": {"type": "input_tokens", "value": 100_000}}, 0),
        ({"exclude_tools": ["Read"]}, 0),
        ({"exclude_tools": ["Bash"]}, 7),
    ],
)
def test_the_oldest_results_are_cleared_but_the_kept_ones(fields: dict[str, Json], expected: int) -> None:
    edit: JsonObject = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": 1_000},
        **fields,
    }

    applied = cleared(provider(), session(10), edit)

    assert [entry["cleared_tool_uses"] for entry in applied] == ([expected] if expected else [])


@requirement("simulator:edits:clearing")
def test_clearing_is_triggered_by_the_number_of_calls_too() -> None:
    edit: JsonObject = {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 5}}

    assert cleared(provider(), session(5), edit) == []
    assert cleared(provider(), session(6), edit)[0]["cleared_tool_uses"] == 3


@requirement("simulator:edits:clearing")
def test_what_is_reported_as_cleared_is_what_the_prompt_lost() -> None:
    one = provider()
    edit: JsonObject = {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 1}}
    body = request(session(10))

    whole = input_tokens(answer(one, body))
    with_edit = answer(one, {**body, "context_management": {"edits": [dict(edit)]}}, CONTEXT_MANAGEMENT_BETA)
    (applied,) = objects_at(object_at(with_edit.message, "context_management"), "applied_edits")

    assert applied == {
        "type": "clear_tool_uses_20250919",
        "cleared_tool_uses": 7,
        "cleared_input_tokens": whole - input_tokens(with_edit),
    }


@requirement("simulator:edits:clearing")
def test_clearing_inputs_frees_more() -> None:
    messages: list[JsonObject] = [user("x")]
    for number in range(6):
        messages += [assistant(call(f"t{number}", content=WORDS * 20)), user(result(f"t{number}", WORDS * 20))]
    edit: JsonObject = {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 1}}

    (results,) = cleared(provider(), messages, edit)
    (both,) = cleared(provider(), messages, {**edit, "clear_tool_inputs": True})
    (named,) = cleared(provider(), messages, {**edit, "clear_tool_inputs": ["Read"]})
    (other,) = cleared(provider(), messages, {**edit, "clear_tool_inputs": ["Bash"]})

    assert both == named
    assert results == other
    assert _freed(both) > 1.8 * _freed(results)


def _freed(applied: JsonObject) -> int:
    tokens = applied["cleared_input_tokens"]
    assert isinstance(tokens, int)
    return tokens


@requirement("simulator:edits:clearing")
def test_clearing_ends_the_cached_prefix_where_it_begins() -> None:
    one = provider()
    body = request(session(10), cache_control=dict(EPHEMERAL), system=[text(WORDS * 120, EPHEMERAL)])
    first = serve(one, body)
    system_tokens = first.prompt.pieces[0].tokens
    edit: Json = {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 1}}

    second = serve(one, {**body, "context_management": {"edits": [edit]}})
    third = serve(one, {**body, "context_management": {"edits": [edit]}})

    assert second.outcome.usage.read_tokens == system_tokens
    assert third.outcome.usage.read_tokens == third.prompt.tokens - 3


@requirement("simulator:edits:clearing")
def test_old_reasoning_is_cleared_but_the_last_turns() -> None:
    asked = [*session(3, thinks=True), assistant(thinking(8), "done"), user("next"), assistant(thinking(9), "ok")]
    messages = [*asked, user("and now?")]
    edit: JsonObject = {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}}

    (applied,) = cleared(provider(), messages, edit, thinking={"type": "adaptive"})

    assert applied["type"] == "clear_thinking_20251015"
    assert applied["cleared_thinking_turns"] == 1
    assert _freed(applied) > 0


@requirement("simulator:edits:clearing")
def test_all_reasoning_can_be_kept() -> None:
    edit: JsonObject = {"type": "clear_thinking_20251015", "keep": "all"}

    assert cleared(provider(), session(3, thinks=True), edit, thinking={"type": "adaptive"}) == []


@requirement("simulator:edits:clearing")
def test_a_model_that_forgets_reasoning_loses_it_with_the_users_next_words() -> None:
    one = provider()
    thinking_on: Json = {"type": "enabled", "budget_tokens": 1024}
    settings: dict[str, Json] = {"model": "claude-sonnet-4-5", "max_tokens": 2000, "thinking": thinking_on}
    loop = session(2, thinks=True)

    inside = serve(one, request(loop, **settings))
    after = serve(one, request([*loop, assistant("done"), user("next")], **settings))
    newer = serve(one, request([*loop, assistant("done"), user("next")], thinking={"type": "adaptive"}))

    def thoughts(served_kinds: list[str]) -> int:
        return served_kinds.count("thinking")

    assert thoughts([piece.kind for piece in inside.prompt.pieces]) == 2
    assert thoughts([piece.kind for piece in after.prompt.pieces]) == 0
    assert thoughts([piece.kind for piece in newer.prompt.pieces]) == 2


@requirement("simulator:edits:clearing")
def test_counting_tells_the_size_before_and_after_the_edits() -> None:
    one = provider()
    edit: Json = {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 1}}
    body = request(session(10), context_management={"edits": [edit]}, tools=[tool()])
    del body["max_tokens"]

    counted = one.count(body, headers(CONTEXT_MANAGEMENT_BETA))

    assert isinstance(counted, PromptCount)
    assert counted.original_tokens is not None
    assert counted.tokens < counted.original_tokens
    assert counted.as_json() == {
        "input_tokens": counted.tokens,
        "context_management": {"original_input_tokens": counted.original_tokens},
    }
