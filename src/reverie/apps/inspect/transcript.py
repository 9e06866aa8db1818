"""The transcript of a session in parts, however long its file is.

Of a file of lines only the places where the lines begin are kept, until the file changes; a part reads its own lines
and no others. A search reads on from where the last part ended and stops after so many bytes, so that no answer takes
long. Sessions of agents that keep them in another form are small enough to be kept whole.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from reverie.errors import UserMistake
from reverie.files.durable import translate_os_errors
from reverie.hosts.catalogue import find_reader, read_any_entries
from reverie.messages.blocks import Block, CompactionBlock, Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import AssistantEntry, AttachmentEntry, BoundaryEntry, Entry, UserEntry, envelope_of
from reverie.messages.records import decode_line
from reverie.values import value

PART_SIZE = 50
"""How many messages one part has."""
SEARCHED_BYTES = 16_000_000
"""How much one part of a search reads."""
FOLDED_CHARS = 1_500
"""What is longer is sent when it is unfolded."""
SHOWN_CHARS = 400_000
"""How much of one block is shown; the file has the rest."""
_SUMMARY_CHARS = 160
_BEFORE = 3
"""How many messages stand before one that is looked for."""


class Records(Protocol):
    """The records of one session, by number."""

    def __len__(self) -> int: ...

    def stop_of(self, start: int) -> int:
        """The record at which reading stops that began at `start`."""

    def read(self, start: int, wanted: str = "") -> Iterator[tuple[int, Entry]]:
        """The records from a number on until the stop, with their numbers; those that lack the words may be missing."""

    def find(self, uuid: str) -> int | None:
        """The record that has this id."""


class LineRecords:
    """A file of lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("Q", [0])
        with translate_os_errors("read", path), path.open("rb") as file:
            for line in file:
                self._starts.append(self._starts[-1] + len(line))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def stop_of(self, start: int) -> int:
        if start >= len(self):
            return len(self)
        return max(start + 1, min(len(self), bisect_right(self._starts, self._starts[start] + SEARCHED_BYTES)))

    def read(self, start: int, wanted: str = "") -> Iterator[tuple[int, Entry]]:
        if start >= len(self):
            return
        # Letters and digits stand in JSON as they are; anything else may be escaped there.
        plain = wanted.encode() if wanted.isascii() and wanted.replace(" ", "").isalnum() else b""
        with translate_os_errors("read", self._path), self._path.open("rb") as file:
            file.seek(self._starts[start])
            for number, line in zip(range(start, self.stop_of(start)), file, strict=False):
                if line.strip() and (not plain or plain in line.lower()):
                    yield number, decode_line(line)

    def find(self, uuid: str) -> int | None:
        wanted = b'"%s"' % uuid.encode()
        with translate_os_errors("read", self._path), self._path.open("rb") as file:
            for number, line in enumerate(file):
                if wanted in line and _id_of(decode_line(line)) == uuid:
                    return number
        return None


class ListRecords:
    """A session that is kept whole."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def stop_of(self, start: int) -> int:  # noqa: ARG002 - all are read
        return len(self)

    def read(self, start: int, wanted: str = "") -> Iterator[tuple[int, Entry]]:  # noqa: ARG002 - all are read
        for number in range(start, len(self)):
            yield number, self._entries[number]

    def find(self, uuid: str) -> int | None:
        return next((number for number, entry in enumerate(self._entries) if _id_of(entry) == uuid), None)


def open_records(path: Path) -> Records:
    """The records of a session, ours or another agent's."""
    return LineRecords(path) if find_reader(path) is None else ListRecords(read_any_entries(path))


@value
class Part:
    """One part of a transcript."""

    messages: tuple[dict[str, Any], ...]
    following: int | None = None
    """The record at which the next part begins; None at the end."""


def read_part(records: Records, start: int, wanted: str = "") -> Part:
    """Messages from a record on, or of them those that have the wanted words."""
    messages: list[dict[str, Any]] = []
    for number, entry in records.read(start, wanted):
        if len(messages) >= PART_SIZE:
            return Part(tuple(messages), number)
        message = describe(entry, number, wanted)
        if message is not None and (not wanted or message["is_hit"]):
            messages.append(message)
    stop = records.stop_of(start)
    return Part(tuple(messages), stop if stop < len(records) else None)


def read_around(records: Records, uuid: str) -> int:
    """Where a part begins that has a message and a few before it; the beginning when there is no such message."""
    at = records.find(uuid)
    if at is None:
        return 0
    before: list[int] = []
    for number, entry in records.read(max(0, at - 20)):
        if number >= at:
            break
        if describe(entry, number) is not None:
            before.append(number)
    return before[-_BEFORE] if len(before) >= _BEFORE else (before[0] if before else at)


def read_block(records: Records, number: int, block: int) -> str:
    """The whole text of one block of a message."""
    for found, entry in records.read(number):
        blocks = _blocks(entry)[1] if found == number else ()
        if 0 <= block < len(blocks):
            text = block_text(blocks[block])[1]
            return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}\n… The file has the rest."
        break
    raise UserMistake(f"no block {block} in record {number}; the session has changed, load the page again")


def describe(entry: Entry, number: int, wanted: str = "") -> dict[str, Any] | None:
    """A message for the transcript; None for what is none."""
    if isinstance(entry, BoundaryEntry):
        tokens = f"{entry.pre_tokens or '?'} → {entry.post_tokens or '?'} tokens"
        return {"who": "compaction", "note": tokens, "is_hit": False, "parts": []} | _place(entry, number)
    who, blocks = _blocks(entry)
    parts = []
    is_hit = False
    for place, block in enumerate(blocks):
        kind, text = block_text(block)
        if not text:
            continue
        at = text.casefold().find(wanted) if wanted else -1
        is_hit |= at >= 0
        first = max(0, at - _SUMMARY_CHARS // 3) if at > _SUMMARY_CHARS // 2 else 0
        summary = ("… " if first else "") + " ".join(text[first : first + 4 * _SUMMARY_CHARS].split())[:_SUMMARY_CHARS]
        is_folded = kind != "text" or len(text) > FOLDED_CHARS or who not in ("user", "assistant")
        shown = text if len(text) <= FOLDED_CHARS else None
        parts.append(
            {"kind": kind, "block": place, "text": shown, "summary": summary, "is_folded": is_folded, "size": len(text)}
        )
    if not parts:
        return None
    return {"who": who, "note": "", "is_hit": is_hit, "parts": parts} | _place(entry, number)


def block_text(block: Block) -> tuple[str, str]:
    """What a block is, and its text."""
    match block:
        case Text():
            return "text", block.text
        case Thinking():
            return "thinking", block.thinking
        case ToolUse():
            import json

            return block.name, json.dumps(block.input, ensure_ascii=False, indent=1)
        case ToolResult():
            pieces = block.content if isinstance(block.content, tuple) else (Text(block.content),)
            return "result", "\n".join(piece.text for piece in pieces if isinstance(piece, Text))
        case CompactionBlock():
            return "compaction", block.content or ""
        case _:
            return type(block).__name__, f"({type(block).__name__})"


def _blocks(entry: Entry) -> tuple[str, Sequence[Block]]:
    match entry:
        case UserEntry():
            is_results = any(isinstance(block, ToolResult) for block in entry.message.content)
            who = "summary" if entry.is_summary else "results" if is_results else "user"
            return who, entry.message.content
        case AssistantEntry():
            return "assistant", entry.message.content
        case AttachmentEntry():
            return entry.kind.replace("_", " "), entry.content
        case _:
            return "", ()


def _place(entry: Entry, number: int) -> dict[str, Any]:
    envelope = envelope_of(entry)
    return {
        "number": number,
        "uuid": envelope.uuid if envelope else "",
        "when": envelope.timestamp if envelope else "",
        "is_sidechain": envelope is not None and envelope.is_sidechain,
    }


def _id_of(entry: Entry) -> str | None:
    envelope = envelope_of(entry)
    return None if envelope is None else envelope.uuid
