"""Ways into the program for somebody who looks what a setting changes: each takes settings and says what was seen.

What is seen is compared as text, so nothing in it may depend on the moment or on chance.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from reverie.context.window import Window
from reverie.errors import Error
from reverie.files.places import Places
from reverie.memory.memory import Memory
from reverie.messages.blocks import ToolResult, ToolUse
from reverie.messages.message import Message, Usage, assistant, user
from reverie.models import from_settings
from reverie.models.ports import Event, Reply, Request
from reverie.permissions.approval import Approval, Question
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from reverie.settings.load import Configuration, Secrets
from reverie.testing.build import reply
from reverie.testing.scripted_model import ScriptedModel, Step

MODEL = "claude-sonnet-4-5"
NEWEST = "claude-opus-4-6"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ROOT = Path(tempfile.gettempdir()) / f"reverie-effects-{os.getpid()}"
"""One place for all runs of a process, so that two of them differ in nothing but the settings."""

Door = Callable[[Settings], object]
READER = [{"name": "Read", "description": "Read a file.", "input_schema": {"properties": {"file_path": {}}}}]
"""Results are moved to files only where the model can read them."""


QUIET: Mapping[str, object] = {"extraction.enabled": False, "notes.enabled": False}


@dataclass(frozen=True)
class Row:
    """Set a key to another value and look."""

    value: object
    door: Door
    given: Mapping[str, object] = field(default_factory=dict)
    """What is set in both runs; the key itself too, where its default is not what it is compared with."""

    @property
    def base(self) -> Mapping[str, object]:
        """What both runs have: without background work, which comes at its own time, unless that is looked at."""
        return self.given if getattr(self.door, "is_lively", False) else {**QUIET, **self.given}


@contextmanager
def place() -> Iterator[Path]:
    """An empty folder, always the same."""
    root = ROOT / "place"
    shutil.rmtree(root, ignore_errors=True)
    for name in ("home", "project"):
        (root / name).mkdir(parents=True)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def rounds(number: int, *, tool: str = "Read", chars: int = 4_000, each: int = 1) -> list[Message]:
    """A conversation of many calls, each with a long answer."""
    made: list[Message] = [user("please look at every module and say what is wrong with it")]
    for at in range(number):
        calls = [ToolUse(f"t{at}_{one}", tool, {"file_path": f"/src/m{at}_{one}.py"}) for one in range(each)]
        made += [
            assistant(f"reading module {at}", *calls),
            user(*(ToolResult(call.id, f"line of module {call.id}\n" * (chars // 22)) for call in calls)),
        ]
    return [*made, assistant("all read"), user("now fix module 3, and never touch the tests")]


def window(
    talk: Sequence[Message],
    *,
    size: int | None = None,
    model: str = MODEL,
    pause: timedelta = timedelta(0),
    spills: bool = False,
) -> Door:
    """A loop of somebody's own: the request that comes back for a conversation, and the lines of the window."""

    def door(settings: Settings) -> object:
        now = [NOW - pause]
        with place() as root:
            made = Window(model, settings, directory=root if spills else None, window=size, now=lambda: now[0])
            if pause:
                made.prepare(talk[:-1], tools=READER)
                now[0] = NOW
            seen: list[object] = [made.budget]
            try:
                request = made.prepare(talk, tools=READER)
            except Error as problem:
                return seen, str(problem)
            return seen, request.body, request.report.reductions

    return door


@dataclass
class Somebody:
    """Answers questions with yes, and remembers them."""

    asked: list[str] = field(default_factory=list)

    async def approve(self, question: Question) -> Approval:
        self.asked.append(question.need.tool)
        return Approval(True)


@dataclass
class Held:
    """A model that waits before it answers."""

    model: ScriptedModel
    holds: Callable[[Request, list[Request]], Awaitable[None]] | None

    @property
    def name(self) -> str:
        return self.model.name

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        if self.holds is not None:
            await self.holds(request, self.model.requests)
        async for event in self.model.stream(request):
            yield event


@dataclass(frozen=True)
class Turns:
    """A session: what its model is asked, what the user is asked and told, and what is written."""

    says: Sequence[Step] = ("done",)
    prompts: Sequence[str] = ("please look at the importer",)
    files: Mapping[str, str] = field(default_factory=dict)
    """In the project; below `~/` in the user's home."""
    model: str = MODEL
    options: Mapping[str, Any] = field(default_factory=dict)
    before: Callable[[SessionOptions], None] = lambda _setup: None
    begins: Callable[[Session], None] = lambda _session: None
    """What happened to the session earlier."""
    pause: timedelta = timedelta(0)
    """Between two turns."""
    is_lively: bool = False
    """Notes and extraction are on."""
    holds: Callable[[Request, list[Request]], Awaitable[None]] | None = None
    """What the model waits for before it answers, given what it was asked so far."""
    ends: Callable[[Session], Awaitable[object]] | None = None
    """What is done with the session after its turns."""
    sees: Callable[[Seen], object] = lambda seen: (sorted(map(repr, seen.requests)), seen.events, seen.asked)

    def __call__(self, settings: Settings) -> object:
        with place() as root:
            for name, text in self.files.items():
                path = root / "home" / name[2:] if name.startswith("~/") else root / "project" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return asyncio.run(self._held(settings, root))

    async def _held(self, settings: Settings, root: Path) -> object:
        numbers, now = count(1), [NOW]
        model = ScriptedModel([_endless(self.says, at) for at in range(200)], name=self.model)
        somebody = Somebody()
        setup = SessionOptions(
            settings=settings,
            places=Places.at(root / "home" / ".reverie", root / "home" / ".claude"),
            directory=root / "project",
            project=root / "project",
            model=self.model,
            make_model=lambda name: Held(ScriptedModel(model.steps, name, model.requests), self.holds),
            now=lambda: now[0],
            new_id=lambda: f"{next(numbers):08x}-0000-4000-8000-000000000000",
            user_home=root / "home",
            environment={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(root / "home"), "OPENAI_API_KEY": "x"},
            approver=somebody,
            version="test",
            **{"is_interactive": True, **self.options},
        )
        self.before(setup)
        session = Session.open(setup)
        self.begins(session)
        events: list[object] = []
        try:
            for prompt in self.prompts:
                events.extend([event async for event in session.send(prompt)])
                now[0] += self.pause
            if self.ends is not None:
                events.append(await self.ends(session))
        finally:
            await session.close()
        return self.sees(Seen(model.requests, events, somebody.asked, root))


@dataclass(frozen=True)
class Seen:
    """What was seen of a session."""

    requests: list[Request]
    events: list[object]
    asked: list[str]
    root: Path


def _endless(says: Sequence[Step], at: int) -> Step:
    return says[min(at, len(says) - 1)]


def memories(act: Callable[[Memory], object], topics: Sequence[str] = (), *, day: str = "2026-11-15") -> Door:
    """A memory from Python: what an act on it answers, with these topics, by their types, seen on a day."""

    def door(settings: Settings) -> object:
        with place() as root:
            places = Places.at(root / "home" / ".reverie", root / "home" / ".claude")
            write_topics(places, root / "project", settings, topics, day)
            return act(Memory.at(places, settings, root / "project", now=lambda: NOW))

    return door


def write_topics(places: Places, project: Path, settings: Settings, types: Sequence[str], day: str) -> None:
    """Topics that all answer the same question."""
    folder = Memory.at(places, settings, project, now=lambda: NOW).directory
    folder.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(types):
        head = f"name: Importer rule {number}\ndescription: the importer needs rule {number}\ntype: {kind}"
        body = "The importer needs it, since the importer is slow.\n" * 40
        text = f"---\n{head}\nobserved: {day}\n---\n\n{body}"
        path = folder / f"{kind}_rule_{number}.md"
        path.write_text(text, encoding="utf-8")
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    for name in ("Database mocks", "Colours of charts", "Release days") if types else ():
        text = f"---\nname: {name}\ndescription: {name} are another matter\ntype: project\n---\n\nNothing.\n"
        (folder / f"project_{name[:4].lower()}.md").write_text(text, encoding="utf-8")


def together(*doors: Door) -> Door:
    """What several doors show."""
    return lambda settings: [door(settings) for door in doors]


def chosen(name: str | None = None, **environ: str) -> Door:
    """Which model a command takes, and how that reaches its server."""

    def door(settings: Settings) -> object:
        root = Path("/r")
        configured = Configuration(settings, {}, (), root, root, root, Secrets(environ))
        choice = from_settings.model_choice(configured, name)
        try:
            return choice, _inside(from_settings.model(configured, choice.name))
        except Error as problem:
            return choice, str(problem)

    return door


def _inside(model: object) -> object:
    fields = getattr(model, "__slots__", None) or vars(model)
    return [(name, re.sub(r"0x[0-9a-f]+", "", repr(getattr(model, name, None)))) for name in sorted(fields)]


def counted(reply_tokens: int, text: str = "done") -> Reply:
    """A reply after which the conversation is said to have this many tokens."""
    return replace(reply(text, usage=Usage(reply_tokens, 10)), model=MODEL)
