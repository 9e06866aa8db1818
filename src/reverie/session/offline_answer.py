"""What a turn without a model answers: the memories that fit the user's words, and the ways to a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.errors import Error
from reverie.memory.memory import Memory
from reverie.memory.topics.topic import Topic
from reverie.messages.entries import AttachmentEntry, UserEntry
from reverie.session.recall import KIND

_NO_MODEL = "No model is configured to say more: set ANTHROPIC_API_KEY, or name one with --model (or /model)."


def answer_offline(log: Conversation, memory: Memory) -> str:
    """The answer to the newest message."""
    topics = list(_find_recalled(log, memory))
    lines = [f"- {_line(topic)}" for topic in topics]
    known = "\n".join(["This is remembered about it:", *lines]) if lines else _nothing(memory)
    return f"{known}\n\n{_NO_MODEL}"


def _line(topic: Topic) -> str:
    says = topic.description or topic.body.strip().partition("\n")[0]
    return topic.name if says in ("", topic.name) else f"{topic.name}: {says}"


def _nothing(memory: Memory) -> str:
    count = 0 if memory.off is not None else len(memory.index)
    return f"No relevant memories ({count} searched)."


def _find_recalled(log: Conversation, memory: Memory) -> Iterator[Topic]:
    """What was recalled for the newest message."""
    for entry in reversed(log.entries):
        if isinstance(entry, UserEntry) and entry.source != "system":
            return
        rows = entry.data.get("memories") if isinstance(entry, AttachmentEntry) and entry.kind == KIND else None
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                try:
                    yield memory.read(Path(str(row["path"])).name)
                except (Error, OSError):
                    continue
