"""`Fields`: a JSON object of another program, asked for what should stand in it; whatever else stands there is nothing.

Formats change monthly and nobody promises them: a reader asks for a text, an object or a count by name and gets an
empty one where the file has something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from reverie.messages.codec import decode_json
from reverie.messages.entries import format_timestamp
from reverie.messages.message import Usage


class Fields(dict[str, Any]):
    """A JSON object of another program."""

    def text(self, *names: str) -> str:
        """The first of these fields that holds text; a number or nothing is empty."""
        return next((value for name in names if isinstance(value := self.get(name), str) and value), "")

    def at(self, *names: str) -> Fields:
        """The object under a field, or under a field of the object there; empty where there is none."""
        inner = self
        for name in names:
            inner = as_fields(inner.get(name))
        return inner

    def each(self, name: str) -> list[Fields]:
        """The items of a list as objects."""
        return [as_fields(item) for item in as_list(self.get(name))]

    def tokens(self, *names: str) -> int:
        """The sum of token counts; what is not a count is nothing."""
        return as_tokens(*(self.get(name) for name in names))

    def usage(self, prompt: str | Sequence[str], output: Sequence[str], read: str, written: str = "") -> Usage:
        """Usage from a count of the prompt that includes what was read from and written to the cache."""
        cached, stored = self.tokens(read), self.tokens(written)
        total = self.tokens(*((prompt,) if isinstance(prompt, str) else prompt))
        fresh = total - cached - stored if cached + stored <= total else total
        return Usage(fresh, self.tokens(*output), cached, stored)


def parse_object(data: bytes | str | None) -> Fields | None:
    """A JSON object, or None for anything else."""
    try:
        record = decode_json(data) if data else None
    except ValueError:
        return None
    return Fields(record) if isinstance(record, dict) else None


def as_fields(value: object) -> Fields:
    """A JSON object where one is expected; empty for anything else."""
    return value if isinstance(value, Fields) else Fields(value) if isinstance(value, dict) else Fields()


def as_list(value: object) -> list[Any]:
    """A JSON array where one is expected; empty for anything else."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Text where text is expected; a number or nothing becomes empty."""
    return value if isinstance(value, str) else ""


def as_tokens(*counts: object) -> int:
    """The sum of token counts; what is not a count is nothing."""
    return sum(int(count) for count in counts if isinstance(count, int | float) and count > 0)


def as_input(value: object) -> dict[str, Any]:
    """The arguments of a tool call: an object, JSON text of one, or any text under `input`."""
    if isinstance(value, str):
        return parse_object(value) or ({"input": value} if value else {})
    return as_fields(value)


def as_timestamp(moment: object) -> str:
    """A moment as transcripts write it, from ISO text, seconds or milliseconds since 1970; empty when unknown."""
    try:
        if isinstance(moment, str) and moment:
            parsed = datetime.fromisoformat(moment)
            return format_timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
        if isinstance(moment, int | float) and moment > 0:
            return format_timestamp(datetime.fromtimestamp(moment / 1000 if moment > 1e11 else moment, UTC))
    except (ValueError, OverflowError, OSError):
        return ""
    return ""


def join_texts(parts: object, *, skip: Sequence[str] = ()) -> str:
    """The text of a message: a string, an object with `text`, or a list of either; `skip` names part kinds."""
    if isinstance(parts, dict):
        return as_text(parts.get("text"))
    if isinstance(parts, list):
        texts = (join_texts(part) for part in parts if not (isinstance(part, dict) and part.get("type") in skip))
        return "\n".join(filter(None, texts))
    return as_text(parts)
