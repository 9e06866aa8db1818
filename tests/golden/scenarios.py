"""What is done in front of the provider; each scenario is written down as the requests that it sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic

import reverie
from tests.golden.place import MODEL, Place

LONG = "The harbour is measured at low tide and the figures are written into the book of the pilot. " * 30


@dataclass(frozen=True)
class Scenario:
    """Rules of the simulator, and what is done."""

    act: Callable[[Place], object]
    script: tuple[dict[str, Any], ...] = ()


def _rule(says: str, then: str | dict[str, Any], **when: Any) -> dict[str, Any]:
    return {"when": {"last_user": says, **when}, "then": {"text": then} if isinstance(then, str) else then}


def _call(tool: str, text: str = "", **parameters: Any) -> dict[str, Any]:
    return {"text": text, "tool_calls": [{"name": tool, "input": parameters}]}


def _plain(at: Place) -> None:
    assert at.ask("What is two and two?") == "Four.\n"


def _tools(at: Place) -> None:
    (at.project / "a.txt").write_text("first\nsecond\n", encoding="utf-8")
    assert at.ask("Count the files.", "--allowed-tools", "Write") == "One file.\n"
    assert (at.project / "b.txt").read_text(encoding="utf-8") == "one\n"


def _recall(at: Place) -> None:
    at.run("save", "Integration tests use a real database, never a mock.")
    at.run("save", "The release is built on Tuesday from the main branch.")
    assert at.ask("How do integration tests use the database?") == "With a real one.\n"


def _compaction(at: Place) -> None:
    no_tail = ("--set", "compaction.keep_min_tokens=0")
    at.ask("First: what is written in the book?")
    at.ask("Second: and then?", "--continue")
    assert "nothing" not in at.ask("/compact keep the names", "--continue", *no_tail)
    at.ask("Third: and now?", "--continue")


def _resume(at: Place) -> None:
    at.ask("What is two and two?")
    session = at.json("sessions")[0]["id"]
    at.ask("And twice that?", "--continue")
    at.ask("And half of it?", "--resume", session[:8], "--fork-session")


def _extraction(at: Place) -> None:
    at.ask("Remember that we never mock the database in tests.", "--set", "extraction.noninteractive=true")


def _dream(at: Place) -> None:
    at.run(
        "save", "--name", "Deploys", "--type", "project", "--description", "Deploys go out on Tuesday.", "--body", "x"
    )
    at.run(
        "save", "--name", "Releases", "--type", "project", "--description", "Releases go out on Friday.", "--body", "y"
    )
    at.run("dream", "--model", MODEL, "--yes")


def _learn(at: Place) -> None:
    at.ask("We decided to leave Redis because of its costs, please keep that in mind.")
    (transcript,) = at.files(".reverie/projects/*/*.jsonl")
    at.run("learn", str(transcript), "--model", MODEL)


def _subagent(at: Place) -> None:
    assert at.ask("Delegate the search.") == "It was found.\n"


def _wrap(at: Place) -> None:
    with anthropic.Anthropic(api_key=at.provider.api_key, base_url=at.provider.base_url) as client:
        wrapped = reverie.wrap(client, window=8_000)
        messages: list[anthropic.types.MessageParam] = []
        for number in range(4):
            messages.append({"role": "user", "content": f"{number}: {LONG}"})
            wrapped.messages.create(model=MODEL, max_tokens=100, system="Be brief.", messages=messages)
            messages.append({"role": "assistant", "content": f"Noted {number}."})


SCENARIOS = {
    "plain": Scenario(_plain, (_rule("two and two", "Four."),)),
    "tools": Scenario(
        _tools,
        (
            _rule("", _call("Write", "I write.", file_path="b.txt", content="one\n"), answers_tool="Bash"),
            _rule("", _call("Bash", "I remove.", command="rm a.txt"), answers_tool="Read"),
            _rule("", "One file.", answers_tool="Write"),
            _rule(
                "Count",
                {
                    "text": "I look.",
                    "tool_calls": [
                        {"name": "Bash", "input": {"command": "ls"}},
                        {"name": "Read", "input": {"file_path": "a.txt"}},
                    ],
                },
            ),
        ),
    ),
    "recall": Scenario(_recall, (_rule("database", "With a real one."),)),
    "compaction": Scenario(
        _compaction,
        (
            _rule("Third:", "Now it is short."),
            _rule("First:|Second:", LONG * 4),
            _rule("", "<analysis>Harbour.</analysis><summary>The harbour is measured at low tide.</summary>"),
        ),
    ),
    "resume": Scenario(_resume, (_rule("", "Four."),)),
    "subagent": Scenario(
        _subagent,
        (
            _rule("", "It was found.", answers_tool="Agent"),
            _rule("Find the lamp", "The lamp is in the tower."),
            _rule(
                "Delegate",
                _call("Agent", description="Find the lamp", prompt="Find the lamp.", subagent_type="Explore"),
            ),
        ),
    ),
    "extraction": Scenario(_extraction, (_rule("", "Understood."),)),
    "dream": Scenario(_dream, (_rule("", "Nothing to change."),)),
    "learn": Scenario(_learn, (_rule("", "Understood."),)),
    "wrap": Scenario(_wrap, (_rule("", "Noted."),)),
}
