"""Between Enter and the request nothing is drawn and no garbage collected: either takes longer than all the rest.

In a session of 100,000 tokens, drawing took three quarters of the CPU time before a request, and a full collection,
when one fell there, several times as much again.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import ExitStack

from textual.app import App

from reverie.messages.bulk import collector_paused

LONGEST_SECONDS = 0.25
"""From here on the user wants to see what they typed, request or not."""
AFTER_SECONDS = 0.02
"""From the word that a request is ready until it has left."""


class Quiet:
    """The quiet before a request."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._held: ExitStack | None = None
        self._timers: list[asyncio.TimerHandle] = []

    def begin(self) -> None:
        """The user has sent something."""
        self.end()
        self._held = ExitStack()
        self._held.enter_context(self._app.batch_update())
        self._held.enter_context(collector_paused())
        self._end_in(LONGEST_SECONDS)

    def end_soon(self) -> None:
        """The request is about to leave."""
        if self._held is not None:
            self._end_in(AFTER_SECONDS)

    def end(self) -> None:
        """Draw again."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._held is not None:
            self._held.close()
            self._held = None

    def _end_in(self, seconds: float) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, self.end))


def set_aside_what_stays() -> None:
    """Let later collections pass over what is loaded now: programs, and the session as it was read."""
    gc.freeze()


def let_go_of_what_went() -> None:
    """A conversation was closed: collect it, also what was set aside."""
    gc.unfreeze()
    gc.collect()
