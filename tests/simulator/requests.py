"""Requests in a line, for the tests of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import ErrorAnswer, MessageAnswer, Served
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.script import Script
from reverie_simulator.weights import TokenCounter

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
OPUS = "claude-opus-4-8"
"""Caches from 1,024 tokens on."""
WORDS = "many words that nobody reads but everybody counts "
HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}

EPHEMERAL: JsonObject = {"type": "ephemeral"}
HOUR: JsonObject = {"type": "ephemeral", "ttl": "1h"}


def headers(*betas: str) -> dict[str, str]:
    return {**HEADERS, "anthropic-beta": ",".join(betas)} if betas else dict(HEADERS)


def text(content: str, mark: JsonObject | None = None) -> dict[str, Json]:
    block: dict[str, Json] = {"type": "text", "text": content}
    return block if mark is None else {**block, "cache_control": dict(mark)}


def user(*blocks: JsonObject | str) -> dict[str, Json]:
    return {"role": "user", "content": [text(block) if isinstance(block, str) else dict(block) for block in blocks]}


def assistant(*blocks: JsonObject | str) -> dict[str, Json]:
    return {**user(*blocks), "role": "assistant"}


def call(name: str, tool: str = "Read", **arguments: Json) -> dict[str, Json]:
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name: str, content: Json = "done") -> dict[str, Json]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def tool(name: str = "Read", **fields: Json) -> dict[str, Json]:
    return {"name": name, "description": "Reads.", "input_schema": {"type": "object"}, **fields}


def request(messages: Sequence[JsonObject] | None = None, **fields: Json) -> dict[str, Json]:
    body: dict[str, Json] = {"model": OPUS, "max_tokens": 100}
    body["messages"] = [dict(message) for message in (messages if messages is not None else [user("hello")])]
    return {**body, **fields}


def provider(script: Script | None = None, *, skew: float = 1.0) -> SimulatedProvider:
    """A provider that counts five characters as a token, so that tests can reckon."""
    return SimulatedProvider(
        seed=1, script=script, counter=TokenCounter(1, count_text=lambda value: -(-len(value) // 5), skew=skew)
    )


def serve(one: SimulatedProvider, body: JsonObject, after: timedelta = timedelta()) -> Served:
    served = one.serve(body, START + after)
    assert served is not None
    return served


def answer(one: SimulatedProvider, body: Json, *betas: str, after: timedelta = timedelta()) -> MessageAnswer:
    answered = one.answer(body, headers(*betas), START + after)
    assert isinstance(answered, MessageAnswer), answered
    return answered


def refusal(one: SimulatedProvider, body: Json, *betas: str) -> ErrorAnswer:
    refused = one.answer(body, headers(*betas), START)
    assert isinstance(refused, ErrorAnswer), refused
    return refused
