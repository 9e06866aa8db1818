"""A conversation that follows a script, and the surroundings of a terminal in a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from reverie.apps.tui.app import Chat
from reverie.apps.tui.conversation import TerminalContext, Wish
from reverie.context.receipt import Receipt
from reverie.errors import Error
from reverie.files.trust import TrustPart
from reverie.memory.dream.dreams import Dreamt
from reverie.memory.memory import Memory
from reverie.messages.entries import Entry
from reverie.messages.listing import Glance
from reverie.messages.message import Usage
from reverie.models.ports import Ending, TextDelta
from reverie.models.tokens.window import WindowBudget, budget_by
from reverie.permissions.approval import Approval, Approver, Question
from reverie.session.events import Status, TurnEnded, TurnEvent, TurnStarted, ViewReduced
from reverie.session.file_history import Return
from reverie.settings import Settings

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
FIGURES = Status("claude-sonnet-5", 84_000, 180_000, cache_share=0.93, cost_usd=0.4213)
Step = TurnEvent | Question | asyncio.Event
"""What a script holds: events to yield, questions to ask, and gates to wait at."""


@dataclass
class Scripted:
    """Satisfies `TerminalSession`; each turn takes the next list of steps, or an echo when none is left."""

    memory: Memory
    turns: list[list[Step]] = field(default_factory=list)
    id: str = "5f0c954e-0000-4000-8000-000000000000"
    status: Status = FIGURES
    entries: Sequence[Entry] = ()
    receipt: Receipt | None = None
    freed: int = 0
    gate: asyncio.Event | None = None
    """What a compaction waits for."""
    facts: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    approver: Approver | None = None
    sent: list[str] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    commands: tuple[tuple[str, str, str], ...] = ()
    waiting_for_trust: tuple[TrustPart, ...] = ()
    prompts: tuple[tuple[str, str], ...] = ()
    waiting: list[str] = field(default_factory=list)
    heard: list[Callable[[TurnEvent], None]] = field(default_factory=list)
    path: Path = Path("talk.jsonl")
    changed: tuple[Return, ...] = ()
    told: list[tuple[str, str, str]] = field(default_factory=list)

    async def send(self, text: str) -> AsyncIterator[TurnEvent]:
        self.sent.append(text)
        self._cancelled = asyncio.Event()
        steps = self.turns.pop(0) if self.turns else [TextDelta(f"You said: {text}")]
        for step in steps:
            if isinstance(step, asyncio.Event):
                waiting = [asyncio.create_task(each.wait()) for each in (step, self._cancelled)]
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in waiting:
                    task.cancel()
            elif isinstance(step, Question):
                assert self.approver is not None
                self.approvals.append(await self.approver.approve(step))
            else:
                yield step
            while isinstance(step, asyncio.Event) and self.waiting and not self._cancelled.is_set():
                self.sent.append(self.waiting[0])
                yield TurnStarted(self.id, self.waiting.pop(0))
            if self._cancelled.is_set():
                yield self._ended(Ending.CANCELLED)
                return
        if not steps or not isinstance(steps[-1], TurnEnded):
            yield self._ended(Ending.COMPLETED)

    def _ended(self, ending: Ending) -> TurnEnded:
        return TurnEnded(ending, "", 1, Usage(), self.status.cost_usd, 1.0, self.status)

    def queue(self, text: str) -> None:
        self.waiting.append(text)

    def unqueue(self) -> tuple[str, ...]:
        taken, self.waiting = tuple(self.waiting), []
        return taken

    def listen(self, heard: Callable[[TurnEvent], None]) -> None:
        self.heard.append(heard)

    async def begin(self) -> None:
        self.done.append("begin")

    def answer_trust(self, parts: Iterable[TrustPart], *, accepted: bool) -> None:
        self.done.append(f"trust {accepted} {len(list(parts))}")
        self.waiting_for_trust = ()

    def cancel(self) -> None:
        self.done.append("cancel")
        self._cancelled.set()

    async def compact(self, instructions: str = "", *, from_: str = "", up_to: str = "") -> Receipt | None:
        side = f"from {from_}" if from_ else f"up_to {up_to}" if up_to else ""
        self.done.append(" ".join(filter(None, ("compact", side, instructions))))
        if self.gate is not None:
            await self.gate.wait()
        for heard in self.heard if self.receipt is not None else ():
            heard(ViewReduced((), self.receipt))
        return self.receipt

    def uncompact(self) -> None:
        self.done.append("uncompact")

    def rewind(self, message_id: str) -> None:
        self.done.append(f"rewind {message_id}")

    def changed_files(self, message_id: str) -> tuple[Return, ...]:  # noqa: ARG002 - the shape of a conversation
        return self.changed

    def restore_files(self, returns: Iterable[Return], *, told: bool = False) -> tuple[Path, ...]:
        paths = tuple(each.path for each in returns)
        self.done.append(f"restore {' '.join(path.name for path in paths)} told={told}")
        return paths

    def tell_command(self, command: str, output: str, ending: str = "") -> None:
        self.told.append((command, output, ending))

    def clear(self) -> None:
        self.done.append("clear")

    def snip(self) -> int:
        self.done.append("snip")
        return self.freed

    async def dream(self, *, review: bool = False) -> Dreamt:
        return await self.memory.dream(review=review)

    async def kill(self, name: str) -> bool:
        self.done.append(f"kill {name}")
        return name in dict(self.facts.get("tasks", ()))

    def set_mode(self, mode: str) -> None:
        self.status = replace(self.status, mode=mode)

    def describe(self, subject: str) -> tuple[tuple[str, str], ...] | None:
        return self.facts.get(subject)

    async def close(self) -> None:
        self.done.append("close")


@dataclass
class Table:
    """A terminal with a scripted conversation at it."""

    folder: Path
    conversation: Scripted
    others: dict[str, Scripted] = field(default_factory=dict)
    """By the id or the model under which they are opened."""
    sessions: list[Glance] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    edit: Callable[[str], str | None] = field(default=lambda _: None)
    greeting: str = ""
    refuses: Error | None = None
    """Why nothing can be opened at first, or with another model."""
    wishes: list[Wish] = field(default_factory=list)
    models: tuple[tuple[str, str], ...] = ()
    is_colourless: bool = False
    status_command: str | None = None

    def open(self, approver: Approver, wish: Wish) -> Scripted:
        self.wishes.append(wish)
        if self.refuses is not None and (wish.model or wish.is_first):
            raise self.refuses
        conversation = self.others.get(wish.model or wish.resume or "", self.conversation)
        conversation.approver = approver
        return conversation

    def surroundings(self) -> TerminalContext:
        return TerminalContext(
            directory=self.folder,
            input_history=self.folder.parent / "input.jsonl",
            open=self.open,
            now=lambda: NOW,
            list_sessions=lambda: self.sessions,
            budget=budget,
            edit=lambda text: self.edit(text),
            copy=self.copied.append,
            list_models=lambda: self.models,
            greeting=self.greeting,
            is_colourless=self.is_colourless,
            status_command=self.status_command,
            version="1.2",
        )

    def chat(self) -> Chat:
        return Chat(self.surroundings())


def budget(model: str) -> WindowBudget:
    return budget_by(Settings(), model)


def table(folder: Path, *turns: list[Step]) -> Table:
    """A project in a folder, with a conversation that answers these turns."""
    project = folder / "project"
    project.mkdir()
    settings = replace(Settings(), home=str(folder / "home"))
    memory = Memory(folder / "memory", project=project, settings=settings, now=lambda: NOW)
    return Table(project, Scripted(memory, list(turns)))
