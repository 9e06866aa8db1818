"""Sessions for tests: a home, a project, the simulator behind the real client, and somebody who answers questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from reverie.files.places import Places
from reverie.messages.blocks import Json
from reverie.messages.codec import message_from_wire
from reverie.models.choose import Access, choose
from reverie.models.ports import Model
from reverie.models.retry import Retries
from reverie.permissions.approval import Approval, Question
from reverie.session.events import TurnEnded, TurnEvent
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import BudgetSettings, Declaration, ExtractionSettings, Settings
from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.simulation import Record
from tests.messages.violations import violations

MODEL = "claude-sonnet-4-5"

GENEROUS = BudgetSettings(background_fraction=1.0, background_usd_per_hour=100.0)
"""So that background work takes place in short sessions too."""

NOTES: Json = {"when": {"last_user": "Bring the notes on\\s+this session up to date"}, "then": "answer {request}"}
"""The question for notes comes beside the conversation whenever it has grown; this answer keeps no frame, so the notes
by structure stand."""


@dataclass
class Person:
    """Answers questions: yes, unless told otherwise."""

    answer: Callable[[Question], Approval] = lambda _question: Approval(True)
    asked: list[Question] = field(default_factory=list)

    async def approve(self, question: Question) -> Approval:
        self.asked.append(question)
        return self.answer(question)


@dataclass
class Desk:
    """Everything around the sessions of one test."""

    root: Path
    provider: RunningSimulator
    person: Person = field(default_factory=Person)
    time: datetime = datetime(2026, 11, 15, 12, tzinfo=UTC)
    settings: Settings = field(
        default_factory=lambda: Settings(budget=GENEROUS, extraction=ExtractionSettings(enabled=False))
    )
    options: dict[str, Any] = field(default_factory=dict)
    model: str = MODEL
    models: dict[str, Model] = field(default_factory=dict)
    """Fakes by name, where the provider must not answer."""

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def file(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def hooks(self, **events: Json) -> None:
        """Let the user's own settings declare hooks."""
        declared = Declaration("user", "settings.toml:1", committed=False, text=json.dumps(events))
        self.settings = replace(self.settings, hooks=(declared,))

    def setup(self) -> SessionOptions:
        access = Access(
            anthropic_key=self.provider.api_key,
            anthropic_url=self.provider.base_url,
            retries=Retries(attempts=3, first_wait_seconds=0.01, longest_wait_seconds=0.02),
        )
        return SessionOptions(
            settings=self.settings,
            places=Places.at(self.home / ".reverie", self.home / ".claude"),
            directory=self.project,
            project=self.project,
            model=self.model,
            make_model=lambda name: self.models.get(name) or choose(name, access),
            now=lambda: self.time,
            new_id=_new_id,
            user_home=self.home,
            environment={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.home)},
            approver=self.person,
            is_interactive=True,
            version="test",
            **self.options,
        )

    def start(self) -> Session:
        return Session.open(self.setup())

    def resume(self, session: str, *, fork: bool = False) -> Session:
        return Session.open(self.setup(), resume=session, fork=fork)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was sent in the conversation, in order; questions for notes stand beside it."""
        return [
            body for record in self.provider.requests if isinstance(body := record.body, dict) and not _is_aside(body)
        ]

    @property
    def questions_for_notes(self) -> list[Record]:
        """What was asked beside it."""
        return [record for record in self.provider.requests if isinstance(record.body, dict) and _is_aside(record.body)]


_numbers = count(1)


def _new_id() -> str:
    """An id that looks like ours and never repeats."""
    return f"{next(_numbers):08x}-0000-4000-8000-000000000000"


def _is_aside(body: dict[str, Any]) -> bool:
    return "<current_notes>" in json.dumps(body["messages"][-1])


@contextmanager
def desk(root: Path, script: Sequence[Json] = (), *, learns: bool = False) -> Iterator[Desk]:
    """A desk whose provider follows a script; with `learns`, what a turn taught is extracted after it."""
    (root / "project").mkdir()
    (root / "home").mkdir()
    with simulator([NOTES, *script]) as provider:
        at = Desk(root, provider)
        if learns:
            at.settings = Settings(budget=GENEROUS)
        yield at


async def told(session: Session, text: str) -> list[TurnEvent]:
    """Run a turn to its end."""
    return [event async for event in session.send(text)]


def ending(events: Sequence[TurnEvent]) -> TurnEnded:
    """How a turn ended."""
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last


def calls(*made: tuple[str, Mapping[str, Json]], text: str = "") -> Json:
    """A reply of the script that calls tools."""
    return {"text": text, "tool_calls": [{"name": name, "input": dict(given)} for name, given in made]}


def results(body: dict[str, Any]) -> list[tuple[bool, str]]:
    """The tool results of the newest message: whether each failed, and its text."""
    found = []
    for block in body["messages"][-1]["content"]:
        if block["type"] == "tool_result":
            content = block["content"]
            text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            found.append((bool(block.get("is_error")), text))
    return found


def is_legal(body: dict[str, Any]) -> bool:
    """Whether a provider would take the messages."""
    return not violations([message_from_wire(message) for message in body["messages"]])


def cached_share(record: Record) -> float:
    """Of a request's whole input, the share that the provider read from its cache."""
    assert record.message is not None
    usage = record.message["usage"]
    assert isinstance(usage, dict)
    read, written, fresh = (
        int(str(usage[name])) for name in ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens")
    )
    return read / (read + written + fresh)
