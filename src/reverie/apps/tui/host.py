"""What a slash command is, and what it may do to the screen; the app is the host."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from reverie.apps.tui.conversation import TerminalContext, TerminalSession
from reverie.apps.tui.picker import PickerRow
from reverie.apps.tui.pieces import Piece
from reverie.values import value

_COMMAND = re.compile(r"/[^\s/]+(?:\s|\Z)")


class Host(Protocol):
    """What a command may do to the screen."""

    @property
    def conversation(self) -> TerminalSession:
        """The present one."""
        ...

    @property
    def surroundings(self) -> TerminalContext: ...

    @property
    def pieces(self) -> Sequence[Piece]:
        """What stands in the log."""
        ...

    def show(self, piece: Piece) -> None:
        """Put something into the log."""
        ...

    def say(self, text: str, level: str = "info") -> None:
        """Put a sentence into the log."""
        ...

    async def choose(self, title: str, rows: Sequence[PickerRow]) -> str | None:
        """Let the user choose a row; its key, or None."""
        ...

    async def browse_memory(self) -> None:
        """Show the memories until the user has seen enough."""
        ...

    async def reopen(self, *, resume: str | None = None, model: str | None = None) -> None:
        """Close this conversation and open another, or the same with another model."""
        ...

    def redraw(self) -> None:
        """Draw the log anew from the conversation."""
        ...

    def fill(self, text: str) -> None:
        """Put a text where the user types."""
        ...

    def send(self, text: str) -> None:
        """Send a message as if it were typed."""
        ...

    def copy(self, text: str) -> None:
        """Put a text on the clipboard."""
        ...

    @property
    def line_problem(self) -> str:
        """Why the user's own status line is empty, when it should not be."""
        ...

    def leave(self) -> None:
        """End the program."""
        ...


@value
class SlashCommand:
    """One slash command."""

    name: str
    help: str
    run: Callable[[Host, str], Awaitable[None]]
    argument: str = ""
    """What may follow, for the help."""
    needs_rest: bool = False
    """It changes the conversation, so no turn may run."""


def is_command(text: str) -> bool:
    """Whether a typed text begins with a command; one that begins with a path does not."""
    return _COMMAND.match(text) is not None
