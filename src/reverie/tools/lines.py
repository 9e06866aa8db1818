"""Formats text for tool results: line numbers, long lines cut, bytes that are not text."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

LONGEST_LINE_CHARS = 2_000
"""A longer line is data, not something to read."""

_LOOKED_AT_BYTES = 65_536
_BOM = "\ufeff"


def is_binary(data: bytes) -> bool:
    """Whether the beginning holds a NUL byte, as no text does."""
    return b"\0" in data[:_LOOKED_AT_BYTES]


def decode(data: bytes) -> str:
    """Any bytes as text that gives the same bytes again by `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text; the opposite of `decode`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def replace_invalid_bytes(text: str) -> str:
    """A decoded text fit to be sent: bytes that were no UTF-8 become the replacement character."""
    return text if text.isascii() else encode(text).decode("utf-8", "replace")


def split(text: str) -> list[str]:
    """The lines of a text without their ends; a newline at the very end begins no further line."""
    lines = text.removeprefix(_BOM).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def number_lines(lines: Sequence[str], first: int = 1) -> str:
    """Lines as people and models know them from `cat -n`."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, first))


def cut(line: str, limit_chars: int = LONGEST_LINE_CHARS) -> str:
    """A line at most this long, saying what is missing."""
    if len(line) <= limit_chars:
        return line
    return f"{line[:limit_chars]}… [{len(line) - limit_chars:,} more characters of this line are not shown]"


def unified_diff(before: str, after: str, name: str) -> str:
    """The change of one file as a patch."""
    rows = difflib.unified_diff(
        _split_for_diff(before), _split_for_diff(after), f"a/{name}", f"b/{name}", fromfiledate="", tofiledate="", n=3
    )
    return replace_invalid_bytes("".join(rows))


def _split_for_diff(text: str) -> list[str]:
    lines = [line.removesuffix("\r") + "\n" for line in text.split("\n")]
    if text.endswith("\n") or not text:
        lines.pop()
    elif lines:
        lines[-1] += "\\ No newline at end of file\n"
    return lines
