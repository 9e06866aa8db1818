"""Replies compared field by field with exchanges that were recorded from the real provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from reverie_simulator.answers import ErrorAnswer, MessageAnswer, PromptCount
from reverie_simulator.events import events_of
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.rules.headers import COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA
from reverie_simulator.script import ScriptAction
from tests.requirements import requirement
from tests.simulator.requests import START, headers

OTHER_HOSTS = "bedrock"
SERVER_TOOLS = ("code_execution",)
"""Tools that run at the provider; the simulator lets scripts stage their blocks but has no such tools."""


@dataclass(frozen=True)
class Exchange:
    """One recorded request and its reply."""

    name: str
    path: str
    request: dict[str, Any]
    status: int
    reply: dict[str, Any]
    events: tuple[dict[str, Any], ...]


def exchanges(folder: Path) -> Iterator[Exchange]:
    for file in sorted((folder / "wire").glob("test_*.json")):
        for number, entry in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            uri = entry["request"]["uri"]
            if OTHER_HOSTS in uri or any(tool in file.name for tool in SERVER_TOOLS):
                continue
            body = entry["response"]["body"]
            stream = body.get("string", "") if isinstance(body, dict) else ""
            yield Exchange(
                name=f"{file.stem}[{number}]",
                path=uri.split("?")[0].split(".com")[1],
                request=entry["request"]["body"],
                status=entry["response"]["status"],
                reply={} if stream else body,
                events=tuple(json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")),
            )


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[Exchange]:
    found = list(exchanges(shared_data))
    assert len(found) > 20
    return found


def replay(exchange: Exchange) -> MessageAnswer | PromptCount | ErrorAnswer:
    """The same request, and a script that says what the real model said."""
    blocks = _blocks(exchange)
    summary = next((block["content"] for block in blocks if block["type"] == "compaction"), None)
    said = tuple(block for block in blocks if block["type"] != "compaction")
    # Headers were not recorded; both switches were on where the reply has the field.
    manages = "context_management" in exchange.request or "context_management" in exchange.reply
    betas = (CONTEXT_MANAGEMENT_BETA, COMPACTION_BETA) if manages else ()
    provider = SimulatedProvider(seed=1, script=lambda _: ScriptAction(blocks=said, summary=summary))
    if exchange.path.endswith("count_tokens"):
        return provider.count(exchange.request, headers(*betas))
    return provider.answer(exchange.request, headers(*betas), START)


def _blocks(exchange: Exchange) -> list[dict[str, Any]]:
    if not exchange.events:
        return list(exchange.reply.get("content", []))
    blocks: list[dict[str, Any]] = []
    for event in exchange.events:
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            for field in ("text", "thinking", "signature", "content"):
                if field in event["delta"]:
                    blocks[-1][field] = (blocks[-1][field] or "") + event["delta"][field]
    return blocks


def shape(value: object) -> object:
    """A value with its leaves replaced by their types; equal entries of a list are one."""
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    if isinstance(value, list):
        shapes: list[object] = []
        for entry in value:
            if (found := shape(entry)) not in shapes:
                shapes.append(found)
        return shapes
    return "null" if value is None else type(value).__name__


def missing(expected: object, actual: object, path: str = "") -> list[str]:
    """What a recorded shape has and ours lacks or has with another type."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return [
            problem
            for key, entry in expected.items()
            for problem in (
                missing(entry, actual[key], f"{path}.{key}") if key in actual else [f"{path}.{key} is absent"]
            )
        ]
    if isinstance(expected, list) and isinstance(actual, list):
        return [
            f"{path}[{number}] has no counterpart"
            for number, entry in enumerate(expected)
            if not any(not missing(entry, other) for other in actual)
        ]
    return [] if expected == actual else [f"{path} is {actual}, recorded as {expected}"]


def run_of(kinds: list[str]) -> list[str]:
    """Event kinds with repetitions of one kind joined and pings left out, which may come anywhere."""
    return [kind for kind, _ in groupby(kind for kind in kinds if kind != "ping")]


@requirement("simulator:wire:recorded-shapes")
def test_whole_replies_have_every_recorded_field(recorded: list[Exchange]) -> None:
    problems = []
    whole = [exchange for exchange in recorded if not exchange.events and exchange.path == "/v1/messages"]

    for exchange in whole:
        answered = replay(exchange)
        assert isinstance(answered, MessageAnswer), (exchange.name, answered)
        problems += [f"{exchange.name}{found}" for found in missing(shape(exchange.reply), shape(answered.message))]

    assert len(whole) > 10
    assert problems == []


@requirement("simulator:wire:recorded-shapes")
def test_replies_of_newer_models_have_no_other_field(recorded: list[Exchange]) -> None:
    """Older recordings lack fields that the provider added since; those of the newest model lack none."""
    newest = [entry for entry in recorded if entry.request["model"] == "claude-opus-4-8" and entry.reply]

    for exchange in newest:
        answered = replay(exchange)
        assert isinstance(answered, MessageAnswer)
        assert missing(shape(answered.message), shape(exchange.reply)) == []
    assert len(newest) > 5


@requirement("simulator:wire:recorded-shapes")
def test_streams_have_every_recorded_event_in_order_and_every_field(recorded: list[Exchange]) -> None:
    streams = [exchange for exchange in recorded if exchange.events]

    for exchange in streams:
        answered = replay(exchange)
        assert isinstance(answered, MessageAnswer), (exchange.name, answered)
        ours = [dict(event.data) for event in events_of(answered.message, answered.opening_usage, answered.final_usage)]

        assert run_of([event["type"] for event in ours]) == run_of([event["type"] for event in exchange.events])  # type: ignore[misc]
        for expected in exchange.events:
            alike = [event for event in ours if event["type"] == expected["type"]]
            assert any(not missing(shape(expected), shape(event)) for event in alike), (exchange.name, expected)
    assert len(streams) >= 4


@requirement("simulator:wire:recorded-shapes")
def test_counts_and_errors_have_the_recorded_shape(recorded: list[Exchange]) -> None:
    counted = [exchange for exchange in recorded if exchange.path.endswith("count_tokens")]

    for exchange in counted:
        result = replay(exchange)
        if isinstance(result, ErrorAnswer):
            ours = result.error.as_json("req_1")
            assert (result.error.status, ours["error"]) == (exchange.status, exchange.reply["error"])
        else:
            assert isinstance(result, PromptCount)
            ours = result.as_json()
        assert shape(ours) == shape(exchange.reply)
    assert {exchange.status for exchange in counted} == {200, 404}


@requirement("simulator:wire:recorded-shapes", "simulator:counting:not-the-estimator")
def test_prompts_of_prose_weigh_about_what_the_provider_counted(recorded: list[Exchange]) -> None:
    """The skew moves a count by up to 15 %; tools and frames of short prompts are only roughly known."""
    for exchange in recorded:
        if exchange.path.endswith("count_tokens") and exchange.status == 200 and "tools" not in exchange.request:
            counted = SimulatedProvider(seed=1).count(exchange.request, headers())
            assert isinstance(counted, PromptCount)
            assert counted.tokens == pytest.approx(exchange.reply["input_tokens"], rel=0.25)
