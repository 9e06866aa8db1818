"""The view: what the model sees, computed from the entries and never stored.

`project` is pure. Boundaries, snips, spills, clears and collapses are entries like any other; each changes the view and
none changes an entry. `Projection` is the same fold one entry at a time, for a running session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Self

from reverie.messages.blocks import Block, Opaque, Text, ToolResult, ToolUse
from reverie.messages.chain import linearize
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    PromptEntry,
    SnipEntry,
    SpillEntry,
    SystemBlock,
    ToolSpec,
    UserEntry,
    envelope_of,
)
from reverie.messages.message import Message, Role, Usage, merge_neighbours
from reverie.messages.shell_words import is_printed
from reverie.values import value

CACHE_EDITS = "cache_edits"
"""Kind of the block that deletes inside the provider's cache, and label of the item that carries it."""

SERVER_CLEARS = "cached"
"""The trigger of a clear that the provider carries out inside its cache: the results stay in the messages, and a block
that asks for their deletion stands where it was first sent, in every later request too."""


class ItemKind(StrEnum):
    """What an item of the view is, told apart because each may be reduced differently."""

    TYPED = "typed"
    """The user's own words."""
    META = "meta"
    """A user message that the system made."""
    RESULT = "result"
    """Tool results."""
    REPLY = "reply"
    """The model's answer, or one record of it."""
    ATTACHMENT = "attachment"
    SUMMARY = "summary"
    """Stands for what a compaction took away."""
    FOLD = "fold"
    """Stands for what a snip or a collapse took away."""


@value
class Item:
    """One message of the view and the entry it comes from."""

    uuid: str
    kind: ItemKind
    message: Message
    timestamp: str = ""
    label: str = ""
    """For attachments, which kind."""
    message_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    """What the provider reported with this reply; the count is anchored on the newest one."""


@value
class View:
    """What is sent, before cache marks: system text, tools, and the conversation in order."""

    items: tuple[Item, ...] = ()
    system: tuple[SystemBlock, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    leaf: str | None = None
    """The entry under which the next one belongs."""
    reduced_after: str | None = None
    """The newest reply that was counted before something was taken out of the view; its reported size is too high."""

    decided: frozenset[str] = frozenset()
    """Tool calls whose results stand here and were looked at by the spill stage; that is never decided again."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as a provider takes it: neighbours of one role joined."""
        return merge_neighbours(item.message for item in self.items)

    def with_items(self, items: Iterable[Item]) -> View:
        """The same view with other items; for stages, which never touch the entries."""
        return replace(self, items=tuple(items))


def project(entries: Sequence[Entry], leaf: str | None = None) -> View:
    """Compute what the model sees after these entries, ending at `leaf` or at the newest one."""
    loose = (entry for entry in entries if isinstance(entry, SpillEntry) and entry.envelope is None)
    by_uuid = {envelope.uuid: entry for entry in entries if (envelope := envelope_of(entry)) is not None}
    return Projection(by_uuid).extend(loose).extend(linearize(entries, leaf)).view()


class Projection:
    """The fold behind `project`. Feeding entries one by one gives the same view as projecting them all."""

    def __init__(self, by_uuid: dict[str, Entry] | None = None) -> None:
        self._known: dict[str, Entry] = {} if by_uuid is None else by_uuid
        self._items: list[Item] = []
        self._system: tuple[SystemBlock, ...] = ()
        self._tools: tuple[ToolSpec, ...] = ()
        self._instead: dict[str, str] = {}
        self._decided: set[str] = set()
        self._kept: BoundaryEntry | None = None
        self._leaf: str | None = None
        self._answered: set[str] = set()
        self._called: set[str] = set()
        self._last_counted: str | None = None
        self._reduced_after: str | None = None
        self._view: View | None = None

    def extend(self, entries: Iterable[Entry]) -> Self:
        """Take in further entries, in the order of the chain."""
        self._view = None
        for entry in entries:
            self._take(entry)
        return self

    def view(self) -> View:
        """What the model sees now; asked for many times between two entries, made once."""
        if self._view is None:
            self._view = View(
                tuple(self._items),
                self._system,
                self._tools,
                self._leaf,
                self._reduced_after,
                # Of a long session thousands are decided, and few of them are still in the view.
                frozenset(self._decided & self._answered),
            )
        return self._view

    def copy(self) -> Projection:
        """A copy that goes its own way."""
        copy = Projection(dict(self._known))
        copy._items = list(self._items)
        copy._system, copy._tools = self._system, self._tools
        copy._instead, copy._decided = dict(self._instead), set(self._decided)
        copy._kept, copy._leaf = self._kept, self._leaf
        copy._answered, copy._called = set(self._answered), set(self._called)
        copy._last_counted, copy._reduced_after = self._last_counted, self._reduced_after
        return copy

    def _take(self, entry: Entry) -> None:
        envelope = envelope_of(entry)
        if envelope is not None:
            self._known[envelope.uuid] = entry
            self._leaf = envelope.uuid
        match entry:
            case UserEntry():
                self._append(self._user_item(entry))
                if entry.is_summary:
                    self._restore_kept_entries(entry.envelope.uuid)
            case AssistantEntry():
                if not entry.is_error:
                    self._append(self._reply_item(entry))
            case AttachmentEntry():
                message = Message(Role.USER, entry.content)
                stamp = entry.envelope.timestamp
                self._append(Item(entry.envelope.uuid, ItemKind.ATTACHMENT, message, stamp, entry.kind))
            case PromptEntry():
                self._system, self._tools = entry.system, entry.tools
            case BoundaryEntry():
                self._start_anew(entry)
            case SpillEntry():
                self._decided.update(one.tool_use_id for one in entry.decisions)
                self._instead |= {one.tool_use_id: one.preview for one in entry.decisions if one.preview is not None}
                self._refresh({one.tool_use_id for one in entry.decisions if one.preview is not None})
            case ClearEntry() if entry.trigger == SERVER_CLEARS:
                edits = Message(Role.USER, (deletions(entry.tool_use_ids),))
                self._append(
                    Item(entry.envelope.uuid, ItemKind.ATTACHMENT, edits, entry.envelope.timestamp, CACHE_EDITS)
                )
            case ClearEntry():
                # Results that are empty here need not be deleted there; the server's cache is gone anyway.
                self._items = [item for item in self._items if item.label != CACHE_EDITS]
                self._instead |= dict.fromkeys(entry.tool_use_ids, entry.text)
                self._refresh(set(entry.tool_use_ids))
            case SnipEntry():
                self._fold(set(entry.removed), Item(entry.envelope.uuid, ItemKind.FOLD, _note(entry.digest)))
            case CollapseEntry():
                self._fold(self._span(entry), Item(entry.envelope.uuid, ItemKind.FOLD, _note(entry.summary)))
            case _:
                pass

    def _append(self, item: Item) -> None:
        if item.message.content:
            self._items.append(item)
            if item.usage is not None:
                self._last_counted = item.uuid

    def _user_item(self, entry: UserEntry) -> Item:
        content = self._once(self._apply_replacements(entry.message.content))
        if entry.is_summary:
            kind = ItemKind.SUMMARY
        elif any(isinstance(block, ToolResult) for block in content):
            kind = ItemKind.RESULT
        else:
            is_output = bool(content) and isinstance(content[0], Text) and is_printed(content[0].text)
            kind = ItemKind.META if entry.envelope.is_meta or is_output else ItemKind.TYPED
        return Item(entry.envelope.uuid, kind, Message(Role.USER, content), entry.envelope.timestamp)

    def _reply_item(self, entry: AssistantEntry) -> Item:
        return Item(
            entry.envelope.uuid,
            ItemKind.REPLY,
            Message(Role.ASSISTANT, self._once(entry.message.content)),
            entry.envelope.timestamp,
            message_id=entry.message_id,
            model=entry.model,
            usage=entry.usage,
        )

    def _apply_replacements(self, content: tuple[Block, ...]) -> tuple[Block, ...]:
        """The content with spilled and cleared results replaced by what stands for them."""
        if not self._instead:
            return content
        return tuple(
            replace(block, content=self._instead[block.tool_use_id])
            if isinstance(block, ToolResult) and block.tool_use_id in self._instead
            else block
            for block in content
        )

    def _once(self, content: tuple[Block, ...]) -> tuple[Block, ...]:
        """Drop calls and results that some files record twice under different ids."""
        blocks: list[Block] = []
        for block in content:
            if isinstance(block, ToolUse):
                if block.id in self._called:
                    continue
                self._called.add(block.id)
            elif isinstance(block, ToolResult):
                if block.tool_use_id in self._answered:
                    continue
                self._answered.add(block.tool_use_id)
            blocks.append(block)
        return content if len(blocks) == len(content) else tuple(blocks)

    def _start_anew(self, entry: BoundaryEntry) -> None:
        self._items.clear()
        self._called.clear()
        self._answered.clear()
        self._reduced_after = self._last_counted = None
        self._kept = entry

    def _restore_kept_entries(self, summary: str) -> None:
        """After the summary of a boundary stand the entries which it kept."""
        boundary, self._kept = self._kept, None
        if boundary is None or boundary.anchor not in (None, summary):
            return
        leaf = self._leaf
        for uuid in self._run(*boundary.kept) if boundary.keeps_run else boundary.kept:
            if uuid in self._known:
                self._take(self._known[uuid])
        self._leaf = leaf
        # A kept reply still reports the size of the conversation before the compaction.
        self._reduced_after, self._last_counted = self._last_counted, None

    def _run(self, first: str, last: str) -> list[str]:
        """The ids from one entry to a later one along the chain; none when the chain does not lead there."""
        run: dict[str, None] = {}
        at: str | None = last
        while at is not None and at in self._known and at not in run:
            run[at] = None
            if at == first:
                return [*reversed(run)]
            envelope = envelope_of(self._known[at])
            at = envelope.parent if envelope is not None else None
        return []

    def _refresh(self, tool_use_ids: set[str]) -> None:
        if not tool_use_ids:
            return
        for number, item in enumerate(self._items):
            if item.kind is ItemKind.RESULT and any(
                isinstance(block, ToolResult) and block.tool_use_id in tool_use_ids for block in item.message.content
            ):
                self._items[number] = replace(
                    item, message=Message(Role.USER, self._apply_replacements(item.message.content))
                )
                self._note_reduction()

    def _span(self, entry: CollapseEntry) -> set[str]:
        ids = [item.uuid for item in self._items]
        if entry.first not in ids or entry.last not in ids:
            return set()
        return set(ids[ids.index(entry.first) : ids.index(entry.last) + 1])

    def _fold(self, removed: set[str], marker: Item) -> None:
        """Replace the removed items by one marker at the place of the first."""
        places = [number for number, item in enumerate(self._items) if item.uuid in removed]
        if not places:
            return
        self._items = [
            marker if number == places[0] else item
            for number, item in enumerate(self._items)
            if number == places[0] or item.uuid not in removed
        ]
        self._note_reduction()

    def _note_reduction(self) -> None:
        if self._last_counted is not None:
            self._reduced_after = self._last_counted


def deletions(tool_use_ids: Iterable[str]) -> Block:
    """The block that has a provider delete results inside its cache."""
    return Opaque({"type": CACHE_EDITS, "edits": [{"type": "delete", "cache_reference": one} for one in tool_use_ids]})


def _note(text: str) -> Message:
    return Message(Role.USER, (Text(text),))
