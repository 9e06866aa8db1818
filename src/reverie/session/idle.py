"""A session that waits for its user: after a while hooks may call them back to the screen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from reverie.session.loop_hooks import FiresHooks

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
