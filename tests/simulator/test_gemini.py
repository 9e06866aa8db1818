"""Gemini's protocol over plain HTTP; the vendor's own program runs against it in `make test-agents`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Fault, ScriptAction, ToolCall
from tests.requirements import requirement
from tests.simulator.test_app import send

MODEL = "/v1beta/models/gemini-3.1-pro-preview"
KEY = {"x-goog-api-key": "any"}
HELLO = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


@pytest.fixture
def sim() -> Iterator[RunningSimulator]:
    with simulator() as running:
        yield running


def ask(sim: RunningSimulator, method: str = "generateContent", **body: Any) -> Any:
    return send(sim, "POST", f"{MODEL}:{method}", {**HELLO, **body}, with_headers=KEY)


def parts(reply: Any) -> list[Any]:
    return list(reply.json["candidates"][0]["content"]["parts"])


@requirement("simulator:client:gemini")
def test_content_is_generated_and_recorded(sim: RunningSimulator) -> None:
    reply = ask(sim)

    assert parts(reply) == [{"text": "You said: hello"}]
    assert reply.json["candidates"][0]["finishReason"] == "STOP"
    usage = reply.json["usageMetadata"]
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + usage["candidatesTokenCount"]
    (record,) = sim.requests
    assert record.body == HELLO
    assert "x-goog-api-key" not in record.headers


@requirement("simulator:client:gemini")
def test_a_stream_brings_thoughts_text_and_calls(sim: RunningSimulator) -> None:
    calls = (ToolCall("read", {"path": "a"}),)
    sim.act(ScriptAction(thinking="Let me see.", text="I look at it, one piece at a time.", tool_calls=calls))
    reply = send(sim, "POST", f"{MODEL}:streamGenerateContent?alt=sse", HELLO, with_headers=KEY)

    events = [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    streamed = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in streamed if part.get("thought")) == "Let me see."
    said = [part["text"] for part in streamed if "text" in part and not part.get("thought")]
    assert "".join(said) == "I look at it, one piece at a time."
    assert [part["functionCall"]["args"] for part in streamed if "functionCall" in part] == [{"path": "a"}]
    assert events[-1]["candidates"][0]["finishReason"] == "STOP"
    assert (sim.requests[0].path, "key" in sim.requests[0].path) == (f"{MODEL}:streamGenerateContent", False)


@requirement("simulator:client:gemini")
def test_scripts_see_the_results_of_calls_without_ids() -> None:
    script: Any = [
        {"when": {"system": "kind", "answers_tool": "read"}, "then": "It says {tool_result}"},
        {"when": {"offers_tool": "read"}, "then": {"tool_calls": [{"name": "read", "input": {"path": "a"}}]}},
    ]
    declared = [{"functionDeclarations": [{"name": "read", "parametersJsonSchema": {"type": "object"}}]}]
    contents: list[Any] = [
        *HELLO["contents"],
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"path": "a"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "the end"}}}]},
    ]
    with simulator(script) as sim:
        assert "functionCall" in parts(ask(sim, tools=declared))[0]
        told = {"parts": [{"text": "Be kind."}]}
        answered = ask(sim, tools=declared, systemInstruction=told, contents=contents)
        lost = ask(sim, contents=contents[2:])

    assert parts(answered) == [{"text": "It says the end"}]
    assert (lost.status, lost.json["error"]["status"]) == (400, "INVALID_ARGUMENT")


@requirement("simulator:client:gemini")
def test_a_demanded_format_is_filled(sim: RunningSimulator) -> None:
    schema = {"type": "OBJECT", "properties": {"score": {"type": "INTEGER"}}, "required": ["score"]}
    settings = {"responseMimeType": "application/json", "responseSchema": schema}
    assert parts(ask(sim, generationConfig=settings)) == [{"text": '{"score":0}'}]


@requirement("simulator:client:gemini")
def test_errors_have_the_provider_s_form(sim: RunningSimulator) -> None:
    sim.act(ScriptAction(fault=Fault("overloaded")), ScriptAction(fault=Fault("rate_limit")))
    overloaded, limited = ask(sim), ask(sim)
    assert (overloaded.status, overloaded.json["error"]["status"]) == (503, "UNAVAILABLE")
    assert (limited.status, limited.json["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
    unknown = ask(sim, "embedContent")
    assert unknown.status == 404
    assert "generateContent" in unknown.json["error"]["message"]
    assert send(sim, "POST", f"{MODEL}:generateContent", HELLO, with_headers={}).status == 400
