"""Runs turns one after another, and queues what is typed meanwhile.

One turn at a time. Words typed during a turn wait in sight; the conversation takes them at its next boundary. What it
did not take is sent after a turn that ended well, and goes back to the user after one that did not.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie.apps.tui.conversation import TerminalSession
from reverie.apps.tui.draw_pause import DrawPause
from reverie.apps.tui.log import Log
from reverie.apps.tui.pieces import Note, UserPiece
from reverie.apps.tui.status_line import StatusLine
from reverie.apps.tui.turn import TurnView
from reverie.apps.tui.waiting import Activity, Waiting
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
