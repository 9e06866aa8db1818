"""What hooks hear of the life of a session, and what they may ask of it: set-up, start, a fresh start, end.

A hook that speaks at the start may name the session, add words for the model or for the user's first turn, have files
watched, and have skills read again.

While a session waits for its user, a timer lets hooks call them back to the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reverie.extensions.hooks import Hooks, HookVerdict
from reverie.extensions.hooks.verdict import FiresHooks, titles
from reverie.messages.reminder import reminder
from reverie.session.disk_changes import DiskChanges
from reverie.session.events import Notice, TurnEvent
from reverie.session.extensions import Extensions
from reverie.session.loop import JoinedAttachment, Loop
from reverie.session.options import SessionOptions

CLEARED = "clear"


@dataclass(slots=True)
class LifecycleHooks:
    """Speaks with hooks for one session as a whole."""

    options: SessionOptions
    hooks: Hooks
    loop: Loop
    extensions: Extensions
    disk_changes: DiskChanges
    emit: Callable[[TurnEvent], None]

    async def started(self, source: str) -> None:
        """The session begins: `startup`, `resume`, `fork` or `clear`."""
        trigger = self.options.setup_trigger
        if trigger and source != CLEARED:
            self._take(await self.hooks.fire("Setup", {"trigger": trigger}))
        self._take(await self.hooks.fire("SessionStart", {"source": source, "model": self.options.model}))

    async def cleared(self) -> None:
        """The user began anew in the same file."""
        await self.ended(CLEARED)
        await self.started(CLEARED)

    async def ended(self, reason: str) -> None:
        """The session is over."""
        await self.hooks.fire("SessionEnd", {"reason": reason})

    def _take(self, verdict: HookVerdict) -> None:
        for message in verdict.messages:
            self.emit(Notice(message, "warning"))
        self.loop.join([JoinedAttachment("hook_additional_context", reminder(text)) for text in verdict.context])
        self.loop.parts.log.append(*titles(verdict))
        words = verdict.more.get("initialUserMessage")
        if isinstance(words, str) and words.strip():
            self.loop.queued.append(words)
        watched = verdict.more.get("watchPaths")
        if isinstance(watched, list):
            self.disk_changes.watch(Path(path) for path in watched if isinstance(path, str))
        if verdict.more.get("reloadSkills") is True:
            self.extensions.reload_skills()


IDLE_SECONDS = 60.0
_FACTS = {"message": "Reverie waits for your words", "notification_type": "idle_prompt"}


@dataclass(slots=True)
class IdleHooks:
    """Tells of the wait once, unless it ends before."""

    hooks: FiresHooks
    is_interactive: bool
    seconds: float = IDLE_SECONDS
    _waiting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """A turn is over."""
        self.end()
        if self.is_interactive:
            self._waiting = asyncio.create_task(self._tell())

    def end(self) -> None:
        """The user is back, or nobody is to be called any more."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    async def _tell(self) -> None:
        await asyncio.sleep(self.seconds)
        await self.hooks.fire("Notification", _FACTS, subject="idle_prompt")
