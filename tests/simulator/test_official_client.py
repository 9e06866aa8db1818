"""The vendor's own client against the simulator, unchanged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import cast

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import MessageParam, TextBlock, ToolParam, ToolResultBlockParam, ToolUseBlock
from anthropic.types.beta import BetaMessage, BetaMessageParam, BetaTextBlock

from reverie.messages.blocks import JsonObject
from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.provider import Threads
from reverie_simulator.rules.headers import CACHE_EDITS_BETA, COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA
from reverie_simulator.script import Fault, ScriptAction, ToolCall, in_order
from reverie_simulator.wire import object_at, objects_at
from tests.requirements import requirement
from tests.simulator.requests import OPUS, WORDS, assistant, call, result, user

HELLO: list[MessageParam] = [{"role": "user", "content": "hello"}]
READ: ToolParam = {"name": "Read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
LONG = WORDS * 300


@pytest.fixture
def sim() -> Iterator[RunningSimulator]:
    with simulator() as running:
        yield running


@pytest.fixture
def client(sim: RunningSimulator) -> Iterator[Anthropic]:
    with Anthropic(base_url=sim.base_url, api_key=sim.api_key, max_retries=0) as made:
        yield made


@pytest.fixture
async def async_client(sim: RunningSimulator) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(base_url=sim.base_url, api_key=sim.api_key, max_retries=0) as made:
        yield made


@requirement("simulator:client:official")
def test_a_message_is_created(client: Anthropic, sim: RunningSimulator) -> None:
    message = client.messages.create(model=OPUS, max_tokens=100, messages=HELLO)

    assert [block.text for block in message.content if isinstance(block, TextBlock)] == ["You said: hello"]
    assert message.model == OPUS
    assert message._request_id == sim.requests[0].request_id


@requirement("simulator:client:official")
def test_a_message_is_streamed(client: Anthropic) -> None:
    with client.messages.stream(model=OPUS, max_tokens=100, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()

    assert text == "You said: hello"
    assert message.stop_reason == "end_turn"
    assert message.usage.output_tokens > 0


@requirement("simulator:client:official")
def test_tool_calls_are_streamed_piece_by_piece(client: Anthropic, sim: RunningSimulator) -> None:
    arguments: JsonObject = {"path": "/a/rather/long/path/that/needs/several/pieces.py", "lines": [1, 2, {"x": None}]}
    sim.act(ScriptAction(thinking="I need the file.", text="Reading.", tool_calls=(ToolCall("Read", arguments),)))

    with client.messages.stream(model=OPUS, max_tokens=100, messages=HELLO, tools=[READ]) as stream:
        kinds = [event.type for event in stream]
        message = stream.get_final_message()

    thought, words, asked = message.content
    assert isinstance(asked, ToolUseBlock)
    assert asked.input == arguments
    assert thought.type == "thinking"
    assert thought.thinking == "I need the file."
    assert thought.signature
    assert words.type == "text"
    assert message.stop_reason == "tool_use"
    assert kinds.count("input_json") > 2


@requirement("simulator:client:official")
def test_a_tool_loop_runs_and_reads_its_own_cache(client: Anthropic, sim: RunningSimulator) -> None:
    sim.act(ScriptAction(tool_calls=(ToolCall("Read", {"path": "a"}),)), ScriptAction(text="It says x."))
    messages: list[MessageParam] = [{"role": "user", "content": LONG}]
    first = client.messages.create(
        model=OPUS, max_tokens=100, messages=messages, tools=[READ], cache_control={"type": "ephemeral"}
    )
    (asked,) = first.content
    assert isinstance(asked, ToolUseBlock)
    messages += [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": asked.id, "content": "x"}]},
    ]

    second = client.messages.create(
        model=OPUS, max_tokens=100, messages=messages, tools=[READ], cache_control={"type": "ephemeral"}
    )

    assert second.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens
    assert second.usage.cache_creation is not None
    assert second.usage.cache_creation.ephemeral_5m_input_tokens == second.usage.cache_creation_input_tokens


@requirement("simulator:client:official", "simulator:cache:lifetime")
def test_the_clock_can_be_moved_past_an_entrys_lifetime(client: Anthropic, sim: RunningSimulator) -> None:
    def read() -> int | None:
        message = client.messages.create(
            model=OPUS,
            max_tokens=10,
            messages=[{"role": "user", "content": LONG}],
            cache_control={"type": "ephemeral"},
        )
        return message.usage.cache_read_input_tokens

    assert read() == 0
    sim.clock.advance(minutes=4)
    assert read() != 0
    sim.clock.advance(minutes=6)
    assert read() == 0
    (breakpoint_,) = sim.last_cache.breakpoints
    assert breakpoint_.miss is not None
    assert breakpoint_.miss.reason == "expired"


@requirement("simulator:client:official")
def test_tokens_are_counted_as_they_are_billed(client: Anthropic) -> None:
    counted = client.messages.count_tokens(model=OPUS, messages=HELLO, tools=[READ], system="Be brief.")
    message = client.messages.create(model=OPUS, max_tokens=10, messages=HELLO, tools=[READ], system="Be brief.")

    assert counted.input_tokens == message.usage.input_tokens


@requirement("simulator:client:official")
def test_models_are_listed_and_shown(client: Anthropic) -> None:
    names = [model.id for model in client.models.list()]

    assert OPUS in names
    assert client.models.retrieve("claude-sonnet-4-5").id == "claude-sonnet-4-5-20250929"
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-nobody")


@requirement("simulator:client:official", "simulator:edits:clearing")
def test_context_edits_are_reported_in_the_beta_namespace(client: Anthropic, sim: RunningSimulator) -> None:
    calls = tuple(ToolCall("Read", {"path": f"{number}"}) for number in range(5))
    sim.act(ScriptAction(tool_calls=calls))
    first = client.messages.create(model=OPUS, max_tokens=500, messages=HELLO, tools=[READ])
    results: list[ToolResultBlockParam] = [
        {"type": "tool_result", "tool_use_id": block.id, "content": LONG}
        for block in first.content
        if isinstance(block, ToolUseBlock)
    ]

    answered = [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]

    with client.beta.messages.stream(
        model=OPUS,
        max_tokens=500,
        betas=[CONTEXT_MANAGEMENT_BETA],
        messages=cast("list[BetaMessageParam]", [*HELLO, *answered]),
        tools=[READ],
        context_management={
            "edits": [{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 4}}]
        },
    ) as stream:
        message = stream.get_final_message()

    assert message.context_management is not None
    (applied,) = message.context_management.applied_edits
    assert applied.type == "clear_tool_uses_20250919"
    assert applied.cleared_tool_uses == 2


@requirement("simulator:client:official", "simulator:edits:compaction")
@pytest.mark.parametrize("pauses", [False, True])
def test_compaction_streams_its_summary_first(client: Anthropic, sim: RunningSimulator, pauses: bool) -> None:
    sim.act(ScriptAction(text="Hello!", summary="A fox, many times."))

    with client.beta.messages.stream(
        model="claude-opus-4-8",
        max_tokens=100,
        betas=[COMPACTION_BETA],
        messages=[{"role": "user", "content": WORDS * 8_000}],
        context_management={
            "edits": [
                {
                    "type": "compact_20260112",
                    "trigger": {"type": "input_tokens", "value": 50_000},
                    "pause_after_compaction": pauses,
                }
            ]
        },
    ) as stream:
        message = stream.get_final_message()

    assert message.content[0].type == "compaction"
    assert message.content[0].content == "A fox, many times."
    assert message.stop_reason == ("compaction" if pauses else "end_turn")
    assert message.usage.iterations is not None
    assert [entry.type for entry in message.usage.iterations] == (
        ["compaction"] if pauses else ["compaction", "message"]
    )


@requirement("simulator:client:official")
def test_the_extension_for_cache_edits_passes_through_the_client(client: Anthropic) -> None:
    edits: JsonObject = {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]}
    messages = [user("x"), assistant(call("a")), user(result("a", LONG), edits)]

    message = client.beta.messages.create(
        model=OPUS,
        max_tokens=100,
        betas=[CACHE_EDITS_BETA],
        messages=cast("list[BetaMessageParam]", messages),
    )

    assert (message.usage.model_extra or {})["cache_deleted_input_tokens"] > 1_000


@requirement("simulator:client:official")
def test_the_providers_own_diagnosis_names_what_changed(client: Anthropic) -> None:
    def ask(text: str, previous: str | None) -> anthropic.types.beta.BetaMessage:
        return client.beta.messages.create(
            model=OPUS,
            max_tokens=10,
            betas=["cache-diagnosis-2026-04-07"],
            system=LONG,
            messages=[{"role": "user", "content": text}],
            diagnostics={"previous_message_id": previous},
        )

    first = ask("one", None)
    same, other = ask("one", first.id), ask("two", first.id)
    lost = ask("one", "msg_unknown")

    assert first.diagnostics is None
    assert same.diagnostics is None
    assert other.diagnostics is not None
    assert other.diagnostics.cache_miss_reason is not None
    assert other.diagnostics.cache_miss_reason.type == "messages_changed"
    assert lost.diagnostics is not None
    assert lost.diagnostics.cache_miss_reason is not None
    assert lost.diagnostics.cache_miss_reason.type == "previous_message_not_found"


@requirement("simulator:client:official")
async def test_the_async_client_creates_streams_and_counts(async_client: AsyncAnthropic) -> None:
    message = await async_client.messages.create(model=OPUS, max_tokens=100, messages=HELLO)
    async with async_client.messages.stream(model=OPUS, max_tokens=100, messages=HELLO) as stream:
        text = "".join([piece async for piece in stream.text_stream])
    async with async_client.beta.messages.stream(
        model=OPUS, max_tokens=100, messages=cast("list[BetaMessageParam]", HELLO)
    ) as beta_stream:
        beta = await beta_stream.get_final_message()
    counted = await async_client.messages.count_tokens(model=OPUS, messages=HELLO)

    assert text == "You said: hello"
    assert counted.input_tokens == message.usage.input_tokens == beta.usage.input_tokens


@requirement("simulator:faults:as-the-provider")
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("rate_limit"), anthropic.RateLimitError),
        (Fault("overloaded"), anthropic.APIStatusError),
        (Fault("server_error"), anthropic.InternalServerError),
        (Fault("authentication"), anthropic.AuthenticationError),
        (Fault("permission"), anthropic.PermissionDeniedError),
        (Fault("not_found"), anthropic.NotFoundError),
        (Fault("conflict"), anthropic.ConflictError),
        (Fault("prompt_too_long"), anthropic.BadRequestError),
    ],
)
def test_faults_raise_the_clients_own_errors(
    client: Anthropic, sim: RunningSimulator, fault: Fault, error: type[anthropic.APIError]
) -> None:
    sim.act(ScriptAction(fault=fault))

    with pytest.raises(error) as caught:
        client.messages.create(model=OPUS, max_tokens=10, messages=HELLO)

    assert isinstance(caught.value, anthropic.APIStatusError)
    assert caught.value.request_id == sim.requests[-1].request_id


@requirement("simulator:faults:as-the-provider")
def test_the_client_waits_as_told_and_tries_again(sim: RunningSimulator) -> None:
    sim.act(ScriptAction(fault=Fault("rate_limit", retry_after_seconds=0.01)), ScriptAction(fault=Fault("overloaded")))

    with Anthropic(base_url=sim.base_url, api_key=sim.api_key, max_retries=2) as client:
        message = client.messages.create(model=OPUS, max_tokens=10, messages=HELLO)

    assert message.stop_reason == "end_turn"
    assert [record.status for record in sim.requests] == [429, 529, 200]


@requirement("simulator:faults:as-the-provider")
def test_an_error_after_200_ends_the_stream(client: Anthropic, sim: RunningSimulator) -> None:
    sim.act(ScriptAction(text=WORDS, fault=Fault("error_event", after_events=4)))
    seen: list[str] = []

    with (
        pytest.raises(anthropic.APIStatusError, match="Overloaded"),
        client.messages.stream(model=OPUS, max_tokens=100, messages=HELLO) as stream,
    ):
        seen.extend(event.type for event in stream)

    assert seen[:2] == ["message_start", "content_block_start"]


@requirement("simulator:faults:as-the-provider")
def test_a_stream_can_break_off(client: Anthropic, sim: RunningSimulator) -> None:
    sim.act(ScriptAction(text=WORDS * 5, fault=Fault("drop", after_events=5)))
    seen: list[str] = []

    with (
        pytest.raises(Exception, match="peer closed connection"),
        client.messages.stream(model=OPUS, max_tokens=300, messages=HELLO) as stream,
    ):
        seen.extend(stream.text_stream)

    assert seen == [(WORDS * 5)[:24], (WORDS * 5)[24:48]]
    assert client.messages.create(model=OPUS, max_tokens=10, messages=HELLO).stop_reason == "end_turn"


@requirement("simulator:faults:as-the-provider")
def test_a_whole_reply_can_break_off(client: Anthropic, sim: RunningSimulator) -> None:
    sim.act(ScriptAction(text=WORDS * 5, fault=Fault("drop")))

    with pytest.raises(anthropic.APIConnectionError):
        client.messages.create(model=OPUS, max_tokens=300, messages=HELLO)

    assert sim.requests[-1].status == 200


@requirement("simulator:faults:as-the-provider")
def test_a_slow_reply_runs_into_the_clients_time_limit(client: Anthropic, sim: RunningSimulator) -> None:
    sim.act(ScriptAction(delay_seconds=0.5), ScriptAction(event_delay_seconds=0.5))

    with pytest.raises(anthropic.APITimeoutError):
        client.with_options(timeout=0.1).messages.create(model=OPUS, max_tokens=10, messages=HELLO)
    with (
        pytest.raises(Exception, match=r"[Tt]imed out"),
        client.with_options(timeout=0.1).messages.stream(model=OPUS, max_tokens=10, messages=HELLO) as stream,
    ):
        stream.get_final_message()


@anthropic.beta_tool
def weather(city: str) -> str:
    """How the weather is.

    Args:
        city: where
    """
    return f"sunny in {city}"


def _text_of(message: BetaMessage | None) -> str:
    assert message is not None
    return "".join(block.text for block in message.content if isinstance(block, BetaTextBlock))


WEATHER = (ScriptAction(tool_calls=(ToolCall("weather", {"city": "Lyon"}),)), ScriptAction(text="It is {tool_result}."))


@requirement("simulator:threads:held", "simulator:thinking:own-reply")
@pytest.mark.parametrize("is_streamed", [False, True])
def test_the_tool_runner_works_with_thinking(is_streamed: bool) -> None:
    with (
        simulator(in_order(*WEATHER)) as sim,
        Anthropic(base_url=sim.base_url, api_key=sim.api_key, max_retries=0) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-4-6",
            max_tokens=2_048,
            thinking={"type": "enabled", "budget_tokens": 1_024},
            tools=[weather],
            messages=[{"role": "user", "content": "how is it?"}],
            stream=is_streamed,
        )
        last = runner.until_done()

    assert _text_of(last) == "It is sunny in Lyon."
    assert [record.status for record in sim.requests] == [200, 200]
    sent = [record.body for record in sim.requests if isinstance(record.body, dict)]
    assert [object_at(body, "thread")["type"] for body in sent] == ["create", "continue"]
    assert len(objects_at(sent[1], "messages")) == 1


@requirement("simulator:threads:held")
def test_a_thread_that_is_gone_is_named_to_the_client(sim: RunningSimulator, client: Anthropic) -> None:
    thread = client.beta.messages.thread(model=OPUS, max_tokens=100)
    thread.send({"role": "user", "content": "hello"})
    sim.simulation.provider._threads = Threads()

    assert _text_of(thread.send({"role": "user", "content": "again"})) == "You said: again"
    assert [record.status for record in sim.requests] == [200, 404, 200]
