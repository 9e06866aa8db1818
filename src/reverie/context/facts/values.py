"""What happened in a run of a conversation, as values. Every text in them is quoted from the conversation.

Rounds are numbered from 0 in the order of the items that were gathered; numbers say what came before what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from reverie.values import value


class ActionOutcome(StrEnum):
    """How an action ended."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """No answer came back."""


@value
class UserRequest:
    """Something the user typed, word for word."""

    uuid: str
    text: str
    round: int
    """The round that answered it."""
    after: str = ""
    """The question of the assistant that it answers, if there was one."""


@value
class Symbol:
    """A definition that was seen in a file."""

    name: str
    text: str
    """The line that defines it, without its indentation."""
    line: int | None = None
    round: int = 0
    changed: bool = False
    """An edit of this session wrote or touched it."""


@value
class FileEdit:
    """One edit of a file: lines that went and lines that came."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    round: int
    outcome: ActionOutcome = ActionOutcome.OK


@value
class Touched:
    """A file and what was done to it."""

    path: str
    operations: tuple[tuple[str, int], ...]
    """`read`, `edited`, `wrote`, … each with the number of times, in the order of the first time."""
    ranges: tuple[tuple[int, int], ...] = ()
    """Lines that were read, when not the whole file."""
    symbols: tuple[Symbol, ...] = ()
    changes: tuple[FileEdit, ...] = ()
    last: int = 0
    """The last round that touched it."""

    @property
    def is_changed(self) -> bool:
        return any(kind in {"edited", "wrote", "removed", "moved"} for kind, _ in self.operations)


@value
class ShellCommand:
    """A shell command; runs of the same text are one."""

    text: str
    outcome: ActionOutcome
    """Of the last run."""
    telling: tuple[str, ...] = ()
    """The lines of the last output that say how it went."""
    times: int = 1
    last: int = 0


@value
class Lookup:
    """A search, a listing, a fetched page, or a call of a tool that we do not know."""

    tool: str
    subject: str
    found: tuple[str, ...] = ()
    """The first lines that came back."""
    more: int = 0
    """How many further lines there were."""
    last: int = 0


@value
class Trouble:
    """An error line, where it showed and what was done next."""

    line: str
    where: str
    round: int
    followed: str = ""
    resolved: bool = False
    """The same command or file was fine later."""
    times: int = 1


@value
class UserDecision:
    """A preference, correction or choice in the user's own words."""

    quote: str
    uuid: str
    round: int
    after: str = ""
    """The question it answers."""


@value
class Todo:
    """A task of the newest list."""

    text: str
    status: str


@value
class AssistantStatement:
    """A sentence of the assistant."""

    text: str
    round: int


@value
class ToolEvidence:
    """A line that came back from a tool and holds something which the assistant used afterwards."""

    line: str
    where: str
    """The file, command or search that gave it."""
    round: int
    number: int | None = None
    """Its line number, where the tool printed one."""


@value
class Delegation:
    """Work that was given to a sub-agent."""

    description: str
    kind: str
    outcome: str
    """The first line of what came back."""
    round: int


@value
class Deed:
    """One action in two words: what was done, and to what."""

    verb: str
    subject: str
    """The path, command, pattern or address on one line."""
    files: tuple[str, ...] = ()
    """The files that a command names."""
    failed: bool = False


@value
class RoundSummary:
    """One round in a line, with the ids under which it can be read again."""

    first: str
    last: str
    said: str
    """The first sentence of the reply."""
    deeds: tuple[Deed, ...]
    size_bytes: int = 0


@value
class Term:
    """An identifier: how often the two sides used it, and when last."""

    used: int = 0
    """Rounds in which the assistant or the user wrote it."""
    seen: int = 0
    """Rounds in which it only came back from a tool."""
    last_used: int = -1
    last_seen: int = -1


@value
class Facts:
    """Everything that the embedded summariser knows of a conversation."""

    requests: tuple[UserRequest, ...] = ()
    """All typed messages, oldest first; the last is the current request."""
    files: tuple[Touched, ...] = ()
    """Least recently touched first."""
    commands: tuple[ShellCommand, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    decisions: tuple[UserDecision, ...] = ()
    todos: tuple[Todo, ...] = ()
    plan: str = ""
    """The newest plan that was put to the user."""
    skills: tuple[str, ...] = ()
    delegations: tuple[Delegation, ...] = ()
    statements: tuple[AssistantStatement, ...] = ()
    evidence: tuple[ToolEvidence, ...] = ()
    steps: tuple[RoundSummary, ...] = ()
    """One per round: the work log."""
    earlier: tuple[str, ...] = ()
    """Summaries that already stood in the items, when what they stand for was not given."""
    terms: Mapping[str, Term] = field(default_factory=dict, repr=False)
    rounds: int = 0
    ids: tuple[str, ...] = field(default=(), repr=False)
    """Of all items, so that a pointer can be short and still mean only one."""

    @property
    def current_request(self) -> UserRequest | None:
        """What the user asked for last."""
        return self.requests[-1] if self.requests else None

    @property
    def open_todos(self) -> tuple[Todo, ...]:
        return tuple(todo for todo in self.todos if todo.status != "completed")
