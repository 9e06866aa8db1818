from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import anthropic
import httpx2
import pytest
from pydantic import BaseModel

from reverie import Memory
from reverie.context.wrap import _Middleware, wrap
from reverie.errors import UserMistake
from reverie.messages.blocks import Json
from reverie.messages.entries import AssistantEntry
from reverie.testing.prefix_net import check
from reverie.testing.simulator import RunningSimulator, simulator
from tests.person import Person
from tests.requirements import requirement

MODEL = "claude-sonnet-5"
SCRIPT: list[Json] = [{"when": {"last_user": "hello"}, "then": {"text": "hi there"}}]
QUESTION: list[anthropic.types.MessageParam] = [{"role": "user", "content": "hello"}]


def said(answer: anthropic.types.Message) -> str:
    (block,) = answer.content
    assert block.type == "text"
    return block.text


def opened(provider: RunningSimulator) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=provider.api_key, base_url=provider.base_url)


@requirement("window:wrap:one-line")
def test_a_wrapped_client_answers_as_before_and_marks_the_cache() -> None:
    with simulator(SCRIPT) as provider, opened(provider) as raw:
        client = wrap(raw)

        answer = client.messages.create(model=MODEL, max_tokens=50, messages=QUESTION, system="be kind")

        (request,) = provider.requests
    assert isinstance(answer, anthropic.types.Message)
    assert answer.content[0].type == "text"
    assert answer.content[0].text == "hi there"
    assert "cache_control" in repr(request.body)


@requirement("window:wrap:one-line")
async def test_an_async_client_and_its_streams_are_wrapped_too() -> None:
    with simulator(SCRIPT) as provider:
        client = wrap(anthropic.AsyncAnthropic(api_key=provider.api_key, base_url=provider.base_url))
        answer = await client.messages.create(model=MODEL, max_tokens=50, messages=QUESTION)
        async with client.messages.stream(model=MODEL, max_tokens=50, messages=QUESTION) as stream:
            text = await stream.get_final_text()
        await client.close()

    assert answer.stop_reason == "end_turn"
    assert text == "hi there"


@requirement("window:wrap:one-line")
def test_a_long_conversation_stays_inside_a_small_window() -> None:
    with simulator() as provider, opened(provider) as raw:
        client = wrap(raw, window=8_000)
        messages: list[anthropic.types.MessageParam] = []
        for number in range(12):
            messages.append({"role": "user", "content": f"question {number}: " + "some long text " * 200})
            answer = client.messages.create(model=MODEL, max_tokens=100, messages=messages)
            messages.append({"role": "assistant", "content": said(answer)})
        sizes = [len(repr(record.body)) for record in provider.requests]

    assert all(record.status == 200 for record in provider.requests)
    assert max(sizes) < 40_000
    assert len(repr(messages)) > 2 * max(sizes) / 2


@requirement("window:wrap:conversations")
def test_two_conversations_of_one_client_do_not_mix() -> None:
    with simulator() as provider, opened(provider) as raw:
        client = wrap(raw)
        one: list[anthropic.types.MessageParam] = [{"role": "user", "content": "first talk"}]
        two: list[anthropic.types.MessageParam] = [{"role": "user", "content": "second talk"}]
        for talk in (one, two, one, two):
            answer = client.messages.create(model=MODEL, max_tokens=50, messages=talk)
            talk.append({"role": "assistant", "content": said(answer)})
            talk.append({"role": "user", "content": "and then?"})
        bodies = [record.body for record in provider.requests]

    assert all(isinstance(body, dict) for body in bodies)
    check([body for body in bodies[0::2] if isinstance(body, dict)])
    check([body for body in bodies[1::2] if isinstance(body, dict)])


WINDOW = 8_000
LONG: list[Any] = [
    {"role": role, "content": f"{number}: " + "some long text " * 200}
    for number in range(12)
    for role in ("user", "assistant")
]
"""A conversation of several windows."""


class Answer(BaseModel):
    name: str


@anthropic.beta_tool
def get_weather(location: str) -> str:
    """Look up the weather.

    Args:
        location: Where.
    """
    return f"20 degrees in {location}"


@anthropic.beta_async_tool
async def get_weather_async(location: str) -> str:
    """Look up the weather.

    Args:
        location: Where.
    """
    return f"20 degrees in {location}"


GOES_ON: Any = [{"role": "assistant", "content": "hi there"}, {"role": "user", "content": "and then?"}]


def talk(question: str) -> Any:
    return [*LONG, {"role": "user", "content": question}]


REPLIES: list[Json] = [
    {"when": {"last_user": "as json"}, "then": {"text": '{"name": "hi there"}'}},
    {"when": {"tool_result": "20 degrees"}, "then": {"text": "hi there"}},
    {
        "when": {"last_user": "weather"},
        "then": {"tool_calls": [{"name": "get_weather", "input": {"location": "Paris"}}]},
        "times": 1,
    },
    {"when": {}, "then": {"text": "hi there"}},
]


def streamed(client: anthropic.Anthropic) -> str:
    with client.messages.stream(model=MODEL, max_tokens=99, messages=talk("hello")) as stream:
        return "".join(stream.text_stream)


def streamed_beta(client: anthropic.Anthropic) -> str:
    with client.beta.messages.stream(model=MODEL, max_tokens=99, messages=talk("hello")) as stream:
        return stream.get_final_text()


def raw_events(client: anthropic.Anthropic) -> str:
    events = client.messages.create(model=MODEL, max_tokens=99, messages=talk("hello"), stream=True)
    return "".join(
        event.delta.text for event in events if event.type == "content_block_delta" and event.delta.type == "text_delta"
    )


def parsed(client: anthropic.Anthropic) -> str:
    answer = client.messages.parse(model=MODEL, max_tokens=99, messages=talk("as json"), output_format=Answer)
    assert answer.parsed_output is not None
    return answer.parsed_output.name


def raw_response(client: anthropic.Anthropic) -> str:
    response = client.messages.with_raw_response.create(model=MODEL, max_tokens=99, messages=talk("hello"))
    assert response.headers["request-id"]
    return said(response.parse())


def raw_response_of_the_client(client: anthropic.Anthropic) -> str:
    response = client.with_raw_response.messages.create(model=MODEL, max_tokens=99, messages=talk("hello"))
    return said(response.parse())


def streaming_response(client: anthropic.Anthropic) -> str:
    with client.messages.with_streaming_response.create(model=MODEL, max_tokens=99, messages=talk("hello")) as response:
        return "hi there" if "hi there" in "".join(response.iter_lines()) else ""


def copied(client: anthropic.Anthropic) -> str:
    other = client.copy(max_retries=0).with_options(timeout=20.0)
    return said(other.messages.create(model=MODEL, max_tokens=99, messages=talk("hello")))


def posted(client: anthropic.Anthropic) -> str:
    body = {"model": MODEL, "max_tokens": 99, "messages": talk("hello")}
    return said(client.post("/v1/messages", body=body, cast_to=anthropic.types.Message))


def run_tools(client: anthropic.Anthropic) -> str:
    runner = client.beta.messages.tool_runner(
        model=MODEL, max_tokens=99, tools=[get_weather], messages=talk("the weather?")
    )
    block = runner.until_done().content[-1]
    return block.text if block.type == "text" else ""


def run_tools_streaming(client: anthropic.Anthropic) -> str:
    runner = client.beta.messages.tool_runner(
        model=MODEL, max_tokens=99, tools=[get_weather], messages=talk("the weather?"), stream=True
    )
    block = [stream.get_final_message().content[-1] for stream in runner][-1]
    return block.text if block.type == "text" else ""


def looped_by_hand(client: anthropic.Anthropic) -> str:
    """The loop of the client's own documentation: its blocks go back as they came."""
    messages = talk("the weather?")
    tools = [get_weather.to_dict()]
    while True:
        answer = client.beta.messages.create(model=MODEL, max_tokens=99, messages=messages, tools=tools)
        messages.append({"role": answer.role, "content": answer.content})
        if answer.stop_reason != "tool_use":
            return "".join(block.text for block in answer.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": get_weather.call(block.input)}
            for block in answer.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


@requirement("window:wrap:every-way")
@pytest.mark.parametrize(
    "way",
    [
        streamed,
        streamed_beta,
        raw_events,
        parsed,
        raw_response,
        raw_response_of_the_client,
        streaming_response,
        copied,
        posted,
        run_tools,
        run_tools_streaming,
        looped_by_hand,
    ],
)
def test_every_way_of_a_client_passes_through_the_window(way: Callable[[anthropic.Anthropic], str]) -> None:
    with simulator(REPLIES) as provider, wrap(opened(provider), window=WINDOW) as client:
        assert isinstance(client, anthropic.Anthropic)
        assert way(client) == "hi there"

        requests = provider.requests
    assert client.is_closed()
    assert all(record.status == 200 for record in requests)
    assert all(len(repr(record.body)) < 30_000 < len(repr(LONG)) for record in requests)


async def asynchronously_streamed(client: anthropic.AsyncAnthropic) -> str:
    async with client.messages.stream(model=MODEL, max_tokens=99, messages=talk("hello")) as stream:
        return "".join([text async for text in stream.text_stream])


async def asynchronous_events(client: anthropic.AsyncAnthropic) -> str:
    events = await client.messages.create(model=MODEL, max_tokens=99, messages=talk("hello"), stream=True)
    return "".join(
        [
            event.delta.text
            async for event in events
            if event.type == "content_block_delta" and event.delta.type == "text_delta"
        ]
    )


async def asynchronous_raw_response(client: anthropic.AsyncAnthropic) -> str:
    response = await client.messages.with_raw_response.create(model=MODEL, max_tokens=99, messages=talk("hello"))
    return said(await response.parse())


async def asynchronously_run_tools(client: anthropic.AsyncAnthropic) -> str:
    runner = client.copy().beta.messages.tool_runner(
        model=MODEL, max_tokens=99, tools=[get_weather_async], messages=talk("the weather?")
    )
    block = (await runner.until_done()).content[-1]
    return block.text if block.type == "text" else ""


@requirement("window:wrap:every-way")
@pytest.mark.parametrize(
    "way", [asynchronously_streamed, asynchronous_events, asynchronous_raw_response, asynchronously_run_tools]
)
async def test_every_way_of_an_async_client_passes_through_the_window(
    way: Callable[[anthropic.AsyncAnthropic], Awaitable[str]],
) -> None:
    replies: Any = [
        rule | {"then": {"tool_calls": [{"name": "get_weather_async", "input": {"location": "Paris"}}]}}
        if isinstance(rule, dict) and "times" in rule
        else rule
        for rule in REPLIES
    ]
    with simulator(replies) as provider:
        inner = anthropic.AsyncAnthropic(api_key=provider.api_key, base_url=provider.base_url)
        async with wrap(inner, window=WINDOW) as client:
            assert await way(client) == "hi there"

        assert all(record.status == 200 for record in provider.requests)
        assert all(len(repr(record.body)) < 30_000 for record in provider.requests)


@requirement("window:wrap:every-way")
def test_a_thread_that_the_provider_would_keep_is_refused_with_a_sentence() -> None:
    with simulator(REPLIES) as provider, wrap(opened(provider)) as client:
        thread = client.beta.messages.thread(model=MODEL, max_tokens=99, messages=[])

        with pytest.raises(anthropic.BadRequestError, match=r"whole conversation.*messages\.create"):
            thread.send({"role": "user", "content": "hello"})

        assert provider.requests == ()


@requirement("window:wrap:every-way")
def test_each_question_of_a_batch_passes_through_the_window() -> None:
    sent: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        return httpx2.Response(200, json={"id": "batch_1", "type": "message_batch"})

    network = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = wrap(anthropic.Anthropic(api_key="-", base_url="http://simulated", http_client=network), window=WINDOW)

    question: Any = {"model": MODEL, "max_tokens": 99, "messages": talk("hello")}
    client.messages.batches.create(requests=[{"custom_id": "one", "params": question}])

    (batch,) = sent
    (one,) = batch["requests"]
    assert one["custom_id"] == "one"
    assert len(repr(one["params"])) < 30_000
    assert "hello" in repr(one["params"]["messages"][-1])


@requirement("window:wrap:every-way")
def test_what_a_stream_reports_reaches_the_window_like_what_an_answer_reports() -> None:
    with simulator(REPLIES) as provider, opened(provider) as raw:
        for way in (streamed, raw_events, raw_response):
            client = wrap(raw)
            way(client)
            client.messages.create(model=MODEL, max_tokens=99, messages=[*talk("hello"), *GOES_ON])

            ours = cast("_Middleware", client.middleware[-1])
            (conversation,) = ours._conversations._open
            assert [entry.usage for entry in conversation.window._log.entries if isinstance(entry, AssistantEntry)][
                -1
            ] is not None


@requirement("window:bad-input")
def test_wrapping_again_replaces_the_window_and_another_client_is_refused() -> None:
    with anthropic.Anthropic(api_key="-") as raw:
        assert len(wrap(wrap(raw), window=WINDOW).middleware) == 1
        with pytest.raises(UserMistake, match="window=-5"):
            wrap(raw, window=-5)
    with pytest.raises(UserMistake, match=r"anthropic.*openai.*Client.*Window\.prepare"), httpx2.Client() as other:
        wrap(other)


@requirement("window:wrap:memory")
async def test_with_a_memory_a_conversation_recalls_and_learns(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "project")
    replies = json.loads(json.dumps(REPLIES).replace('"get_weather"', '"get_weather_async"'))
    with person.open(project) as memory, simulator(replies) as provider:
        memory.save(name="Tabs", description="The user prefers tabs to spaces", type="user", body="Tabs, not spaces.")
        client = wrap(anthropic.AsyncAnthropic(api_key=provider.api_key, base_url=provider.base_url), memory)
        messages: Any = [{"role": "user", "content": "does the user prefer tabs or spaces here?"}]
        for follow_up in ("We deploy only on Tuesdays, never on Fridays.", "the weather?"):
            answer = await client.beta.messages.create(
                model=MODEL, max_tokens=99, messages=messages, tools=[get_weather_async.to_dict()]
            )
            messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": follow_up}]
        runner = client.beta.messages.tool_runner(
            model=MODEL, max_tokens=99, tools=[get_weather_async], messages=messages
        )
        await runner.until_done()
        await client.close()
        memory.wait_until_learnt(30)
        bodies = [record.body for record in provider.requests if isinstance(record.body, dict)]
        topics = {topic.name: topic for topic in memory.topics()}

    check(bodies)
    assert all(str(body).count("Tabs, not spaces.") == 1 for body in bodies)
    assert "Tabs" not in str(messages[1:])
    assert len(topics) == 2
    assert any("Tuesdays" in topic.body and topic.trust == "said" for topic in topics.values())


@requirement("window:wrap:memory")
def test_a_memory_that_fails_costs_no_request(person: Person, tmp_path: Path) -> None:
    with simulator(REPLIES) as provider, opened(provider) as raw:
        place = tmp_path / "memory"
        memory = Memory(place, settings=person.settings)
        place.mkdir()
        (place / ".index").write_text("in the way", encoding="utf-8")
        client = wrap(raw, memory)
        assert said(client.messages.create(model=MODEL, max_tokens=50, messages=talk("how do we test?"))) == "hi there"
        memory.close()


@requirement("window:wrap:one-line")
def test_everything_else_of_the_client_is_passed_through() -> None:
    with simulator() as provider, opened(provider) as raw:
        client = wrap(raw)

        counted = client.messages.count_tokens(model=MODEL, messages=QUESTION)
        impatient = client.with_options(timeout=60.0).messages.create(model=MODEL, max_tokens=50, messages=QUESTION)

    assert counted.input_tokens > 0
    assert impatient.role == "assistant"
    with pytest.raises(AttributeError):
        _ = client.nothing_like_that  # type: ignore[attr-defined]  # that is the point


def test_wrapping_imports_no_vendor_sdk() -> None:
    code = "import sys, reverie.context.wrap; print('anthropic' in sys.modules, 'openai' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["False", "False"]
