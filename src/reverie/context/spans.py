"""The conversation beneath every reduction: whole, a span of it, or the leaf before a compaction.

Reductions are entries, so what they left out is still there. Nothing here changes anything; whoever undoes a compaction
appends what was said since under the leaf that `uncompact` names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from reverie.context.activity import action
from reverie.context.cut import Weigh, head
from reverie.context.receipt import RECEIPT
from reverie.errors import UserMistake
from reverie.messages.blocks import Block, DocumentBlock, Image, Text, ToolResult, ToolUse
from reverie.messages.chain import EntryTree
from reverie.messages.codec import encode_json
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    Envelope,
    MarkEntry,
    SpillEntry,
    UserEntry,
    envelope_of,
)
from reverie.messages.view import Item, ItemKind, Projection
from reverie.values import value

RECALL_SPAN = "recall_span"
"""The tool that reads a span again; where it is offered, what was cut points to it."""

PIN = "pin"
UNPIN = "unpin"
"""Names of the marks by which a message is told to survive, and told no longer to; their data has its `uuid`."""

RESTORED = "restored"
"""Marks, in an attachment's data, what a compaction repeated: it was said or read before and is no news."""

SHORT_ID_CHARS = 8
"""How much of an id a pointer shows, as long as no other id begins alike."""


@value
class Span:
    """A part of the conversation as text."""

    text: str
    first: str | None
    last: str | None
    items: int
    """How many messages the span has in all, shown or not."""
    next_offset_chars: int | None = None
    """Where to go on reading; None at the end."""


def chain(entries: Sequence[Entry], leaf: str | None = None) -> list[Entry]:
    """All entries on the way to a leaf, through every compaction, each once, oldest first."""
    tree = EntryTree(entries)
    parts: list[list[Entry]] = []
    seen: set[str] = set()
    ends: set[str | None] = set()
    while leaf not in ends:
        ends.add(leaf)
        part = tree.path(leaf)
        parts.append([entry for entry in part if _new(entry, seen)])
        root = part[0] if part else None
        if not isinstance(root, BoundaryEntry):
            break
        leaf = root.envelope.logical_parent
    return [entry for part in reversed(parts) for entry in part]


def history(entries: Sequence[Entry], leaf: str | None = None) -> tuple[Item, ...]:
    """Everything that was said on the way to a leaf, nothing folded and no summary between."""
    return spoken(chain(entries, leaf))


def spoken(entries: Iterable[Entry]) -> tuple[Item, ...]:
    """What was said in these entries of a chain, as items; reductions and summaries are passed over."""
    spoken_entries = (
        entry
        for entry in entries
        if isinstance(entry, AssistantEntry)
        or (isinstance(entry, UserEntry) and not entry.is_summary)
        or (isinstance(entry, AttachmentEntry) and RESTORED not in entry.data)
    )
    return Projection().extend(spoken_entries).view().items


def list_pinned(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The messages that are pinned after these entries of a chain, in the order of pinning."""
    pins: dict[str, None] = {}
    for entry in entries:
        if isinstance(entry, MarkEntry) and entry.name in (PIN, UNPIN):
            uuid = str(entry.data.get("uuid", ""))
            pins.pop(uuid, None)
            if entry.name == PIN and uuid:
                pins[uuid] = None
    return tuple(pins)


@value
class UndoableCompaction:
    """A compaction that can be taken back."""

    boundary: str
    leaf: str
    """The entry from which to branch so that the view is again what it was before."""
    later: tuple[Entry, ...]
    """What was said since, to be said again on that branch."""

    def again(self, envelope: Callable[[], Envelope]) -> list[Entry]:
        """What was said since, as entries of the branch; each keeps its time."""
        return [_copy_entry(entry, envelope()) for entry in self.later]


def uncompact(entries: Sequence[Entry], boundary: str | None = None) -> UndoableCompaction:
    """Find the compaction to take back.

    Without a `boundary` the newest one on the present chain is meant. Raises `UserMistake` when there is none.
    """
    whole = chain(entries)
    boundaries = list(_compactions(whole))
    if boundary is not None:
        boundaries = [entry for entry in _compactions(entries) if entry.envelope.uuid.startswith(boundary)]
    entry_ids = {envelope.uuid for entry in entries if (envelope := envelope_of(entry)) is not None}
    for entry in reversed(boundaries):
        before = entry.envelope.logical_parent or entry.envelope.parent
        if before in entry_ids:
            since = whole[whole.index(entry) :] if entry in whole else ()
            # What was kept stands before the boundary, and what the compaction repeated was said before it.
            old = {envelope.uuid for one in chain(entries, before) if (envelope := envelope_of(one)) is not None}
            later = [
                one
                for one in since
                if _is_said(one) and (spoken_envelope := envelope_of(one)) and spoken_envelope.uuid not in old
            ]
            return UndoableCompaction(entry.envelope.uuid, before, tuple(later))
    if boundary is None:
        raise UserMistake("this session has no compaction to undo")
    raise UserMistake(f"no compaction {boundary!r} in this session, or its messages are no longer in the file")


def _compactions(entries: Sequence[Entry]) -> Iterable[BoundaryEntry | CollapseEntry]:
    """Those of the whole history, or of what came before a message, and those of what follows one, which fold it."""
    for number, entry in enumerate(entries):
        match entry:
            case BoundaryEntry():
                yield entry
            case CollapseEntry():
                following = entries[number + 1] if number + 1 < len(entries) else None
                if isinstance(following, MarkEntry) and following.name == RECEIPT:
                    yield entry
            case _:
                continue


def _is_said(entry: Entry) -> bool:
    """Whether an entry is part of the talk, or decides how a result of it is shown."""
    if isinstance(entry, UserEntry):
        return not entry.is_summary
    if isinstance(entry, AttachmentEntry):
        return RESTORED not in entry.data
    return isinstance(entry, AssistantEntry | SpillEntry | ClearEntry)


def _copy_entry(entry: Entry, envelope: Envelope) -> Entry:
    before = envelope_of(entry)
    assert before is not None
    changes: dict[str, Any] = {"envelope": replace(envelope, timestamp=before.timestamp, is_meta=before.is_meta)}
    if hasattr(entry, "raw"):
        changes["raw"] = None
    if isinstance(entry, AssistantEntry):
        # What the provider reported was the size of the compacted conversation.
        changes["usage"] = None
    return replace(entry, **changes)


def read_span(
    entries: Sequence[Entry],
    *,
    weigh: Weigh,
    first: str | None = None,
    last: str | None = None,
    subject: str | None = None,
    limit_tokens: int = 4_000,
    offset_chars: int = 0,
) -> Span:
    """Read again what was left out: from one message to another, or all that mentions a subject, the newest first.

    Ids may be shortened as pointers show them; one that is too short for one message stands for all it fits. Raises
    `UserMistake` for an id that nothing has.
    """
    items = history(entries)
    if subject:
        selected = _about(items, subject)
    elif first is not None:
        ends = [*_places(items, first), *([] if last is None else _places(items, last))]
        selected = list(items[min(ends) : max(ends) + 1])
    else:
        raise UserMistake("name the first message of the span, or a subject such as a file or a command")
    whole = "\n\n".join(render(item) for item in selected)
    rest = whole[offset_chars:]
    shown = head(rest, limit_tokens, weigh)
    end_chars = offset_chars + len(shown)
    return Span(
        shown,
        selected[0].uuid if selected else None,
        selected[-1].uuid if selected else None,
        len(selected),
        end_chars if end_chars < len(whole) else None,
    )


def render(item: Item) -> str:
    """A message as text: who, when, and each block."""
    who = {ItemKind.REPLY: "model", ItemKind.TYPED: "user", ItemKind.RESULT: "tool"}.get(
        item.kind, item.label or item.kind.value
    )
    stamp = f", {item.timestamp}" if item.timestamp else ""
    return f"## {who} ({item.uuid}{stamp})\n" + "\n".join(map(_block, item.message.content))


def plain(item: Item) -> str:
    """All text of a message on which a check may rest: what was said, asked of tools and answered by them."""
    return "\n".join(map(_block, item.message.content))


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The shortest beginning of each id that no other id has, at least `SHORT_ID_CHARS` long."""
    ordered = sorted(set(ids))
    needed = dict.fromkeys(ordered, SHORT_ID_CHARS)
    for item_id, following in pairwise(ordered):
        common = next(
            (n for n, (a, b) in enumerate(zip(item_id, following, strict=False)) if a != b),
            min(len(item_id), len(following)),
        )
        needed[item_id] = max(needed[item_id], common + 1)
        needed[following] = max(needed[following], common + 1)
    return {uuid: uuid[:size] for uuid, size in needed.items()}


def _new(entry: Entry, seen: set[str]) -> bool:
    envelope = envelope_of(entry)
    if envelope is None or envelope.uuid in seen:
        return False
    seen.add(envelope.uuid)
    return True


def _places(items: Sequence[Item], uuid: str) -> list[int]:
    places = [number for number, item in enumerate(items) if item.uuid == uuid]
    places = places or [number for number, item in enumerate(items) if uuid and item.uuid.startswith(uuid)]
    if not places:
        raise UserMistake(f"no message of this session has the id {uuid!r}; the receipt of a compaction lists them")
    return places


def _about(items: Sequence[Item], subject: str) -> list[Item]:
    """The rounds that mention the subject, newest first; a call brings its answers along."""
    folded_subject = subject.casefold()
    calls = {call.id for item in items for call in item.message.tool_uses if folded_subject in _block(call).casefold()}
    mentioning = [
        item
        for item in items
        if any(result.tool_use_id in calls for result in item.message.tool_results)
        or folded_subject in plain(item).casefold()
    ]
    mentioning.reverse()
    return mentioning


def _block(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case ToolUse():
            action_text = action(block)
            return f"[{action_text}] {encode_json(dict(block.input)).decode('utf-8', 'replace')}"
        case ToolResult():
            return block.text
        case Image():
            return "[image]"
        case DocumentBlock():
            return "[document]"
        case _:
            return ""
