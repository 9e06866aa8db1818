"""Pauses redraws from the user's message until the request is sent.

In a session of 100,000 tokens drawing took three quarters of the CPU time before a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

LONGEST_SECONDS = 0.25
"""Then it ends, request or not."""
AFTER_SECONDS = 0.02
"""From the word that a request is ready until it has left."""


class DrawPause:
    """Holds back redraws until a request has left."""

    def __init__(self, hold: Callable[[], AbstractContextManager[object]]) -> None:
        self._hold = hold
        self._held: ExitStack | None = None
        self._timers: list[asyncio.TimerHandle] = []

    def begin(self) -> None:
        """The user has sent something."""
        self.end()
        self._held = ExitStack()
        self._held.enter_context(self._hold())
        self._end_in(LONGEST_SECONDS)

    def end_soon(self) -> None:
        """The request is about to leave."""
        if self._held is not None:
            self._end_in(AFTER_SECONDS)

    def end(self) -> None:
        """Everything goes on."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._held is not None:
            self._held.close()
            self._held = None

    def _end_in(self, seconds: float) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, self.end))
