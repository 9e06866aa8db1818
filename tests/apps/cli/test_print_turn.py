from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.messages.entries import AssistantEntry, UserEntry
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from reverie.testing.simulator import simulator
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SCRIPT: list[Json] = [
    {"when": {"last_user": "weather"}, "then": {"text": "Rain, then sun."}},
    {"when": {"last_user": "broken"}, "then": {"fault": {"kind": "overloaded"}}},
]


def session_of(terminal: Terminal) -> Path:
    (path,) = (terminal.home / ".reverie" / "projects").glob("*/*.jsonl")
    return path


@requirement("cli:print:answers")
def test_the_answer_is_printed_and_the_turn_recorded(terminal: Terminal) -> None:
    with simulator(SCRIPT) as provider:
        ran = terminal.run(
            "-m",
            "claude-sonnet-4-5",
            "-p",
            "what weather?",
            "--system-prompt",
            "Be brief.",
            ANTHROPIC_API_KEY=provider.api_key,
            ANTHROPIC_BASE_URL=provider.base_url,
        )
        (request,) = provider.requests

    assert (ran.code, ran.out) == (0, "Rain, then sun.\n")
    assert isinstance(request.body, dict)
    body: dict[str, Any] = dict(request.body)
    assert body["system"][0]["text"].startswith("Be brief.")
    view = project(read_entries(session_of(terminal)))
    assert [item.message.text for item in view.items if item.label == ""] == ["what weather?", "Rain, then sun."]
    assert view.items[-1].usage is not None
    assert view.items[-1].usage.output_tokens > 0


@requirement("cli:print:answers")
def test_json_is_one_object_and_stdin_may_hold_the_prompt(terminal: Terminal) -> None:
    with simulator(SCRIPT) as provider:
        ran = terminal.run(
            "-m",
            "claude-sonnet-4-5",
            "-p",
            "-",
            "--output-format",
            "json",
            stdin="the weather please",
            ANTHROPIC_API_KEY=provider.api_key,
            ANTHROPIC_BASE_URL=provider.base_url,
        )

    document = ran.document
    assert document["result"] == "Rain, then sun."
    assert document["is_error"] is False
    assert document["total_cost_usd"] > 0
    assert document["session_id"] == session_of(terminal).stem
    assert document["usage"]["output_tokens"] > 0


@requirement("cli:print:answers")
def test_stream_json_is_one_object_a_line(terminal: Terminal) -> None:
    with simulator(SCRIPT) as provider:
        ran = terminal.run(
            "-m",
            "claude-sonnet-4-5",
            "-p",
            "weather",
            "--output-format",
            "stream-json",
            ANTHROPIC_API_KEY=provider.api_key,
            ANTHROPIC_BASE_URL=provider.base_url,
        )

    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines[0]["type"] == "system"
    assert "".join(line["event"]["text"] for line in lines if line["type"] == "stream_event") == "Rain, then sun."
    assert lines[-1]["type"] == "result"


@requirement("cli:print:failure-is-recorded")
def test_a_failure_exits_with_1_and_is_in_the_session(terminal: Terminal) -> None:
    with simulator(SCRIPT) as provider:
        ran = terminal.run(
            "-m",
            "claude-sonnet-4-5",
            "--set",
            "model.max_retries=0",
            "-p",
            "broken",
            ANTHROPIC_API_KEY=provider.api_key,
            ANTHROPIC_BASE_URL=provider.base_url,
        )

    assert ran.code == 1
    assert provider.api_key not in ran.err
    asked, failed = [one for one in read_entries(session_of(terminal)) if isinstance(one, UserEntry | AssistantEntry)]
    assert isinstance(asked, UserEntry)
    assert isinstance(failed, AssistantEntry)
    assert failed.is_error


@requirement("cli:print:without-a-key")
def test_without_a_key_three_lines_say_what_to_do(terminal: Terminal) -> None:
    ran = terminal.run("-p", "hello")

    assert ran.code == 1
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 3
    assert "ANTHROPIC_API_KEY" in ran.err


@requirement("cli:print:without-a-key")
def test_offline_by_choice_answers_that_it_cannot_talk(terminal: Terminal) -> None:
    ran = terminal.run("-m", "offline", "-p", "hello")

    assert ran.code == 0
    assert "no model" in ran.out


@requirement("cli:print:answers")
@pytest.mark.parametrize("fault", ["drop", "error_event"])
def test_a_broken_stream_is_asked_again_and_nothing_is_printed_twice(terminal: Terminal, fault: str) -> None:
    script: list[Json] = [
        {"when": {"last_user": "weather"}, "then": {"text": "Rain, then sun.", "fault": {"kind": fault}}, "times": 1},
        {"when": {"last_user": "weather"}, "then": {"text": "Rain, then sun."}},
    ]
    with simulator(script) as provider:
        ran = terminal.run(
            "-m",
            "claude-sonnet-4-5",
            "-p",
            "weather",
            ANTHROPIC_API_KEY=provider.api_key,
            ANTHROPIC_BASE_URL=provider.base_url,
        )
        requests = len(provider.requests)

    assert requests == 2
    assert ran.out == "Rain, then sun.\n"
