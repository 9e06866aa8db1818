"""A conversation as it grows: its entries, where the next one hangs, and what the model sees of them.

The one place where entries are added to a running conversation. With a `write`, every entry is on disk before it takes
part in anything. It decides nothing: what to add is the matter of the loop and of `context`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from reverie.context.spans import chain
from reverie.messages.chain import linearize, newest_leaf
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    Entry,
    Envelope,
    PromptEntry,
    SpillEntry,
    UserEntry,
    envelope_of,
    format_timestamp,
)
from reverie.messages.view import Projection, View


def _write_nothing(_: Sequence[Entry]) -> None:
    return


class Aside:
    """Where entries are made without touching the conversation that they are for; in a thread, for instance."""

    def __init__(self, start: str | None, new_envelope: Callable[[str | None], Envelope]) -> None:
        self.start = start
        """The leaf under which the first one hangs."""
        self._leaf = start
        self._new_envelope = new_envelope

    def envelope(self) -> Envelope:
        """The envelope of the next entry, under the one before it."""
        envelope = self._new_envelope(self._leaf)
        self._leaf = envelope.uuid
        return envelope


class Conversation:
    """The entries of one conversation, and their projection."""

    def __init__(
        self,
        *,
        session: str,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        entries: Sequence[Entry] = (),
        write: Callable[[Sequence[Entry]], None] = _write_nothing,
        flush: Callable[[], None] | None = None,
        stamp: Callable[[Envelope], Envelope] = lambda envelope: envelope,
    ) -> None:
        """`write` hands entries to the operating system and `flush` waits until they are on the disk; `stamp` fills in
        what every envelope of this conversation says.
        """
        self.session = session
        self.entries: list[Entry] = list(entries)
        self._now = now
        self._new_id = new_id
        self._write = write
        self._flush = flush
        self._stamp = stamp
        self.projection = Projection()
        self._leaf: str | None = None
        if entries:
            self.branch_from(newest_leaf(self.entries))

    @property
    def view(self) -> View:
        """What the model would see now."""
        return self.projection.view()

    @property
    def leaf(self) -> str | None:
        """The entry under which the next one hangs."""
        return self._leaf

    def append(self, *entries: Entry) -> None:
        """Add entries of any kind to the end of the conversation."""
        self.record(entries)
        self.projection.extend(entries)

    async def flush(self) -> None:
        """Wait until everything said so far would survive a power failure; the disk does not hold the event loop."""
        if self._flush is not None:
            await asyncio.to_thread(self._flush)

    def record(self, entries: Sequence[Entry]) -> None:
        """Keep entries that the projection has taken in already."""
        self._write(entries)
        self.entries.extend(entries)

    def adopt(self, entry: UserEntry | AssistantEntry | AttachmentEntry | PromptEntry) -> None:
        """Add a recorded entry as it is, except that it hangs under the present leaf."""
        envelope = replace(entry.envelope, parent=self._leaf, logical_parent=None)
        self._leaf = envelope.uuid
        self.append(replace(entry, envelope=envelope, raw=None))

    def envelope(self) -> Envelope:
        """The envelope of the next entry, under the one before it."""
        envelope = self._new_envelope(self._leaf)
        self._leaf = envelope.uuid
        return envelope

    def aside(self) -> Aside:
        """A place to make entries that belong under the present leaf, while this conversation may go on."""
        return Aside(self._leaf, self._new_envelope)

    def take(self, aside: Aside, entries: Sequence[Entry]) -> None:
        """Add entries that were made aside; one that hangs where this conversation has gone on since hangs there."""
        hung = [_rehung(entry, aside.start, self._leaf) for entry in entries]
        self.append(*hung)
        self._leaf = next((envelope.uuid for entry in reversed(hung) if (envelope := envelope_of(entry))), self._leaf)

    def _new_envelope(self, parent: str | None) -> Envelope:
        return self._stamp(Envelope(self._new_id(), parent, self.session, format_timestamp(self._now())))

    def branch_from(self, leaf: str | None) -> None:
        """Go on from an earlier entry; what came after it stays in the entries and is no longer seen."""
        self._leaf = leaf
        by_uuid = {envelope.uuid: entry for entry in self.entries if (envelope := envelope_of(entry)) is not None}
        self.projection = Projection(by_uuid)
        if leaf is not None:
            # Decisions of other writers hang on no chain and hold on every branch.
            loose = (one for one in self.entries if isinstance(one, SpillEntry) and one.envelope is None)
            self.projection.extend(loose).extend(linearize(self.entries, leaf))

    def fork(
        self,
        *,
        write: Callable[[Sequence[Entry]], None] = _write_nothing,
        stamp: Callable[[Envelope], Envelope] = lambda envelope: envelope,
    ) -> Conversation:
        """A conversation that begins with this one, as a child agent has it; what it adds is its own."""
        child = Conversation(
            session=self.session,
            now=self._now,
            new_id=self._new_id,
            write=write,
            stamp=lambda envelope: stamp(self._stamp(envelope)),
        )
        child.entries = list(self.entries)
        child.projection = self.projection.copy()
        child._leaf = self._leaf
        return child

    def chain(self) -> list[Entry]:
        """All entries from the first to the present leaf, across compactions."""
        return chain(self.entries, self._leaf)


def _rehung(entry: Entry, start: str | None, leaf: str | None) -> Entry:
    """The entry under the present leaf, if it was made to follow the one at the start."""
    envelope = envelope_of(entry)
    if envelope is None or start is None or start == leaf:
        return entry
    if envelope.parent == start:
        envelope = replace(envelope, parent=leaf)
    elif envelope.parent is None and envelope.logical_parent == start:
        envelope = replace(envelope, logical_parent=leaf)
    return replace(entry, envelope=envelope)  # type: ignore[arg-type]  # only those without one lack the field
