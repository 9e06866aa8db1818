"""Cuts a transcript record into searchable passages: who speaks, and pieces of readable size.

Cutting is a pure function of the record, so no text is stored: the record is read again and cut again. What a client
shows beside a result (`toolUseResult`) repeats the result and is left out, as are pictures.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.messages.blocks import Block, CompactionBlock, Json, Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import AssistantEntry, Entry, UserEntry
from reverie.values import value

ROLES = ("user", "assistant", "tool", "summary")
"""Who speaks: the person, the model, a tool's result, the summary that a compaction left."""

PASSAGE_CHARS = 1_600
"""About how long a passage is; longer texts are cut where a line ends."""
_LONGEST_CHARS = 2 * PASSAGE_CHARS


@value
class SpokenRecord:
    """What one record says."""

    message: str
    """The record's own id."""
    when: str
    role: str
    text: str


def spoken(entry: Entry) -> SpokenRecord | None:
    """What a record says to be found by; None for one that holds no talk."""
    if not isinstance(entry, UserEntry | AssistantEntry) or entry.envelope.is_meta:
        return None
    text = "\n".join(filter(None, map(_text, entry.message.content)))
    if not text or text.isspace():
        return None
    return SpokenRecord(entry.envelope.uuid, entry.envelope.timestamp, _role(entry), text)


def cut(text: str) -> list[str]:
    """Cut a text into passages, together the text again; at the end of a line unless there is none for long."""
    if len(text) <= _LONGEST_CHARS:
        return [text]
    pieces = []
    start = 0
    while len(text) - start > _LONGEST_CHARS:
        end = text.find("\n", start + PASSAGE_CHARS, start + _LONGEST_CHARS) + 1
        end = end or text.rfind(" ", start + PASSAGE_CHARS, start + _LONGEST_CHARS) + 1 or start + _LONGEST_CHARS
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]


def _role(entry: UserEntry | AssistantEntry) -> str:
    if isinstance(entry, AssistantEntry):
        return "assistant"
    if entry.is_summary:
        return "summary"
    return "tool" if any(isinstance(block, ToolResult) for block in entry.message.content) else "user"


def _text(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case ToolResult():
            return block.text
        case ToolUse():
            return "\n".join([block.name, *_strings(block.input)])
        case Thinking():
            return block.thinking
        case CompactionBlock():
            return block.content or ""
        case _:
            return ""


def _strings(value: Json | object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
