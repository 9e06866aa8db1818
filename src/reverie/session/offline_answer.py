"""What a turn without a model answers: the memories that fit the user's words, and the ways to a model."""

from __future__ import annotations

from collections.abc import Mapping

from reverie.context.conversation import Conversation
from reverie.memory.memory import Memory
from reverie.memory.topics.value import Topic
from reverie.messages.entries import AttachmentEntry, UserEntry
from reverie.session.recall import KIND, SessionRecall, parse_shown

_NO_MODEL = "No model is configured to say more: set ANTHROPIC_API_KEY, or name one with --model (or /model)."


def answer_offline(log: Conversation, recall: SessionRecall) -> str:
    """The answer to the newest message."""
    lines = [f"- {_line(topic)}" for topic in _list_recalled(log, recall.topics)]
    remembered = "\n".join(["This is remembered about it:", *lines]) if lines else _nothing(recall.memory)
    return f"{remembered}\n\n{_NO_MODEL}"


def _line(topic: Topic) -> str:
    says = topic.description or topic.body.strip().partition("\n")[0]
    return topic.name if says in ("", topic.name) else f"{topic.name}: {says}"


def _nothing(memory: Memory) -> str:
    count = 0 if memory.off is not None else len(memory.index)
    return f"No relevant memories ({count} searched)."


def _list_recalled(log: Conversation, topics: Mapping[str, Topic]) -> list[Topic]:
    """What was recalled for the newest message."""
    recalled: list[Topic] = []
    for entry in reversed(log.entries):
        if isinstance(entry, UserEntry) and entry.source != "system":
            break
        if isinstance(entry, AttachmentEntry) and entry.kind == KIND:
            recalled += [topics[shown.path] for shown in parse_shown(entry.data) if shown.path in topics]
    return recalled
