from __future__ import annotations

import subprocess
import sys

import anthropic
import pytest

from reverie.api.wrap import wrap
from reverie.messages.blocks import Json
from reverie.testing.prefix_net import check
from reverie.testing.simulator import RunningSimulator, simulator
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
    code = "import sys, reverie.api.wrap; print('anthropic' in sys.modules, 'openai' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["False", "False"]
