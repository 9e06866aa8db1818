"""The lines between log and prompt: current activity, and text that waits for the next request."""

from __future__ import annotations

import time
from itertools import takewhile

from rich.console import Group
from rich.text import Text
from textual.widgets import Static

from reverie.apps.tui.host import is_command

_SPINNER = "✶✸✹✺✹✸"
_TURNS_PER_SECOND = 5


class Activity(Static):
    """Says what goes on and since when; away when nothing does."""

    DEFAULT_CSS = "Activity { height: 1; padding: 0 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__("", id=id)
        self._started: float | None = None

    def show(self, doing: str) -> None:
        """Show what goes on; an empty text says that nothing does."""
        self.display = bool(doing)
        if not doing:
            self._started = None
            return
        now = time.monotonic()
        if self._started is None:
            self._started = now
        seconds = now - self._started
        mark = _SPINNER[int(seconds * _TURNS_PER_SECOND) % len(_SPINNER)]
        line = Text(no_wrap=True, overflow="ellipsis").append(f"{mark} ", "cyan")
        self.update(Group(line.append(f"{doing} · {seconds:.0f} s · Esc stops", "dim")))


class Waiting(Static):
    """Words that were typed during a turn."""

    DEFAULT_CSS = "Waiting { height: auto; max-height: 5; padding: 0 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__("", id=id)
        self._texts: list[str] = []

    def __contains__(self, text: object) -> bool:
        return text in self._texts

    def put(self, text: str) -> None:
        """These words wait from now on."""
        self._texts.append(text)
        self._draw()

    def take(self, text: str) -> None:
        """These words were heard."""
        self._texts.remove(text)
        self._draw()

    @property
    def has_command(self) -> bool:
        """Whether a command is among them."""
        return any(map(is_command, self._texts))

    def take_next(self) -> str | None:
        """The first command, or all words before one, as one text."""
        if not self._texts:
            return None
        words = list(takewhile(lambda text: not is_command(text), self._texts))
        taken = words or self._texts[:1]
        del self._texts[: len(taken)]
        self._draw()
        return "\n\n".join(taken)

    def take_all(self) -> list[str]:
        """Nothing waits any more."""
        taken, self._texts = self._texts, []
        self._draw()
        return taken

    def _draw(self) -> None:
        self.display = bool(self._texts)
        lines = (f"⋯ {' '.join(text.split())}" for text in self._texts)
        self.update(Group(*(Text(line, "dim", no_wrap=True, overflow="ellipsis") for line in lines)))
