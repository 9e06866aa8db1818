from __future__ import annotations

import pytest

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.cache import prefix_hashes
from reverie_simulator.facts import facts_of
from reverie_simulator.prompt import SimulatedPrompt
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, HOUR, OPUS, assistant, call, provider, request, result, text, tool, user


def prompt_of(body: JsonObject) -> SimulatedPrompt:
    facts = facts_of(OPUS)
    assert facts is not None
    return provider().reader.read(body, facts)


def reads_the_same(one: JsonObject, other: JsonObject) -> bool:
    first, second = prompt_of(one), prompt_of(other)
    same = prefix_hashes(first) == prefix_hashes(second)
    assert not same or first.tokens == second.tokens
    return same


TOOLED = [user("x"), assistant(call("a", path="p", line=1)), user(result("a", "done"))]

SAME: list[tuple[JsonObject, JsonObject]] = [
    (request([user("x")]), request([{"role": "user", "content": "x"}])),
    (request(system="x"), request(system=[text("x")])),
    (request([user("x")]), request([user(text("x", EPHEMERAL))])),
    (request([user("x")]), request([user("x")], cache_control=dict(HOUR))),
    (request([user("x", "y")]), request([user("x"), user("y")])),
    (request([user("x")]), request([user({"text": "x", "type": "text"})])),
    (request([user("x")]), request([user({**text("x"), "citations": None})])),
    (request(tools=[tool()]), request(tools=[tool(type="custom", cache_control=dict(EPHEMERAL))])),
    (request(TOOLED), request([*TOOLED[:2], user(result("a", [text("done")]))])),
    (request(TOOLED), request([*TOOLED[:2], user({**result("a", "done"), "is_error": False})])),
    (request(TOOLED), request([*TOOLED[:2], user(result("a", [text("done", EPHEMERAL)]))])),
]

DIFFERENT: list[tuple[JsonObject, JsonObject]] = [
    (request([user("x")]), request([user("x ")])),
    (request([user("x", "y")]), request([user("xy")])),
    (request([user("x"), assistant("y"), user("z")]), request([user("x", "y", "z")])),
    (request(TOOLED), request([user("x"), assistant(call("a", line=1, path="p")), user(result("a", "done"))])),
    (request(TOOLED), request([*TOOLED[:2], user({**result("a", "done"), "is_error": True})])),
    (request(tools=[tool("A"), tool("B")]), request(tools=[tool("B"), tool("A")])),
    (
        request(tools=[tool(input_schema={"type": "object", "properties": {"a": {}, "b": {}}})]),
        request(tools=[tool(input_schema={"type": "object", "properties": {"b": {}, "a": {}}})]),
    ),
]


@requirement("simulator:prompt:same-bytes")
@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_spellings_of_one_prompt_are_one_prefix(one: JsonObject, other: JsonObject) -> None:
    assert reads_the_same(one, other)


@requirement("simulator:prompt:same-bytes")
@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_what_the_model_would_read_differently_is_another_prefix(one: JsonObject, other: JsonObject) -> None:
    assert not reads_the_same(one, other)


def test_a_deferred_tool_is_not_in_the_prompt() -> None:
    hidden: Json = tool("Hidden", defer_loading=True)

    assert reads_the_same(request(tools=[tool()]), request(tools=[tool(), hidden]))


def test_a_newer_tokenizer_makes_a_third_more_of_a_text() -> None:
    one = provider()
    body = request([user("word " * 10_000)])
    older, newer = facts_of("claude-opus-4-6"), facts_of("claude-opus-4-8")
    assert older is not None
    assert newer is not None

    assert one.reader.read(body, newer).tokens == pytest.approx(1.3 * one.reader.read(body, older).tokens, rel=0.01)
