"""The adapter for chat completions, against a server that behaves and against many that do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    Interrupted,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.messages.blocks import Text, Thinking, ToolUse
from reverie.messages.message import Usage, assistant, user
from reverie.models.connection import Timeouts
from reverie.models.openai import OpenAIModel
from reverie.models.ports import INVALID_INPUT, Finished, Reply, Request, Retrying
from reverie.models.retry import Retries
from reverie.testing.build import picture, request, system, tool, tool_call, tool_result
from reverie.testing.clock import SettableClock
from reverie.testing.loopback import Canned, LoopbackServer, ResponseEnding
from reverie.testing.model_contract import ModelContract, Outcome, Says
from reverie.testing.openai_server import ChatAnswer, ChatFailure, ChatStep, OpenAIServer, Quirk
from tests.requirements import requirement

KEY = "key-" + "k" * 24
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (("look", {"at": "a.py"}), ("look", {"at": "b.py"}), ("now", {}))


def model_at(url: str, **fields: Any) -> OpenAIModel:
    clock, numbers = SettableClock(), count(1)
    usual: dict[str, Any] = {"key": KEY, "base_url": url, "sleep": clock.sleep, "random": lambda: 0.5}
    return OpenAIModel("small", **{**usual, "new_id": lambda: f"new{next(numbers)}", **fields})


async def finished(model: OpenAIModel, asked: Request) -> Reply:
    seen = [event async for event in model.stream(asked)]
    assert isinstance(seen[-1], Finished)
    return seen[-1].reply


async def reply_to(asked: Request, *steps: ChatStep, **fields: Any) -> Reply:
    with OpenAIServer(steps) as server:
        return await finished(model_at(server.url, **fields), asked)


def error_body(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


FAILURES: dict[type[Unavailable], ChatStep] = {
    ContextTooLong: ChatFailure(400, error_body("This model's maximum context length is 4096 tokens. However, ...")),
    MediaTooLarge: ChatFailure(413, "<html>413 Request Entity Too Large</html>"),
    RateLimited: ChatFailure(429, error_body("slow down"), {"retry-after-ms": "1500"}),
    Overloaded: ChatFailure(503, error_body("Loading model", type="unavailable_error")),
    Unauthenticated: ChatFailure(401, error_body("Incorrect API key provided", code="invalid_api_key")),
    BadRequest: ChatFailure(404, error_body("model 'small' not found, try pulling it first")),
    Interrupted: ChatAnswer("half of it", quirks=frozenset({Quirk.DROPPED})),
}


def chat_step(outcome: Outcome) -> ChatStep:
    if isinstance(outcome, Says):
        return ChatAnswer(outcome.text, outcome.thinking, outcome.calls)
    return FAILURES[outcome.error]


@requirement("models:port:contract")
class TestTheAdapterKeepsTheContract(ModelContract):
    @asynccontextmanager
    async def open_model(self, *outcomes: Outcome) -> AsyncIterator[OpenAIModel]:
        with OpenAIServer([chat_step(outcome) for outcome in outcomes]) as server:
            yield model_at(server.url)


@requirement("models:openai:quirks")
@pytest.mark.parametrize(
    "quirks",
    [
        {Quirk.NO_CALL_IDS},
        {Quirk.SAME_CALL_IDS},
        {Quirk.NO_INDEX},
        {Quirk.INDEX_ZERO},
        {Quirk.NO_CALL_IDS, Quirk.NO_INDEX},
        {Quirk.NO_CALL_IDS, Quirk.INDEX_ZERO},
        {Quirk.SAME_CALL_IDS, Quirk.NO_INDEX},
        {Quirk.ARGUMENTS_AS_OBJECT},
        {Quirk.ARGUMENTS_AS_OBJECT, Quirk.NO_CALL_IDS, Quirk.NO_INDEX},
        {Quirk.OLD_FUNCTION_CALL},
        {Quirk.NO_FINISH_REASON},
        {Quirk.STOPS_AFTER_CALLS},
        {Quirk.NO_USAGE},
        {Quirk.NO_STREAM},
        {Quirk.NO_DONE},
    ],
    ids=lambda quirks: "+".join(sorted(quirk.name for quirk in quirks)),
)
async def test_calls_are_understood_from_a_server_that_bends_the_protocol(quirks: set[Quirk]) -> None:
    reply = await reply_to(request(), ChatAnswer("I look.", calls=CALLS, quirks=frozenset(quirks)))

    assert [(use.name, use.input) for use in reply.message.tool_uses] == list(CALLS)
    assert reply.text == "I look."
    assert reply.stop_reason == "tool_use"
    ids = [use.id for use in reply.message.tool_uses]
    assert len(set(ids)) == len(CALLS)
    assert all(ids)


@requirement("models:openai:quirks")
async def test_an_id_that_the_conversation_has_already_seen_is_replaced() -> None:
    earlier = tool_call("look", id="call_0", at="a.py")
    asked = request(user("look"), assistant(earlier), user(tool_result(earlier, "x = 1")))
    reply = await reply_to(asked, ChatAnswer(calls=(("look", {"at": "b.py"}),)))

    assert reply.message.tool_uses == (ToolUse("call_new1", "look", {"at": "b.py"}),)


@requirement("models:openai:quirks")
async def test_arguments_that_are_no_json_are_handed_on_as_they_were_written() -> None:
    answer = ChatAnswer(calls=(("look", {"at": "a.py"}),), quirks=frozenset({Quirk.BROKEN_ARGUMENTS}))
    reply = await reply_to(request(), answer)

    assert reply.message.tool_uses[0].input == {INVALID_INPUT: '{"at": "a.py"'}
    assert reply.stop_reason == "tool_use"


@requirement("models:openai:quirks")
async def test_half_a_call_is_left_out_when_the_limit_cut_it_off() -> None:
    quirks = frozenset({Quirk.BROKEN_ARGUMENTS})
    reply = await reply_to(request(), ChatAnswer("I", calls=(CALLS[0],), finish_reason="length", quirks=quirks))

    assert reply.message.content == (Text("I"),)
    assert reply.stop_reason == "max_tokens"


@requirement("models:openai:quirks")
@pytest.mark.parametrize("quirks", [frozenset[Quirk](), frozenset({Quirk.REASONING_UNDER_OLD_NAME})])
async def test_reasoning_is_found_under_both_names(quirks: frozenset[Quirk]) -> None:
    reply = await reply_to(request(), ChatAnswer("so", reasoning="because", quirks=quirks))

    assert reply.message.content == (Thinking("because"), Text("so"))


@requirement("models:openai:quirks")
async def test_cached_tokens_are_taken_out_of_the_prompt() -> None:
    reply = await reply_to(request(), ChatAnswer("x", prompt_tokens=100, cached_tokens=60, completion_tokens=3))

    assert reply.usage == Usage(input_tokens=40, output_tokens=3, cache_read_tokens=60)


@requirement("models:openai:quirks")
async def test_no_usage_is_nothing_and_not_an_error() -> None:
    reply = await reply_to(request(), ChatAnswer("x", quirks=frozenset({Quirk.NO_USAGE})))

    assert reply.usage == Usage()


@requirement("models:openai:quirks")
@pytest.mark.parametrize("said", ["stream_options", "response_format"])
async def test_a_field_that_a_server_does_not_take_is_left_out(said: str) -> None:
    with OpenAIServer([ChatAnswer("fine")], refuses=said) as server:
        reply = await finished(model_at(server.url), request(output_schema={"type": "object"}))

    assert reply.text == "fine"
    assert [said in body for body in server.bodies] == [True, False]


@requirement("models:openai:quirks")
async def test_a_field_may_be_refused_with_the_status_of_a_failure() -> None:
    said = error_body("1 validation error: ('body', 'response_format', 'type')", type="internal_server_error")
    reply = await reply_to(request(output_schema={"type": "object"}), ChatFailure(500, said), ChatAnswer("fine"))

    assert reply.text == "fine"


@requirement("models:openai:quirks", "models:errors:tree")
async def test_an_error_that_a_stream_swallowed_is_asked_for_again() -> None:
    def answer(body: Mapping[str, Any]) -> ChatStep:
        if body["stream"]:
            return ChatAnswer(quirks=frozenset({Quirk.EMPTY}))
        return ChatFailure(500, error_body("Requested tokens (6175) exceed context window of 2048"))

    with OpenAIServer(answer) as server, pytest.raises(ContextTooLong) as caught:
        await finished(model_at(server.url), request())

    assert caught.value.gap_tokens == 6175 - 2048
    assert len(server.bodies) == 2
    assert "stream_options" not in server.bodies[1]


@requirement("models:openai:quirks")
async def test_an_answer_that_a_stream_swallowed_is_fetched_whole() -> None:
    empty = ChatAnswer(quirks=frozenset({Quirk.EMPTY}))
    reply = await reply_to(request(), empty, ChatAnswer("after all", quirks=frozenset({Quirk.NO_STREAM})))

    assert reply.text == "after all"


@requirement("models:openai:quirks")
async def test_a_stream_without_any_answer_is_interrupted() -> None:
    empty = Canned((b": comment\n\n", b"data: [DONE]\n\n"), headers={"content-type": "text/event-stream"})
    with LoopbackServer(lambda _: empty) as server, pytest.raises(Interrupted, match="without a reply"):
        await finished(model_at(server.url, retries=Retries(attempts=1)), request())


@requirement("models:errors:tree")
async def test_an_error_inside_the_stream_is_an_error() -> None:
    late = ChatFailure(
        200, error_body("Context size has been exceeded.", code=500, type="server_error"), in_stream=True
    )
    with pytest.raises(ContextTooLong):
        await reply_to(request(), late)


@requirement("models:errors:tree")
async def test_the_gap_of_a_llama_server_is_read_from_its_fields() -> None:
    said = error_body("the request exceeds the available context size", n_prompt_tokens=14429, n_ctx=8192)
    with pytest.raises(ContextTooLong) as caught:
        await reply_to(request(), ChatFailure(400, said))

    assert caught.value.gap_tokens == 14429 - 8192


@requirement("models:errors:tree")
async def test_a_server_that_is_not_there_is_named() -> None:
    with OpenAIServer([]) as server:
        url = server.url
    with pytest.raises(Unavailable, match=f"{url}/v1"):
        await finished(model_at(url, retries=Retries(attempts=1)), request())


@requirement("models:errors:no-key")
async def test_a_key_that_the_server_quotes_is_hidden() -> None:
    with pytest.raises(Unauthenticated) as caught:
        await reply_to(request(), ChatFailure(401, error_body(f"Incorrect API key provided: {KEY}")))

    assert KEY not in str(caught.value)
    assert KEY not in repr(model_at("http://localhost"))


@requirement("models:retry:waits")
async def test_milliseconds_of_waiting_are_honoured_and_seen() -> None:
    clock = SettableClock()
    busy = ChatFailure(429, error_body("slow"), {"retry-after-ms": "1500"})
    with OpenAIServer([busy, ChatAnswer("ok")]) as server:
        seen = [event async for event in model_at(server.url, sleep=clock.sleep).stream(request())]

    assert [event.wait_seconds for event in seen if isinstance(event, Retrying)] == [1.5]
    assert clock.slept == [1.5]


@requirement("models:time-outs")
async def test_a_silent_server_is_left_after_its_time() -> None:
    silent = Canned((b": ping\n\n",), headers={"content-type": "text/event-stream"}, ending=ResponseEnding.SILENT)
    hasty: dict[str, Any] = {"retries": Retries(attempts=1), "timeouts": Timeouts(idle_seconds=0.1)}
    with LoopbackServer(lambda _: silent) as server, pytest.raises(Interrupted, match=r"silent for 0\.1 s"):
        await finished(model_at(server.url, **hasty), request())


async def test_a_server_without_a_key_is_asked_all_the_same() -> None:
    reply = await reply_to(request(), ChatAnswer("in"), key=None)

    assert reply.text == "in"


async def test_a_proxy_is_not_asked_for_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    reply = await reply_to(request(), ChatAnswer("direct"))

    assert reply.text == "direct"


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_the_address_may_be_given_with_or_without_the_path(ending: str) -> None:
    with OpenAIServer([ChatAnswer("found")]) as server:
        reply = await finished(model_at(server.url + ending), request())

    assert reply.text == "found"


@requirement("models:openai:mapping")
async def test_a_whole_conversation_is_taken_by_a_server_that_checks_it() -> None:
    """The server refuses results without a call and calls without a result."""
    first, second = tool_call("look", id="a", at="x.png"), tool_call("look", id="b", at="y")
    asked = request(
        user("compare", picture()),
        assistant("I look at both.", first, second),
        user(tool_result(first, "a picture:", picture()), tool_result(second, "gone", is_error=True), "and?"),
        system=system("Be brief.", "Be kind."),
        tools=(tool("look", "Read.", at="string"),),
    )
    with OpenAIServer([ChatAnswer("done")]) as server:
        reply = await finished(model_at(server.url), asked)

    assert reply.text == "done"
    assert [message["role"] for message in server.bodies[0]["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
