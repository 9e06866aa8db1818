"""Recorded sessions as items: transcripts of the users' format and trajectories of a small shell agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from reverie.messages.message import Message, Role, assistant, user
from reverie.messages.transcript import read_entries
from reverie.messages.view import Item, Kind, project

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
    """One recording."""

    name: str
    items: tuple[Item, ...]

    @property
    def is_held_out(self) -> bool:
        return self.name not in TUNED_ON


def read_sessions(data: Path) -> list[Session]:
    """All sessions of the sample data that are long enough to be worth a cut."""
    sessions = [_transcript(data / "transcripts" / name) for name in TRANSCRIPTS]
    sessions += [read_trajectory(path) for path in sorted((data / "trajectories" / "mini-swe-agent").glob("*.json"))]
    return sessions


def read_trajectory(path: Path) -> Session:
    """A trajectory: the task was typed, everything else in the user's place is the machine's."""
    items: list[Item] = []
    for number, one in enumerate(json.loads(path.read_text(encoding="utf-8"))["messages"]):
        text, uuid = str(one["content"]), f"{number:08x}-0000-4000-8000-000000000000"
        if one["role"] == "assistant":
            items.append(Item(uuid, Kind.REPLY, assistant(text), message_id=uuid))
        elif one["role"] == "user":
            is_task = not any(item.kind is Kind.TYPED for item in items)
            items.append(Item(uuid, Kind.TYPED if is_task else Kind.META, user(text)))
    return Session(path.stem, tuple(items))


def _transcript(path: Path) -> Session:
    items = project(read_entries(path)).items
    return Session(path.stem, tuple(item for item in items if item.message.role in {Role.USER, Role.ASSISTANT}))


def messages_of(items: tuple[Item, ...]) -> tuple[Message, ...]:
    """The bare messages."""
    return tuple(item.message for item in items)
