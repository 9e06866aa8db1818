"""What hooks hear of the life of a session, and what they may ask of it: set-up, start, a fresh start, end.

A hook that speaks at the start may name the session, add words for the model or for the user's first turn, have files
watched, and have skills read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reverie.extensions.hooks import Hooks, HookVerdict
from reverie.messages.reminder import reminder
from reverie.session.disk_changes import DiskChanges
from reverie.session.events import Notice, TurnEvent
from reverie.session.extensions import Extensions
from reverie.session.loop import JoinedAttachment, Loop
from reverie.session.loop_hooks import titles
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

    def _take(self, said: HookVerdict) -> None:
        for message in said.messages:
            self.emit(Notice(message, "warning"))
        self.loop.join([JoinedAttachment("hook_additional_context", reminder(text)) for text in said.context])
        self.loop.parts.log.append(*titles(said))
        words = said.more.get("initialUserMessage")
        if isinstance(words, str) and words.strip():
            self.loop.queued.append(words)
        watched = said.more.get("watchPaths")
        if isinstance(watched, list):
            self.disk_changes.watch(Path(path) for path in watched if isinstance(path, str))
        if said.more.get("reloadSkills") is True:
            self.extensions.reload_skills()
