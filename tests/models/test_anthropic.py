"""The adapter for the Messages API, against real HTTP on this machine and against recorded answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
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
    UserMistake,
)
from reverie.messages.blocks import CompactionBlock, Json, Opaque, RedactedThinking, Text, Thinking, ToolUse
from reverie.messages.codec import block_to_wire
from reverie.messages.message import Usage
from reverie.models.anthropic import AnthropicModel
from reverie.models.connection import Timeouts, import_sdk
from reverie.models.ports import INVALID_INPUT, CacheMark, Finished, Reply, Request, Retrying, TextDelta
from reverie.models.request_body import encode_body, request_body
from reverie.models.retry import Retries
from reverie.testing.build import request, system, tool
from reverie.testing.clock import SettableClock
from reverie.testing.loopback import Canned, LoopbackServer, ResponseEnding
from reverie.testing.model_contract import ModelContract, Outcome
from tests.models.messages_wire import STREAM, canned, events, failed, sse, streamed
from tests.requirements import requirement

KEY = "key-" + "k" * 24


def model_at(url: str, **fields: Any) -> AnthropicModel:
    clock = SettableClock()
    usual: dict[str, Any] = {"key": KEY, "base_url": url, "sleep": clock.sleep, "random": lambda: 0.5}
    return AnthropicModel("claude-sonnet-4-5", **{**usual, **fields})


def playing(*answers: Canned) -> LoopbackServer:
    script = iter(answers)
    return LoopbackServer(lambda _: next(script))


async def reply_to(asked: Request, *answers: Canned, **fields: Any) -> Reply:
    with playing(*answers) as server:
        return await finished(model_at(server.url, **fields), asked)


async def finished(model: AnthropicModel, asked: Request) -> Reply:
    seen = [event async for event in model.stream(asked)]
    assert isinstance(seen[-1], Finished)
    return seen[-1].reply


@requirement("models:port:contract")
class TestTheAdapterKeepsTheContract(ModelContract):
    @asynccontextmanager
    async def open_model(self, *outcomes: Outcome) -> AsyncIterator[AnthropicModel]:
        with playing(*(canned(outcome) for outcome in outcomes)) as server:
            yield model_at(server.url)


@requirement("models:body:pure")
async def test_what_is_sent_is_the_body_byte_for_byte() -> None:
    asked = request("hé 🌱", system=system("Be brief."), tools=(tool("look", at="string"),))
    with playing(streamed(*events([]))) as server:
        await finished(model_at(server.url), asked)

    assert server.heard[0].body == encode_body({**request_body(asked), "stream": True})
    assert server.heard[0].path == "/v1/messages"
    assert "anthropic-beta" not in server.heard[0].headers


@requirement("models:body:betas")
async def test_context_edits_go_to_the_beta_with_its_headers() -> None:
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}, {"type": "compact_20260112"}]}
    with playing(streamed(*events([]))) as server:
        await finished(model_at(server.url), request(context_management=edits, betas=("mine-1",)))

    assert server.heard[0].path == "/v1/messages?beta=true"
    assert server.heard[0].headers["anthropic-beta"] == "mine-1,compact-2026-01-12,context-management-2025-06-27"


@pytest.mark.parametrize(
    ("named", "sent", "beta"),
    [
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", "context-1m-2025-08-07"),
        ("claude-opus-5[1m]", "claude-opus-5", None),
        ("claude-sonnet-4-5", "claude-sonnet-4-5", None),
    ],
)
@requirement("models:body:betas")
async def test_the_long_window_is_asked_for_by_header_where_it_is_not_the_models_own(
    named: str, sent: str, beta: str | None
) -> None:
    with playing(streamed(*events([]))) as server:
        await finished(model_at(server.url), request(model=named))

    assert json.loads(server.heard[0].body)["model"] == sent
    assert server.heard[0].headers.get("anthropic-beta") == beta


@requirement("models:anthropic:count")
async def test_the_provider_counts() -> None:
    answer = Canned((b'{"input_tokens": 1234}',), headers={"content-type": "application/json"})
    asked = request("how long?", max_tokens=5, temperature=0.5, system=system("s"))
    with playing(failed(529, "overloaded_error", "busy"), answer) as server:
        counted = await model_at(server.url).count_tokens(asked)

    assert counted == 1234
    assert server.heard[1].path == "/v1/messages/count_tokens"
    assert set(json.loads(server.heard[1].body)) == {"model", "system", "messages"}


@requirement("models:anthropic:count")
async def test_an_answer_without_a_count_is_no_count() -> None:
    answer = Canned((b'{"something": "else"}',), headers={"content-type": "application/json"})
    with playing(answer) as server, pytest.raises(Interrupted, match="no token count"):
        await model_at(server.url, retries=Retries(attempts=1)).count_tokens(request())


@requirement("models:anthropic:tolerant")
async def test_what_we_do_not_know_is_passed_over_or_kept() -> None:
    head, ping, *rest = events([{"type": "text", "text": "fine"}, {"type": "server_thing", "data": [1]}])
    strange = [
        {"type": "from_the_future", "index": 7},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "hologram_delta", "z": 1}},
        {"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta", "text": "nowhere"}},
    ]
    reply = await reply_to(request(), streamed(head, ping, rest[0], *strange, *rest[1:]))

    assert reply.message.content == (Text("fine"), Opaque({"type": "server_thing", "data": [1]}))
    assert reply.usage == Usage(12, 9, 100, 30)
    assert (reply.message_id, reply.request_id, reply.model) == ("msg_1", "req_1", "claude-x")


@requirement("models:anthropic:tolerant")
async def test_a_server_that_does_not_stream_is_understood() -> None:
    blocks = [
        {"type": "text", "text": "at once"},
        {"type": "tool_use", "id": "t", "name": "look", "input": {"at": "x"}},
    ]
    message = {"id": "m", "model": "claude-x", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}
    answer = Canned((json.dumps(message).encode(),), headers={"content-type": "application/json"})
    reply = await reply_to(request(), answer)

    assert reply.message.content == (Text("at once"), ToolUse("t", "look", {"at": "x"}))


@requirement("models:anthropic:tolerant")
async def test_citations_stay_with_their_text() -> None:
    citation: Json = {"type": "char_location", "cited_text": "x"}
    wire = list(events([{"type": "text", "text": "cited"}]))
    wire.insert(
        3, {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}}
    )
    reply = await reply_to(request(), streamed(*wire))

    assert reply.message.content == (Text("cited", {"citations": [citation]}),)


@requirement("models:anthropic:cut-off")
@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
async def test_half_a_call_is_left_out_when_a_limit_cut_it_off(stop_reason: str) -> None:
    blocks = [
        {"type": "text", "text": "I write"},
        {"type": "tool_use", "id": "t", "name": "w", "input": '{"text": "on'},
    ]
    reply = await reply_to(request(), streamed(*events(blocks, stop_reason)))

    assert reply.message.content == (Text("I write"),)
    assert reply.stop_reason == stop_reason


@requirement("models:anthropic:cut-off")
async def test_a_call_whose_input_is_no_json_is_handed_on_as_it_was_written() -> None:
    blocks = [{"type": "tool_use", "id": "t", "name": "w", "input": '{"text": oops}'}, {"type": "text", "text": "so"}]
    reply = await reply_to(request(), streamed(*events(blocks, "tool_use")))

    assert reply.message.content == (ToolUse("t", "w", {INVALID_INPUT: '{"text": oops}'}), Text("so"))


@requirement("models:errors:tree")
async def test_an_error_inside_the_stream_is_told_from_one_before_it() -> None:
    head, *_ = events([])
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with playing(streamed(head, overloaded), streamed(*events([{"type": "text", "text": "ok"}]))) as server:
        seen = [event async for event in model_at(server.url).stream(request())]

    assert isinstance(seen[0], Retrying)
    assert "529" in seen[0].reason
    assert isinstance(seen[-1], Finished)


@requirement("models:errors:tree")
async def test_a_stream_that_ends_too_early_is_interrupted() -> None:
    early = list(events([{"type": "text", "text": "half"}]))[:4]
    with pytest.raises(Interrupted):
        await reply_to(request(), streamed(*early), retries=Retries(attempts=1))


@requirement("models:errors:tree")
async def test_an_event_that_is_no_json_interrupts() -> None:
    broken = Canned((b"event: message_start\ndata: {half\n\n",), headers=STREAM)
    with pytest.raises(Interrupted, match="invalid event"):
        await reply_to(request(), broken, retries=Retries(attempts=1))


@requirement("models:errors:tree")
async def test_a_refused_connection_names_the_address() -> None:
    with playing() as server:
        url = server.url
    with pytest.raises(Unavailable, match=url) as caught:
        await finished(model_at(url, retries=Retries(attempts=1)), request())

    assert type(caught.value) is Unavailable


@requirement("models:errors:no-key")
async def test_a_key_that_the_provider_quotes_is_hidden() -> None:
    quoting = failed(401, "authentication_error", f"invalid key {KEY} given")
    with pytest.raises(Unauthenticated) as caught:
        await reply_to(request(), quoting)

    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)
    assert KEY not in repr(model_at("http://localhost"))


@requirement("models:errors:tree")
async def test_without_a_key_nothing_is_sent_and_the_next_step_is_named() -> None:
    model = AnthropicModel("claude-sonnet-4-5")
    with pytest.raises(Unauthenticated, match="ANTHROPIC_API_KEY"):
        await finished(model, request())


async def test_a_server_on_this_machine_needs_no_key() -> None:
    reply = await reply_to(request(), streamed(*events([{"type": "text", "text": "in"}])), key=None)

    assert reply.text == "in"


@requirement("models:errors:no-key")
@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "", " "])
async def test_a_key_that_cannot_be_one_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(Unauthenticated, match="copy it again") as caught:
        await finished(AnthropicModel("claude-sonnet-4-5", key=key), request())

    assert not key.strip() or key not in str(caught.value)


@requirement("models:errors:tree")
async def test_a_failure_under_a_good_status_is_a_failure() -> None:
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}
    answer = Canned((json.dumps(error).encode(),), headers={"content-type": "application/json"})
    with pytest.raises(RateLimited):
        await reply_to(request(), answer, retries=Retries(attempts=1))


async def test_a_token_takes_the_place_of_the_key() -> None:
    with playing(streamed(*events([]))) as server:
        await finished(model_at(server.url, key=None, auth_token="a-token"), request())

    assert server.heard[0].headers["authorization"] == "Bearer a-token"


async def test_a_missing_sdk_is_named_with_what_to_install() -> None:
    with pytest.raises(UserMistake, match=r"pip install 'reverie\[llm\]'"):
        await import_sdk("no_such_sdk")


@requirement("models:time-outs")
async def test_silence_between_two_events_is_an_interruption() -> None:
    head, *_ = events([])
    silent = streamed(head, ending=ResponseEnding.SILENT)
    with pytest.raises(Interrupted, match=r"silent for 0\.1 s"):
        await reply_to(request(), silent, retries=Retries(attempts=1), timeouts=Timeouts(idle_seconds=0.1))


@requirement("models:time-outs")
async def test_the_whole_answer_has_its_limit_over_all_attempts() -> None:
    head, *_ = events([])
    silent = streamed(head, ending=ResponseEnding.SILENT)
    with pytest.raises(Unavailable, match=r"within 0\.2 s"):
        await reply_to(request(), silent, timeouts=Timeouts(total_seconds=0.2))


@requirement("models:retry:waits")
async def test_the_provider_says_how_long_to_wait() -> None:
    clock = SettableClock()
    busy = failed(429, "rate_limit_error", "Slow down", retry_after="7")
    reply = await reply_to(
        request(), busy, busy, streamed(*events([{"type": "text", "text": "ok"}])), sleep=clock.sleep
    )

    assert reply.text == "ok"
    assert clock.slept == [7.0, 7.0]


async def test_cache_marks_reach_the_wire() -> None:
    marks = (CacheMark("tools", -1), CacheMark("system", 0, ttl="1h"), CacheMark("messages", -1))
    asked = request("hi", system=system("s"), tools=(tool("look", at="string"),), cache_marks=marks)
    with playing(streamed(*events([]))) as server:
        await finished(model_at(server.url), asked)

    body = json.loads(server.heard[0].body)
    assert body["tools"][0]["cache_control"] == {"type": "ephemeral"}
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}


def recorded(shared_data: Path, name: str, number: int = 0) -> Canned:
    exchange = json.loads((shared_data / "wire" / f"{name}.json").read_text(encoding="utf-8"))[number]
    body = exchange["response"]["body"]
    if set(body) == {"string"}:
        return Canned((body["string"].encode(),), headers=STREAM)
    return Canned((json.dumps(body).encode(),), exchange["response"]["status"], {"content-type": "application/json"})


@requirement("models:anthropic:recorded")
async def test_recorded_reasoning_keeps_its_signature(shared_data: Path) -> None:
    reply = await reply_to(
        request(), recorded(shared_data, "test_anthropic__test_anthropic_model_thinking_part_stream")
    )

    thinking, text = reply.message.content
    assert isinstance(thinking, Thinking)
    assert thinking.thinking.startswith("This")
    assert len(thinking.signature) > 100
    assert isinstance(text, Text)
    assert text.text.endswith("crossing streets.")
    assert reply.usage == Usage(input_tokens=43, output_tokens=282)


@requirement("models:anthropic:recorded")
async def test_recorded_hidden_reasoning_is_kept(shared_data: Path) -> None:
    name = "test_anthropic__test_anthropic_model_thinking_part_redacted_stream"
    reply = await reply_to(request(), recorded(shared_data, name))

    kinds = [type(block) for block in reply.message.content]
    assert kinds[0] is RedactedThinking
    assert kinds[-1] is Text


@requirement("models:anthropic:recorded")
async def test_a_recorded_compaction_is_a_block_and_its_cost_is_told_apart(shared_data: Path) -> None:
    name = "test_anthropic__test_anthropic_compaction_usage_with_cache_streaming"
    reply = await reply_to(request(), recorded(shared_data, name))

    summary, text = reply.message.content
    assert isinstance(summary, CompactionBlock)
    assert summary.content is not None
    assert summary.content.startswith("The user provided")
    assert text == Text("Hello! 👋")
    assert reply.usage == Usage(input_tokens=181, output_tokens=8)
    assert reply.compaction_usage == Usage(input_tokens=100, output_tokens=83, cache_read_tokens=55096)
    assert reply.applied_edits == ()


@requirement("models:anthropic:recorded")
async def test_recorded_tools_of_the_provider_survive_whole(shared_data: Path) -> None:
    name = "test_anthropic__test_anthropic_code_execution_tool_stream"
    reply = await reply_to(request(), recorded(shared_data, name))

    kinds = [block_to_wire(block)["type"] for block in reply.message.content]
    assert kinds[0] == "thinking"
    assert "server_tool_use" in kinds
    run = next(
        block for block in reply.message.content if isinstance(block, Opaque) and block.kind == "server_tool_use"
    )
    assert isinstance(run.wire["input"], dict)
    assert run.wire["input"] != {}
    assert not reply.message.tool_uses
    assert reply.usage.input_tokens == 4714


@requirement("models:anthropic:recorded")
async def test_recorded_cache_counts_are_read(shared_data: Path) -> None:
    name = "test_anthropic_mid_conversation_system__test_inline_system_prompt_cache_prefix_is_reused"
    written = await reply_to(request(), recorded(shared_data, name, 0))
    read = await reply_to(request(), recorded(shared_data, name, 1))

    assert written.usage == Usage(input_tokens=2, output_tokens=4, cache_write_tokens=1590)
    assert read.usage == Usage(input_tokens=2, output_tokens=4, cache_read_tokens=1590)


@requirement("models:anthropic:recorded")
async def test_every_recorded_answer_is_read_without_loss(shared_data: Path) -> None:
    """Blocks written again equal the recorded ones; streams are compared by their kinds above."""
    compared = 0
    for path in sorted((shared_data / "wire").glob("test_anthropic*.json")):
        for exchange in json.loads(path.read_text(encoding="utf-8")):
            body = exchange["response"]["body"]
            if "api.anthropic.com/v1/messages?" not in exchange["request"]["uri"] or "content" not in body:
                continue
            reply = await reply_to(
                request(), Canned((json.dumps(body).encode(),), headers={"content-type": "application/json"})
            )
            assert [block_to_wire(block) for block in reply.message.content] == body["content"], path.name
            assert reply.stop_reason == body["stop_reason"]
            compared += 1
    assert compared >= 10


@requirement("models:anthropic:count")
async def test_a_recorded_refusal_of_a_count_is_a_bad_request(shared_data: Path) -> None:
    answer = recorded(shared_data, "test_anthropic__test_anthropic_count_tokens_error")
    with playing(answer) as server, pytest.raises(BadRequest, match="claude-does-not-exist") as caught:
        await model_at(server.url).count_tokens(request(model="claude-does-not-exist"))

    assert caught.value.status == 404


@pytest.mark.parametrize(
    ("answer", "error", "check"),
    [
        (
            failed(400, "invalid_request_error", "prompt is too long: 200251 tokens > 200000 maximum"),
            ContextTooLong,
            lambda e: e.gap_tokens == 251,
        ),
        (
            failed(413, "request_too_large", "Request exceeds the maximum size"),
            MediaTooLarge,
            lambda e: e.status == 413,
        ),
        (failed(503, "api_error", "later", retry_after="2"), Overloaded, lambda e: e.retry_after_seconds == 2),
        (failed(429, "rate_limit_error", "slow"), RateLimited, lambda e: e.request_id == "req_1"),
    ],
)
@requirement("models:errors:tree")
async def test_failures_over_the_wire_carry_their_facts(
    answer: Canned, error: type[Unavailable], check: Callable[[Any], bool]
) -> None:
    with pytest.raises(error) as caught:
        await reply_to(request(), answer, retries=Retries(attempts=1))

    assert check(caught.value)


async def test_pieces_come_as_they_arrive_and_not_at_the_end() -> None:
    first = list(events([{"type": "text", "text": "early and late"}]))[:4]
    slow = Canned(tuple(sse(event) for event in first), headers=STREAM, ending=ResponseEnding.SILENT)
    with playing(slow) as server:
        async with aclosing(model_at(server.url).stream(request())) as pieces:
            assert await anext(pieces) == TextDelta("ear")
