"""Runs turns one after another, and queues what is typed meanwhile.

One turn at a time. Words typed during a turn wait in sight; the conversation takes them at its next boundary. What it
did not take is sent after a turn that ended well, and goes back to the user after one that did not.

The lines between log and prompt show the current activity and the text that waits for the next request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import takewhile

from rich.console import Group
from rich.text import Text
from textual.widgets import Static

from reverie.apps.tui.conversation import TerminalSession
from reverie.apps.tui.draw_pause import DrawPause
from reverie.apps.tui.host import is_command
from reverie.apps.tui.log import Log
from reverie.apps.tui.pieces import Note, UserPiece
from reverie.apps.tui.status_line import StatusLine
from reverie.apps.tui.turn import TurnView
from reverie.errors import Error
from reverie.models.ports import Ending
from reverie.session.events import Attached, RequestSent, Status, TurnEnded, TurnEvent, TurnStarted


@dataclass(slots=True)
class Turns:
    """The widgets that a turn moves, and the turn that runs."""

    log: Log
    waiting: Waiting
    activity: Activity
    status: StatusLine
    drawing: DrawPause
    """Rests until a request has left."""
    view: TurnView | None = None
    """None while no turn runs."""

    def begin(self, text: str) -> None:
        """Show what is sent; from here on a turn runs."""
        self.drawing.begin()
        self.log.add(UserPiece(text))
        self.log.scroll_end(animate=False)
        self.view = TurnView(self.log)

    async def run(self, conversation: TerminalSession, text: str) -> Ending:
        """Run the turn that was begun, to its end."""
        assert self.view is not None
        ending = Ending.FAILED
        try:
            async for event in conversation.send(text):
                self._take(event, self.view)
                if isinstance(event, TurnEnded):
                    ending = event.ending
        except Error as problem:
            self.log.add(Note(str(problem), "error"))
        finally:
            self.drawing.end()
        self.view.flush()
        self.view = None
        self.activity.show("")
        # Whatever still waits is on the screen too, from where it is sent or given back.
        conversation.unqueue()
        return ending

    def hear(self, event: TurnEvent, conversation: TerminalSession) -> None:
        """Something happened while no turn ran."""
        self._take(event, TurnView(self.log))
        self.status.show(conversation.status)

    def tick(self) -> None:
        """Show what has come since the last time."""
        if self.view is not None:
            self.view.flush()
            self.activity.show(self.view.doing)

    def _take(self, event: TurnEvent, view: TurnView) -> None:
        match event:
            case TurnStarted(_, text) if text in self.waiting:
                self.waiting.take(text)
                view.interrupt(UserPiece(text))
            case RequestSent():
                self.drawing.end_soon()
            case Status():
                self.drawing.end()
                self.status.show(event)
            case TurnEnded():
                view.take(event)
                self.status.show(event.status)
            case Attached() | TurnStarted():
                view.take(event)
            case _:
                self.drawing.end()
                view.take(event)


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
