"""Typing and looking, for tests of the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Static

from reverie.apps.tui.app import Chat
from reverie.apps.tui.log import Log
from reverie.apps.tui.prompt import Prompt
from tests.apps.tui.scripted import Table

WAIT_SECONDS = 60.0
_NAMES = {" ": "space", "/": "slash", "#": "number_sign", "!": "exclamation_mark", "@": "at", "\\": "backslash"}
_CHARACTERS = {name: letter for letter, name in _NAMES.items()}
_HOPS = 4
"""A key goes from the app to a widget, whose message goes to the app, which changes another widget."""


class Seat:
    """Somebody at a terminal."""

    def __init__(self, app: Chat, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def log(self) -> Log:
        return self.app.query_one(Log)

    @property
    def prompt(self) -> Prompt:
        return self.app.query_one(Prompt)

    async def type(self, text: str) -> None:
        await self.press(*(_NAMES.get(letter, letter) for letter in text))

    async def press(self, *keys: str) -> None:
        """Press keys one after another; each is handled by every widget before the next one.

        The pilot's own way waits after each key until the process is idle, which beside busy processes it never is.
        """
        driver = self.app._driver
        assert driver is not None
        for key in keys:
            event = Key(key, _CHARACTERS.get(key, key if len(key) == 1 else None))
            event.set_sender(self.app)
            driver.send_message(event)
            for _ in range(_HOPS):
                await self.pilot._wait_for_screen()
        await self.app.animator.wait_until_complete()
        # Layout follows in a later pass, and drawing in another.
        for _ in range(2):
            await self.pilot.pause(0.01)

    async def enter(self, text: str) -> None:
        """Type a message at once, and send it."""
        self.prompt.fill(text)
        await self.press("enter")

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait, with a bound, until something is so."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not holds():
                await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def sees(self, text: str) -> None:
        """Wait until the log shows a text."""
        try:
            await self.until(lambda: text in self.log.plain)
        except TimeoutError:
            raise AssertionError(f"{text!r} is not in\n{self.log.plain}") from None

    def line(self, selector: str) -> str:
        """What a line of the screen shows."""
        widget = self.app.query_one(selector, Static)
        return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height)).strip()

    def screen(self) -> str:
        """The whole screen as text."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in lines)


@asynccontextmanager
async def at(table: Table, *, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Seat]:
    """Sit down at a table until the conversation is open."""
    app = table.chat()
    async with app.run_test(size=size) as pilot:
        seat = Seat(app, pilot)
        await seat.until(lambda: not app.is_busy)
        yield seat
