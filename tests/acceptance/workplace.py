"""A person at work: a home, a project, the real program, and a provider whose every request is looked at afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.messages.entries import Entry
from reverie.messages.transcript import read_entries
from reverie.testing.prefix_net import Net
from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Incoming, Script, ScriptAction
from reverie_simulator.simulation import Record
from reverie_simulator.wire import blocks_at, objects_at, text_at
from tests.apps.tui.tmux import RealTerminal, real_terminal
from tests.program import run_reverie

MODEL = "claude-sonnet-4-5"
ASKED = "Please: "
"""How every prompt of these tests begins; other words of the user's side are questions beside the conversation."""


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as one JSON object per line."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Workplace:
    """Where somebody works with `reverie`."""

    folder: Path
    provider: RunningSimulator

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "ANTHROPIC_API_KEY": self.provider.api_key,
            "ANTHROPIC_BASE_URL": self.provider.base_url,
        }

    def file(self, name: str, text: str) -> Path:
        path = self.project / name
        path.write_text(text, encoding="utf-8")
        return path

    def terminal(self, *arguments: str, rows: int = 30) -> AbstractContextManager[RealTerminal]:
        """`reverie` in a terminal."""
        return real_terminal(
            "-m", MODEL, *arguments, environment=self.environment, project=self.project, columns=100, rows=rows
        )

    def run(self, *arguments: str, stdin: str = "") -> Ran:
        """`reverie` as a command."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        ended = run_reverie(
            ("-m", MODEL, *arguments),
            cwd=self.project,
            environment={**kept, **self.environment, "LANG": "C.UTF-8"},
            stdin=stdin,
        )
        return Ran(ended.code, ended.out, ended.err)

    @property
    def transcripts(self) -> list[Path]:
        """The sessions of the project, oldest first."""
        found = (self.home / ".reverie" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime)

    @property
    def entries(self) -> list[Entry]:
        """What the only session has written."""
        (path,) = self.transcripts
        return read_entries(path)

    @property
    def asked(self) -> list[Record]:
        """The requests of the conversation that were answered, without questions beside it."""
        return [
            record
            for record in self.provider.requests
            if record.status == 200 and isinstance(record.body, dict) and not is_aside(record.body)
        ]

    @property
    def last_messages(self) -> str:
        """The newest request of the conversation, as text."""
        body = self.asked[-1].body
        assert isinstance(body, dict)
        return json.dumps(body["messages"])


@contextmanager
def workplace(folder: Path, script: Script, *, faults: Sequence[int] = (), extends: bool = True) -> Iterator[Workplace]:
    """A workplace with a scripted provider. At the end, no request may have been refused except by scripted `faults`,
    given by status, and each must extend the one before it unless several programs ask (`extends`).
    """
    for name in ("home", "project"):
        (folder / name).mkdir()
    with simulator(script) as provider:
        place = Workplace(folder, provider)
        yield place
    net = Net()
    refused = []
    for record in provider.requests:
        if record.status == 200 and isinstance(record.body, dict) and record.path.endswith("/messages"):
            net.take(record.body, record.message)
        elif record.status not in (200, *faults):
            refused.append((record.number, record.status, record.error))
    assert provider.requests
    assert not refused, refused
    assert not (extends and net.torn), net.torn


def is_aside(body: Mapping[str, Any]) -> bool:
    """Whether a request asks something beside the conversation: notes, a summary, what is worth remembering."""
    said = [text_at(block, "text") for block in _newest(body) if block.get("type") == "text"]
    ours = ("<system-reminder>", ASKED, "[Request interrupted")
    return bool(said) and not said[-1].startswith(ours)


def _newest(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    messages = objects_at(body, "messages")
    return blocks_at(messages[-1], "content") if messages else ()


@dataclass(frozen=True)
class Steps:
    """A script: for each prompt, by a word of it, the replies of its turn in order; the last repeats."""

    turns: Mapping[str, Sequence[ScriptAction]]
    aside: str = "Nothing to add."

    def __call__(self, incoming: Incoming) -> ScriptAction | None:
        if is_aside(incoming.body):
            return ScriptAction(text=self.aside)
        prompt, replies = _turn(incoming.body)
        steps = next((steps for word, steps in self.turns.items() if word in prompt), (ScriptAction(text="What?"),))
        return steps[min(replies, len(steps) - 1)]


def _turn(body: Mapping[str, Any]) -> tuple[str, int]:
    """The newest prompt, and how many replies it has had."""
    replies = 0
    for message in reversed(objects_at(body, "messages")):
        if message["role"] == "assistant":
            replies += 1
            continue
        for block in reversed(blocks_at(message, "content")):
            if text_at(block, "text").startswith(ASKED):
                return text_at(block, "text"), replies
    return "", replies


def answer_questions(terminal: RealTerminal, questions: Sequence[str], key: str = "1") -> None:
    """Say yes to each question, known by a text of it, as it comes."""
    for text in questions:
        terminal.until(lambda screen, text=text: text in screen and "1. Yes" in screen, f"the question on {text}")  # type: ignore[misc]  # a default
        terminal.press(key)
        terminal.until(lambda screen, text=text: not ("1. Yes" in screen and text in screen), f"{text} to be settled")  # type: ignore[misc]
