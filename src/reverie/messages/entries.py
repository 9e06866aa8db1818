"""The entries of a transcript, one class per kind.

An entry is a value with identity: what was said or decided, when, and after what. Entries are only ever appended.
Everything that changes what the model sees (a compaction, a snip, a spilled result, the rendered system text) is an
entry too, so that `view.project` computes what was sent from the entries alone. How each looks on disk: `records`.
"""

from __future__ import annotations

from dataclasses import field
from datetime import UTC, datetime
from typing import TypeAlias

from reverie.messages.blocks import Block, JsonObject, nothing_more
from reverie.messages.message import Message, Usage
from reverie.values import value


@value
class Envelope:
    """Who, when and after what: the fields that all entries of the chain share."""

    uuid: str
    parent: str | None
    session: str
    timestamp: str
    """ISO 8601 with milliseconds and `Z`, as written; kept as text because equal text means equal bytes."""
    cwd: str = ""
    git_branch: str = ""
    version: str = ""
    is_sidechain: bool = False
    """Belongs to a sub-agent's conversation."""
    is_meta: bool = False
    """Made by the system, not typed by the user."""
    agent_id: str | None = None
    team: str | None = None
    logical_parent: str | None = None
    """Where the old chain ended; only on a boundary."""
    is_copied: bool = False
    """Came with a fork from another session, which has paid for it."""


@value
class UserEntry:
    """Something the user typed, or tool results that go back to the model."""

    envelope: Envelope
    message: Message
    is_summary: bool = False
    """The summary that stands for what a compaction took away."""
    source: str | None = None
    """Where the text came from when the writer knew: `typed`, `system`, `sdk`, `queued`, …"""
    tool_details: JsonObject | None = field(default=None, compare=False, repr=False)
    """A tool's result for programs and viewers; written, never sent, and not read back."""
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class AssistantEntry:
    """One record of a reply. A reply of several blocks is usually several records with one `message_id`."""

    envelope: Envelope
    message: Message
    message_id: str | None = None
    request_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    is_error: bool = False
    """Made by the client to show a failure; never sent back to the model."""
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class AttachmentEntry:
    """Machine-made content that was sent: recalled memories, instructions, a date change, a hook's words."""

    envelope: Envelope
    kind: str
    content: tuple[Block, ...]
    """What the model saw, rendered once; empty when the writer did not record it."""
    data: JsonObject = field(default_factory=nothing_more, repr=False)
    """The attachment as data, for those who look things up in it later."""
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class SystemBlock:
    """One block of the system text, with the marker of how long it stays the same."""

    text: str
    tier: str = "session"
    """`static` for all users, `session` until a compaction, `volatile` may change every turn."""


@value
class ToolSpec:
    """A tool as the provider is told of it: a name, a sentence, a schema, or a built-in kind in `extra`."""

    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=nothing_more)
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class PromptEntry:
    """System text and tools as rendered, before they are first sent."""

    envelope: Envelope
    system: tuple[SystemBlock, ...]
    tools: tuple[ToolSpec, ...]
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class BoundaryEntry:
    """A compaction: what came before is no longer sent, except the kept entries."""

    envelope: Envelope
    trigger: str
    """`auto` or `manual`."""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    kept: tuple[str, ...] = ()
    """Ids of earlier entries that stay, in order; they stand after the summary."""
    anchor: str | None = None
    """The summary entry under which the kept ones stand."""
    relinks: bool = False
    """Made by another writer: an entry after it that hangs under the last kept one goes on after the compaction."""
    keeps_run: bool = False
    """`kept` names the first and the last of a run of entries; those between them stay too."""
    details: JsonObject = field(default_factory=nothing_more, repr=False)
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class SnipEntry:
    """Old entries left out of what is sent; a digest takes their place."""

    envelope: Envelope
    removed: tuple[str, ...]
    digest: str
    freed_tokens: int = 0
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class SpillDecision:
    """What the model sees instead of one tool result, decided once and never again."""

    tool_use_id: str
    preview: str | None
    """The replacement text; None records that the result stays whole."""
    path: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None


@value
class SpillEntry:
    """Frozen decisions on large tool results."""

    envelope: Envelope | None
    """None in records of other writers, which hang on no chain."""
    decisions: tuple[SpillDecision, ...]
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class ClearEntry:
    """Old tool results whose content is no longer sent."""

    envelope: Envelope
    tool_use_ids: tuple[str, ...]
    text: str
    """What stands in the place of each."""
    trigger: str = "time"
    freed_tokens: int = 0
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class CollapseEntry:
    """A span of entries is shown as one summary; the originals stay."""

    envelope: Envelope
    first: str
    last: str
    summary: str
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class NotesEntry:
    """The session notes were brought up to date."""

    envelope: Envelope
    covers: str | None
    """The last entry which the notes cover."""
    tokens: int = 0
    """The size of the conversation at this point; growth is measured from here."""
    by: str = ""
    """The model that wrote them, or `structure`."""
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class MarkEntry:
    """A named fact of the session that changes nothing in the view: a cursor, a receipt, a pin, a budget notice."""

    envelope: Envelope
    name: str
    data: JsonObject
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class LinkEntry:
    """A record of the chain that is never sent: progress, durations, errors, notices."""

    envelope: Envelope
    kind: str
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class TitleEntry:
    """A name for the session: given by the user, by a model, or taken from the last prompt or a summary."""

    kind: str
    """`custom-title`, `ai-title`, `last-prompt` or `summary`."""
    text: str
    raw: bytes | None = field(default=None, compare=False, repr=False)


@value
class OtherEntry:
    """A record outside the chain that we pass through untouched."""

    kind: str
    raw: bytes = field(repr=False)


@value
class BadLine:
    """A line that is no record; kept so that nothing is lost by reading."""

    reason: str
    raw: bytes = field(repr=False)


ChainEntry: TypeAlias = (
    UserEntry
    | AssistantEntry
    | AttachmentEntry
    | PromptEntry
    | BoundaryEntry
    | SnipEntry
    | ClearEntry
    | CollapseEntry
    | NotesEntry
    | MarkEntry
    | LinkEntry
)
Entry: TypeAlias = ChainEntry | SpillEntry | TitleEntry | OtherEntry | BadLine


def envelope_of(entry: Entry) -> Envelope | None:
    """The envelope of an entry that hangs on the chain, else None."""
    if isinstance(entry, TitleEntry | OtherEntry | BadLine):
        return None
    return entry.envelope


def format_timestamp(moment: datetime) -> str:
    """A moment as transcripts write it: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
