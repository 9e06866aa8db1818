from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.messages.entries import AssistantEntry, UserEntry
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from reverie.testing.openai_server import ChatAnswer, OpenAIServer
from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Incoming, ScriptAction, ToolCall
from tests.apps.cli.conftest import Ran, Terminal
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
def test_a_model_without_a_known_price_has_no_cost_and_the_offline_one_costs_nothing(terminal: Terminal) -> None:
    with OpenAIServer(lambda _body: ChatAnswer("Rain.")) as server:
        keys = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{server.url}/v1"}
        costs = [
            terminal.run("-m", model, "-p", prompt, "--output-format", "json", **keys).document["total_cost_usd"]
            for model, prompt in (("openai/pelican-7", "weather"), ("offline", "hi"))
        ]

    assert costs == [None, 0.0]
    assert server.bodies


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


def ask(terminal: Terminal, provider: RunningSimulator, *arguments: str) -> Ran:
    access = {"ANTHROPIC_API_KEY": provider.api_key, "ANTHROPIC_BASE_URL": provider.base_url}
    return terminal.run("-m", "claude-sonnet-4-5", *arguments, **access)


@requirement("tokens:profiles:unknown")
def test_what_is_assumed_of_an_unknown_model_is_told(terminal: Terminal) -> None:
    with simulator(SCRIPT) as provider:
        guessed = ask(terminal, provider, "-m", "claude-opus-9", "-p", "hi")
        said = ask(terminal, provider, "-m", "claude-opus-9", "-p", "hi", "--window", "150000")

    assert "'claude-opus-9' is not known: a window of 200,000 tokens is assumed" in guessed.err
    assert "--window" in guessed.err
    assert "assumed" not in said.err


@requirement("cli:print:denials")
def test_what_was_not_permitted_is_told_and_stands_in_the_result(terminal: Terminal) -> None:
    remove: Json = {"name": "Bash", "input": {"command": "rm -r build", "description": "clean up"}}
    order: Json = {"description": "d", "prompt": "clean it", "subagent_type": "general-purpose"}
    script: list[Json] = [
        {"when": {"tool_result": "."}, "then": "Done."},
        {"when": {"last_user": "by an agent"}, "then": {"tool_calls": [{"name": "Agent", "input": order}]}},
        {"then": {"tool_calls": [remove]}},
    ]
    with simulator(script) as provider:
        ran = ask(terminal, provider, "-p", "clean", "--output-format", "json")
        by_agent = ask(terminal, provider, "-p", "clean by an agent", "--output-format", "stream-json")
        plain = ask(terminal, provider, "-p", "clean", "--disallowed-tools", "Bash")

    (denial,) = ran.document["permission_denials"]
    assert denial["tool_name"] == "Bash"
    assert denial["tool_input"]["command"] == "rm -r build"
    assert denial["tool_use_id"].startswith("toolu_")
    assert ran.document["result"] == "Done."
    assert ran.code == 0
    assert "permission denied: Bash" in ran.err
    assert "--allowed-tools 'Bash(rm -r build)'" in ran.err
    (denial,) = json.loads(by_agent.out.splitlines()[-1])["permission_denials"]
    assert denial["tool_name"] == "Bash"
    assert "permission denied for" in by_agent.err
    assert plain.out == "Done.\n"


@requirement("cli:print:images")
def test_stream_json_keeps_pictures(terminal: Terminal) -> None:
    pixel = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
    (terminal.project / "pixel.png").write_bytes(pixel)
    call: Json = {"name": "Read", "input": {"file_path": str(terminal.project / "pixel.png")}}
    script: list[Json] = [{"when": {"has_tool_results": True}, "then": "Seen."}, {"then": {"tool_calls": [call]}}]
    with simulator(script) as provider:
        ran = ask(terminal, provider, "-p", "look", "--output-format", "stream-json")

    (told,) = [json.loads(line) for line in ran.out.splitlines() if '"type": "user"' in line]
    (result,) = told["message"]["content"]
    assert "image" in [block["type"] for block in result["content"]]


@requirement("cli:print:commands")
@pytest.mark.moves_prefix("several sessions begin alike")
def test_commands_of_the_terminal_are_done_or_refused_and_no_model_hears_them(terminal: Terminal) -> None:
    skill = terminal.project / ".claude" / "commands" / "greet.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Say hello to $ARGUMENTS.", encoding="utf-8")
    script: list[Json] = [{"then": "word " * 2_000}]
    with simulator(script) as provider:
        ask(terminal, provider, "-p", "tell me a story")
        heard = len(provider.requests)
        unknown = ask(terminal, provider, "-p", "/frobnicate now")
        elsewhere = ask(terminal, provider, "-p", "/context")
        compacted = ask(terminal, provider, "--continue", "-p", "/compact keep names", "--output-format", "json")
        prompts = [repr(record.body) for record in provider.requests[heard:]]
        path = ask(terminal, provider, "-p", f"/{terminal.home.parts[1]} is full")
        greeted = ask(terminal, provider, "-p", "/greet bob")
        asked = repr(provider.requests[-1].body)

    assert (unknown.code, elsewhere.code, compacted.code, path.code, greeted.code) == (2, 2, 0, 0, 0)
    assert "/frobnicate" in unknown.err
    assert "`reverie context`" in elsewhere.err
    assert not any("frobnicate" in prompt or "/compact" in prompt for prompt in prompts)
    assert "compact" in compacted.document["result"]
    assert "Say hello to bob" in asked


@requirement("cli:print:commands")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-p", "hi", "extra", "words"), "reverie -p 'hi extra words'"),
        (("-p", "hi", "list"), "reverie -p 'hi list'"),
        (("-p", "--continue"), "not --continue"),
        (("-p", "--output-format", "json"), "not --output-format"),
        (("-p",), "-p"),
    ],
)
def test_a_prompt_that_is_none_is_refused(terminal: Terminal, arguments: tuple[str, ...], words: str) -> None:
    ran = terminal.run("-m", "offline", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@requirement("cli:print:commands")
def test_help_is_help_behind_the_flag_too(terminal: Terminal) -> None:
    ran = terminal.run("-p", "--help")

    assert ran.code == 0
    assert "Usage: reverie" in ran.out


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
    assert "No model" in ran.out


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


@requirement("cli:print:cache-broken")
@pytest.mark.parametrize("output_format", ["json", "stream-json"])
def test_a_broken_cache_is_told_to_programs(terminal: Terminal, output_format: str) -> None:
    def forgets(incoming: Incoming) -> ScriptAction:
        if incoming.tool_result:
            provider.simulation.provider.cache.clear()
            return ScriptAction(text="done")
        return ScriptAction(tool_calls=(ToolCall("Bash", {"command": "ls", "description": "look"}),))

    with simulator(forgets) as provider:
        ran = ask(terminal, provider, "-p", "look", "--output-format", output_format)

    *lines, result = [json.loads(line) for line in ran.out.splitlines()]
    (told,) = result["cache_breaks"]
    assert told["cause"] == "the provider did not keep it"
    assert told["lost_tokens"] > 2_000
    assert told["cost_usd"] > 0
    if output_format == "stream-json":
        (line,) = [line for line in lines if line.get("subtype") == "cache_broken"]
        assert line["lost_tokens"] == told["lost_tokens"]


@requirement("cli:print:remembered")
@pytest.mark.parametrize("output_format", ["text", "json", "stream-json"])
def test_what_a_turn_taught_is_told_and_stands_in_the_transcript(terminal: Terminal, output_format: str) -> None:
    said = "Always sign commits with the hardware key."
    flags = ("--model", "offline", "--set", "extraction.noninteractive=true")

    ran = terminal.run(*flags, "-p", said, "--output-format", output_format)

    assert (ran.code, "reverie: remembered: Always sign commits" in ran.err) == (0, True), ran.err
    rows = [json.loads(line) for line in ran.out.splitlines()] if output_format != "text" else []
    told = [name for row in rows for name in (*row.get("names", ()), *row.get("remembered", ()))]
    assert len(told) == len(rows[:1])
    [transcript] = (terminal.home / ".reverie" / "projects").glob("*/*.jsonl")
    lines = map(json.loads, transcript.read_text(encoding="utf-8").splitlines())
    marks = [row for row in lines if row.get("reverie", {}).get("name") == "remembered"]
    assert [row["reverie"]["data"]["names"] for row in marks] == [[said.removesuffix(".")]]
    assert terminal.run("--model", "offline", "-p", "and again", "--continue").code == 0
