"""How far extraction has read a running session: a mark in the transcript, which survives resume and compaction.

Also what lies after it: how many messages, what the user typed, and which memories the main agent wrote by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reverie.memory.extraction.session import is_spoken
from reverie.messages.entries import AssistantEntry, Entry, Envelope, MarkEntry, envelope_of
from reverie.values import value

MARK = "extraction"
"""The name of the mark."""
_WRITERS = frozenset({"Write", "Edit", "MultiEdit"})


@value
class ExtractionCursor:
    """The last word of the marks."""

    covers: str | None = None
    """The id of the last message that was handled; None at the start."""
    failures: int = 0
    """How often the messages after it have failed."""


def cursor(entries: Iterable[Entry]) -> ExtractionCursor:
    """The state of extraction after these entries."""
    state = ExtractionCursor()
    for entry in entries:
        if isinstance(entry, MarkEntry) and entry.name == MARK:
            covers, failures = entry.data.get("covers"), entry.data.get("failures")
            state = ExtractionCursor(
                covers if isinstance(covers, str) else None, failures if isinstance(failures, int) else 0
            )
    return state


def mark(envelope: Envelope, state: ExtractionCursor, outcome: str) -> MarkEntry:
    """The entry that keeps a cursor; `outcome` says in a word what moved it."""
    return MarkEntry(envelope, MARK, {"covers": state.covers, "failures": state.failures, "outcome": outcome})


def new_entries(entries: Sequence[Entry], covers: str | None) -> tuple[Entry, ...]:
    """What was said after the cursor; everything when it is unset or gone, never nothing for that reason."""
    spoken = [entry for entry in entries if is_spoken(entry)]
    places = [number for number, entry in enumerate(spoken) if _id(entry) == covers]
    return tuple(spoken[places[-1] + 1 :] if places and covers is not None else spoken)


def newest(entries: Iterable[Entry]) -> str | None:
    """The id of the newest message."""
    ids = [_id(entry) for entry in entries if is_spoken(entry)]
    return ids[-1] if ids else None


def find_agent_writes(entries: Iterable[Entry], directory: Path) -> tuple[str, ...]:
    """The memories that the main agent wrote in these entries: the rest is still to be extracted."""
    root = directory.resolve()
    paths: dict[str, None] = {}
    for entry in entries:
        for call in entry.message.tool_uses if isinstance(entry, AssistantEntry) else ():
            file_path = call.input.get("file_path")
            if call.name in _WRITERS and isinstance(file_path, str):
                place = Path(file_path).expanduser()
                path = (place if place.is_absolute() else root / place).resolve()
                if path.is_relative_to(root):
                    paths[path.relative_to(root).as_posix()] = None
    return tuple(paths)


def _id(entry: Entry) -> str | None:
    envelope = envelope_of(entry)
    return envelope.uuid if envelope else None
