"""Protocols for what the terminal needs: the session methods that it calls, and plain functions for the rest.

`session.session.Session` is such a conversation. Nothing in this package reaches past these two.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from reverie.context.receipt import Receipt
from reverie.files.trust import TrustPart
from reverie.memory.dream.dreams import Dreamt
from reverie.memory.memory import Memory
from reverie.messages.entries import Entry
from reverie.messages.listing import Glance
from reverie.models.profiles import ProfileOverride
from reverie.models.tokens.window import WindowBudget
from reverie.permissions.approval import Approver
from reverie.session.events import Status, TurnEvent
from reverie.session.file_history import Return
from reverie.values import value


class TerminalSession(Protocol):
    """A session as the terminal sees it: `Session`, or a scripted one in tests."""

    @property
    def id(self) -> str:
        """The id of the session, by which it is resumed."""
        ...

    @property
    def path(self) -> Path:
        """Its transcript."""
        ...

    @property
    def status(self) -> Status:
        """The figures of the status line."""
        ...

    @property
    def entries(self) -> Sequence[Entry]:
        """The lines of the transcript."""
        ...

    @property
    def prompts(self) -> tuple[tuple[str, str], ...]:
        """What the user said so far, with ids, oldest first."""
        ...

    @property
    def memory(self) -> Memory:
        """The memory of the project."""
        ...

    @property
    def commands(self) -> tuple[tuple[str, str, str], ...]:
        """What may be sent as `/name args` beyond our own commands: name, sentence, hint on arguments."""
        ...

    @property
    def waiting_for_trust(self) -> tuple[TrustPart, ...]:
        """What came with the project and does nothing until the user has answered."""
        ...

    def answer_trust(self, parts: Iterable[TrustPart], *, accepted: bool) -> object:
        """Keep the user's answer, which holds at once."""
        ...

    def send(self, text: str) -> AsyncIterator[TurnEvent]:
        """Run a turn; the last event is `TurnEnded`. One of `commands` is sent as it was typed."""
        ...

    def queue(self, text: str) -> object:
        """Words typed while a turn runs; they join it at its next boundary, where `TurnStarted` names them again."""
        ...

    def unqueue(self) -> tuple[str, ...]:
        """Take back the words that no boundary has taken yet."""
        ...

    def listen(self, heard: Callable[[TurnEvent], None]) -> object:
        """Hear of what happens while no turn runs: notices, figures, finished background work."""
        ...

    async def begin(self) -> object:
        """What comes before the first turn: hooks and servers."""
        ...

    def cancel(self) -> object:
        """Stop the running turn; its stream still ends with `TurnEnded`."""
        ...

    async def compact(self, instructions: str = "", *, from_: str = "", up_to: str = "") -> Receipt | None:
        """Compact now, all of it or one side of a message; None when there was nothing to do."""
        ...

    def uncompact(self) -> object:
        """Take the last compaction back."""
        ...

    def rewind(self, message_id: str) -> object:
        """Go back to before a message of the user."""
        ...

    def changed_files(self, message_id: str) -> tuple[Return, ...]:
        """The files that tools changed since before a message, and what going back would mean for each."""
        ...

    def restore_files(self, returns: Iterable[Return], *, told: bool = False) -> tuple[Path, ...]:
        """Bring files back; `told` lets the model know. The paths of those that were brought back."""
        ...

    def tell_command(self, command: str, output: str, ending: str = "") -> object:
        """Let the model know with the next words what the user ran, what it printed and how it ended."""
        ...

    def clear(self) -> object:
        """Begin anew; the transcript stays."""
        ...

    def snip(self) -> int:
        """Leave the oldest rounds out of what is sent; the freed tokens."""
        ...

    async def dream(self, *, review: bool = False) -> Dreamt:
        """Put the memories in order; with `review` nothing is applied."""
        ...

    async def kill(self, name: str) -> bool:
        """End a piece of background work; whether there was one."""
        ...

    def set_mode(self, mode: str) -> object:
        """Change the permission mode."""
        ...

    def describe(self, subject: str) -> tuple[tuple[str, str], ...] | None:
        """Rows of a name and a sentence on `agents`, `hooks`, `skills`, `mcp`, `tasks`, `permissions` or `cost`.

        None says that this session has no such part.
        """
        ...

    async def close(self) -> object:
        """Finish what must be finished."""
        ...


class Opener(Protocol):
    """Who starts conversations."""

    def __call__(self, approver: Approver, wish: Wish) -> TerminalSession:
        """The conversation that is wished for. Raises the `Error` family."""
        ...


@value
class Wish:
    """Which conversation to open."""

    resume: str | None = None
    """The session to go on with; None begins a new one, or takes what the command line named for the first."""
    model: str | None = None
    """Who answers; None is who was chosen at the start."""
    is_first: bool = False
    """The program has just started."""


@value
class TerminalContext:
    """What the terminal has besides the conversation."""

    directory: Path
    """Where the user stands: paths are completed and commands run from here."""
    input_history: Path
    """The file of what was typed in earlier sessions."""
    open: Opener
    now: Callable[[], datetime]
    list_sessions: Callable[[], Sequence[Glance]]
    """The sessions of this project, the newest first."""
    budget: Callable[[str], WindowBudget]
    """The lines of a model's window."""
    edit: Callable[[str], str | None]
    """Lets the user change a text in an editor; None when they left it alone."""
    copy: Callable[[str], None]
    """Hands text to a clipboard that the terminal itself does not reach."""
    clipboard_image: Callable[[], Path | None] = lambda: None
    """Saves the picture on the clipboard to a file; None where there is none."""
    warm: Callable[[], object] = lambda: None
    """Loads what the first request needs; run aside while the user types."""
    list_models: Callable[[], Sequence[tuple[str, str]]] = tuple
    """Models that may be chosen, each with a few facts; may ask a local server, so it is run aside."""
    overrides: Callable[[], dict[str, ProfileOverride]] = dict
    """What the user's own model profiles say."""
    greeting: str = ""
    """What is said first, such as that there is no key."""
    is_colourless: bool = False
    has_meter: bool = True
    shell: str = "/bin/sh"
    """Runs what the user types behind `!`."""
    status_command: str | None = None
    """Prints the user's own status line."""
    output_style: str | None = None
    version: str = ""
