"""Recorded sessions: transcripts of the users' format and trajectories of a small shell agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reverie.context.spans import chain, spoken
from reverie.messages.entries import AssistantEntry, AttachmentEntry, Entry, UserEntry, envelope_of
from reverie.messages.trajectory import read_recording
from reverie.messages.view import Item

TRANSCRIPTS = (
    "episodic-memory/large-conversation.jsonl",
    "episodic-memory/long-conversation.jsonl",
    "claude-reliability/python-to-rust-port.jsonl",
    "claude-reliability/coverage-test-fix.jsonl",
    "session-share/projects/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl",
)
TUNED_ON = frozenset({"large-conversation", "pytest-dev__pytest-6197", "django__django-16560", "python-to-rust-port"})
"""Sessions that were looked at while the summariser was made; the rest is held out."""


@dataclass(frozen=True, slots=True)
class Session:
    """One recording, without its own compactions."""

    name: str
    entries: tuple[Entry, ...]
    items: tuple[Item, ...]

    @property
    def is_held_out(self) -> bool:
        return self.name not in TUNED_ON

    def entries_before(self, at: int) -> tuple[Entry, ...]:
        """The entries of the items before this one."""
        last = self.items[at - 1].uuid
        place = next(number for number, entry in enumerate(self.entries) if _uuid(entry) == last)
        return self.entries[: place + 1]


def read_sessions(data: Path) -> list[Session]:
    """All sessions of the sample data that are long enough to be worth a cut."""
    paths = [data / "transcripts" / name for name in TRANSCRIPTS]
    paths += sorted((data / "trajectories" / "mini-swe-agent").glob("*.json"))
    return [read_session(path) for path in paths]


def read_session(path: Path) -> Session:
    """One recording; the entries of a trajectory get ids as different from each other as those of a session."""
    said = [
        entry
        for entry in chain(read_recording(path))
        if isinstance(entry, UserEntry | AssistantEntry | AttachmentEntry)
    ]
    if path.suffix == ".json":
        said = _with_other_ids(said)
    entries = tuple(_in_a_row(said))
    return Session(path.stem, entries, spoken(entries))


def _with_other_ids(
    said: Sequence[UserEntry | AssistantEntry | AttachmentEntry],
) -> list[UserEntry | AssistantEntry | AttachmentEntry]:
    return [
        replace(entry, envelope=replace(entry.envelope, uuid=f"{(number * 2654435761) % 2**32:08x}-0000-4000"))
        for number, entry in enumerate(said, 1)
    ]


def _in_a_row(
    said: Sequence[UserEntry | AssistantEntry | AttachmentEntry],
) -> list[UserEntry | AssistantEntry | AttachmentEntry]:
    """Each under the one before it, so that any beginning of the list is a conversation."""
    row: list[UserEntry | AssistantEntry | AttachmentEntry] = []
    for entry in said:
        parent = row[-1].envelope.uuid if row else None
        row.append(replace(entry, envelope=replace(entry.envelope, parent=parent, is_sidechain=False)))
    return row


def _uuid(entry: Entry) -> str:
    envelope = envelope_of(entry)
    return envelope.uuid if envelope else ""
