from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from reverie.context.wrap import wrap
from reverie.messages.blocks import Json
from reverie.testing.simulator import RunningSimulator, simulator
from tests.person import Person
from tests.requirements import requirement

MODEL = "gpt-5.2"
WINDOW = 8_000
REPLIES: list[Json] = [
    {"when": {"last_user": "as json"}, "then": {"text": '{"name": "hi there"}'}},
    {"when": {}, "then": {"text": "hi there"}},
]
LONG: list[Any] = [
    {"role": role, "content": f"{number}: " + "some long text " * 200}
    for number in range(12)
    for role in ("user", "assistant")
]


class Answer(BaseModel):
    name: str


def talk(question: str) -> Any:
    return [{"role": "developer", "content": "Be brief."}, *LONG, {"role": "user", "content": question}]


def opened(provider: RunningSimulator) -> openai.OpenAI:
    return openai.OpenAI(api_key=provider.api_key, base_url=f"{provider.base_url}/v1", max_retries=0)


def created(client: openai.OpenAI) -> str | None:
    return client.chat.completions.create(model=MODEL, messages=talk("hello")).choices[0].message.content


def events(client: openai.OpenAI) -> str:
    chunks = client.chat.completions.create(model=MODEL, messages=talk("hello"), stream=True)
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def streamed(client: openai.OpenAI) -> str | None:
    with client.chat.completions.stream(model=MODEL, messages=talk("hello")) as stream:
        return stream.get_final_completion().choices[0].message.content


def parsed(client: openai.OpenAI) -> str:
    answer = client.chat.completions.parse(model=MODEL, messages=talk("as json"), response_format=Answer)
    assert answer.choices[0].message.parsed is not None
    return answer.choices[0].message.parsed.name


def raw(client: openai.OpenAI) -> str | None:
    response = client.chat.completions.with_raw_response.create(model=MODEL, messages=talk("hello"))
    return response.parse().choices[0].message.content


def copied(client: openai.OpenAI) -> str | None:
    return created(client.with_options(timeout=20).copy(max_retries=0))


def responded(client: openai.OpenAI) -> str:
    return client.responses.create(model=MODEL, input=talk("hello")).output_text


def responded_in_events(client: openai.OpenAI) -> str:
    stream = client.responses.create(model=MODEL, input=talk("hello"), stream=True)
    return "".join(event.delta for event in stream if event.type == "response.output_text.delta")


def responded_in_a_stream(client: openai.OpenAI) -> str:
    with client.responses.stream(model=MODEL, input=talk("hello")) as stream:
        return stream.get_final_response().output_text


def responded_parsed(client: openai.OpenAI) -> str:
    answer = client.responses.parse(model=MODEL, input=talk("as json"), text_format=Answer)
    assert answer.output_parsed is not None
    return answer.output_parsed.name


def responded_raw(client: openai.OpenAI) -> str:
    with client.responses.with_streaming_response.create(model=MODEL, input=talk("hello")) as response:
        return "hi there" if "hi there" in "".join(response.iter_lines()) else ""


WAYS = [
    created,
    events,
    streamed,
    parsed,
    raw,
    copied,
    responded,
    responded_in_events,
    responded_in_a_stream,
    responded_parsed,
    responded_raw,
]


@requirement("window:wrap:openai")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_a_client_passes_through_the_window(way: Callable[[openai.OpenAI], str | None]) -> None:
    with simulator(REPLIES) as provider, opened(provider) as plain:
        client = wrap(plain, window=WINDOW)
        assert way(client) == "hi there"
        (request,) = provider.requests

    assert isinstance(client, openai.OpenAI)
    assert request.status == 200
    sent = _sent(request)
    assert len(json.dumps(sent)) < len(json.dumps(talk("hello"))) / 2, "reduced to the window"
    assert sent[0] == {"role": "developer", "content": "Be brief."}
    assert "hello" in str(sent[-1]) or "as json" in str(sent[-1])


def _sent(request: Any) -> Any:
    body = request.body
    return body.get("messages") if "messages" in body else body["input"]


@requirement("window:wrap:openai")
async def test_async_clients_are_wrapped_too() -> None:
    with simulator(REPLIES) as provider:
        plain = openai.AsyncOpenAI(api_key=provider.api_key, base_url=f"{provider.base_url}/v1")
        client = wrap(wrap(plain), window=WINDOW)
        answer = await client.chat.completions.create(model=MODEL, messages=talk("hello"))
        stream = await client.chat.completions.create(model=MODEL, messages=talk("hello"), stream=True)
        text = "".join([choice.delta.content or "" async for chunk in stream for choice in chunk.choices])
        responded = await client.responses.create(model=MODEL, input=talk("hello"))
        await client.close()
        sizes = [len(json.dumps(_sent(request))) for request in provider.requests]

    assert answer.choices[0].message.content == text == responded.output_text == "hi there"
    assert max(sizes) < len(json.dumps(talk("hello"))) / 2
    assert type(client).__mro__[1] is openai.AsyncOpenAI, "wrapped once"


CHAT_HISTORY: list[Any] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "What is this?"}], "name": "ada"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":  "it"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "not json"}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "a cat"},
    {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "a dog"}]},
    {"role": "user", "content": "and now?"},
]
RESPONSES_HISTORY: list[Any] = [
    {"role": "user", "content": [{"type": "input_text", "text": "What is this?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": '{"at":  "it"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": "a cat"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A cat.", "annotations": []}]},
    {"role": "user", "content": "and now?"},
]


@requirement("window:wrap:openai")
def test_what_fits_is_sent_as_it_is() -> None:
    tools: Any = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    with simulator(REPLIES) as provider, opened(provider) as plain:
        client = wrap(plain)
        client.chat.completions.create(model=MODEL, messages=CHAT_HISTORY, tools=tools)
        client.responses.create(model=MODEL, input=RESPONSES_HISTORY, instructions="Be kind.", store=False)
        client.responses.create(model=MODEL, input="hello")
        sent = [_sent(request) for request in provider.requests]

    assert sent == [CHAT_HISTORY, RESPONSES_HISTORY, [{"role": "user", "content": "hello"}]]


@requirement("window:wrap:memory")
def test_with_a_memory_chats_recall_and_learn_and_requests_extend_each_other(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "project")
    with person.open(project) as memory, simulator(REPLIES) as provider, opened(provider) as plain:
        memory.save(
            name="No database mocks",
            description="Integration tests use a real database, never a mock",
            type="feedback",
            body="Integration tests use a real database; a mock hid a broken migration.",
        )
        client = wrap(plain, memory)
        messages: list[Any] = [{"role": "user", "content": "how do we test the database in integration tests?"}]
        for follow_up in ("thanks", "We deploy only on Tuesdays, never on Fridays."):
            answer = client.chat.completions.create(model=MODEL, messages=messages)
            messages += [{"role": "assistant", "content": answer.choices[0].message.content}]
            messages += [{"role": "user", "content": follow_up}]
        client.chat.completions.create(model=MODEL, messages=messages)
        client.responses.create(model=MODEL, input="how do we test the database in integration tests?")
        memory.wait_until_learnt(30)
        sent = [_sent(request) for request in provider.requests]
        names = {topic.name: topic for topic in memory.topics()}

    first, second, third, response = sent
    assert "a mock hid a broken migration" in first[0]["content"]
    assert "<system-reminder>" in first[0]["content"]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert "a mock hid a broken migration" in str(response)
    assert "<system-reminder>" not in str(third[1:])
    assert messages[0]["content"] == "how do we test the database in integration tests?", "the caller's are untouched"
    learnt = next(topic for name, topic in names.items() if "Tuesdays" in topic.body)
    assert learnt.trust == "said"
    assert len(names) == 2


@requirement("window:wrap:memory")
def test_a_conversation_that_the_provider_keeps_still_recalls(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "project")
    with person.open(project) as memory, simulator(REPLIES) as provider, opened(provider) as plain:
        memory.save(name="Tabs", description="The user prefers tabs to spaces", type="user", body="Tabs, not spaces.")
        client = wrap(plain, memory)
        first = client.responses.create(model=MODEL, input="hello")
        client.responses.create(
            model=MODEL, input="does the user prefer tabs or spaces?", previous_response_id=first.id
        )
        sent = _sent(provider.requests[-1])

    assert "Tabs, not spaces." in str(sent)
