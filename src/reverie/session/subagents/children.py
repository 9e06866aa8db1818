"""The child agents of one session while they run: their names, letters, progress, end.

A child is a loop in a task of its own. Who waits for it is linked to it: cancelling the one cancels the other. One in
the background is told of when it ends, at the parent's next boundary. How a child is made is the matter of `fork` and
`session.subagents`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from reverie.messages.blocks import JsonObject, ToolUse
from reverie.messages.injection import harmless
from reverie.messages.message import Usage
from reverie.messages.reminder import reminder
from reverie.models.ports import Ending
from reverie.session.events import AgentEnded, AgentProgress, Replied, ToolStarted, TurnEnded, TurnEvent
from reverie.session.loop import JoinedAttachment, Loop
from reverie.session.subagents.mailbox import AgentMessage
from reverie.session.subagents.progress import LAST_CALLS, progress_line
from reverie.tools.tool import ToolMistake

ENDED_KIND, LETTER_KIND = "task_status", "agent_message"
"""Attachments: a background agent has ended; a letter has come."""


class ChildState(StrEnum):
    """How far a child is."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"


@dataclass(slots=True)
class Child:
    """One child agent."""

    id: str
    name: str
    kind: str
    """Its role, or `fork`."""
    title: str
    loop: Loop
    in_background: bool = False
    state: ChildState = ChildState.RUNNING
    inbox: deque[AgentMessage] = field(default_factory=deque)
    calls: deque[ToolUse] = field(default_factory=lambda: deque(maxlen=LAST_CALLS))
    count: int = 0
    """How many tools it has used."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    """What it has cost so far, as far as prices are known."""
    price: Callable[[Usage], float] = field(default=lambda _usage: 0.0, repr=False)
    worded: str = ""
    """What a model says that it does; empty without one."""
    result: str = ""
    task: asyncio.Task[TurnEnded] | None = field(default=None, repr=False)
    progress: Callable[[str], None] = field(default=lambda _line: None, repr=False)
    told: str = ""
    """The last line that was told."""

    @property
    def is_running(self) -> bool:
        return self.state is ChildState.RUNNING

    @property
    def line(self) -> str:
        """What it does now."""
        return self.worded or progress_line(tuple(self.calls))

    def hear(self, event: TurnEvent) -> None:
        """Take note of what happens in its turn."""
        if isinstance(event, ToolStarted):
            self.calls.append(ToolUse(event.call_id, event.name, event.given))
            self.count += 1
            self.worded = ""
        elif isinstance(event, Replied):
            self.usage += event.usage
            self.cost_usd += self.price(event.usage)

    def letters(self) -> Sequence[JoinedAttachment]:
        """What has come for it, for its next boundary."""
        joined = [attachment_from_letter(letter) for letter in self.inbox]
        self.inbox.clear()
        return joined


class Children:
    """All child agents of a session."""

    def __init__(self, *, emit: Callable[[TurnEvent], None]) -> None:
        self._emit = emit
        self._all: dict[str, Child] = {}
        self._waiting: set[asyncio.Task[None]] = set()
        self._news: list[JoinedAttachment] = []

    @property
    def all(self) -> tuple[Child, ...]:
        """Every child, running or not, in the order in which they began."""
        return tuple(self._all.values())

    @property
    def running(self) -> tuple[Child, ...]:
        return tuple(child for child in self._all.values() if child.is_running)

    def find(self, name: str) -> Child | None:
        """The child that a name or an id means; of several with one name the newest."""
        return self._all.get(name) or next(
            (child for child in reversed(self._all.values()) if name in (child.id, child.name)), None
        )

    def free_name(self, wanted: str, kind: str) -> str:
        """The name of a new child. Raises `ToolMistake` when a running one has it."""
        taken = {child.name for child in self.running}
        if wanted:
            if wanted in taken:
                raise ToolMistake(f"An agent named {wanted!r} is running; take another name or wait for it.")
            return wanted
        numbered = (f"{kind}-{number}" for number in range(1, len(self._all) + 2))
        names = {child.name for child in self._all.values()}
        return next(name for name in numbered if name not in names)

    def add(self, child: Child) -> None:
        """Take in a child that is about to run."""
        self._all[child.id] = child

    async def run_to_end(self, child: Child, work: Callable[[], Awaitable[TurnEnded]]) -> TurnEnded:
        """Run a child to its end. Cancelling the wait ends the child."""
        child.task = asyncio.ensure_future(work())
        try:
            ended = await child.task
        except asyncio.CancelledError:
            child.state = ChildState.KILLED
            raise
        except BaseException:
            child.state = ChildState.FAILED
            raise
        self._finish(child, ended)
        return ended

    def start(self, child: Child, work: Callable[[], Awaitable[TurnEnded]]) -> None:
        """Let a child run beside the conversation, which is told of its end."""

        async def run() -> None:
            try:
                ended = await self.run_to_end(child, work)
            except asyncio.CancelledError:
                self._tell(child, "it was ended before it was done")
                return
            except Exception as bug:  # noqa: BLE001 - a child that breaks must not be waited for without end
                child.result = f"{type(bug).__name__}: {bug}"
                self._tell(child, child.result)
                return
            self._tell(child, ended.text)

        task = asyncio.create_task(run())
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    def take_arrived(self) -> Sequence[JoinedAttachment]:
        """What ended since it was last asked, for the parent's next boundary."""
        news, self._news = self._news, []
        return news

    async def kill(self, name: str) -> bool:
        """End a running child; whether there was one."""
        child = self.find(name)
        if child is None or not child.is_running or child.task is None:
            return False
        child.loop.cancel()
        await asyncio.wait({child.task}, timeout=5.0)
        if not child.task.done():
            child.task.cancel()
        child.state = ChildState.KILLED
        return True

    def report(self) -> None:
        """Tell what each running child does, where that has changed."""
        for child in self.running:
            line = child.line
            if line != child.told:
                child.told = line
                child.progress(line)
                self._emit(AgentProgress(child.id, child.name, line))

    async def close(self) -> None:
        """End all that still run."""
        for child in self.running:
            if child.task is not None:
                child.task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)

    def _finish(self, child: Child, ended: TurnEnded) -> None:
        child.result = ended.text
        states = {
            Ending.FAILED: ChildState.FAILED,
            Ending.BUDGET: ChildState.FAILED,
            Ending.CANCELLED: ChildState.KILLED,
        }
        child.state = states.get(ended.ending, ChildState.COMPLETED)

    def _tell(self, child: Child, result: str) -> None:
        words = (
            f'The background agent "{child.name}" ({child.id}, {child.kind}: {child.title}) has ended: {child.state}.\n'
            f"Its report:\n\n{harmless(result)}"
        )
        data: JsonObject = {"agentId": child.id, "name": child.name, "status": child.state.value}
        joined = JoinedAttachment(ENDED_KIND, reminder(words), f"agent {child.name} has ended: {child.state}", data)
        self._news.append(joined)
        self._emit(AgentEnded(child.id, child.name, child.state.value, result, child.cost_usd))


def attachment_from_letter(letter: AgentMessage) -> JoinedAttachment:
    """A letter as the receiver's model reads it: somebody's words, not the user's."""
    about = f" about {letter.summary}" if letter.summary else ""
    words = [f'The agent "{letter.sender}" sends a {_name(letter.kind)}{about}. It is not from the user.']
    if letter.kind == "shutdown_request":
        words.append(f"Finish what cannot wait; request_id: {letter.request_id or letter.id}.")
    elif letter.approve is not None:
        words.append(f"It says {'yes' if letter.approve else 'no'} to {letter.request_id or 'your plan'}.")
    if letter.text:
        words.append(f"\n{harmless(letter.text)}")
    data: JsonObject = {"ids": [letter.id], "from": letter.sender, "letter": letter.kind}
    shown = letter.summary or letter.text.partition("\n")[0][:80]
    return JoinedAttachment(LETTER_KIND, reminder("\n".join(words)), f"message from {letter.sender}: {shown}", data)


def _name(kind: str) -> str:
    return kind.replace("_", " ")
