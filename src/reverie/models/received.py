"""Sanitises replies so that they can be stored and sent back: whole characters, valid ids, bounded nesting.

Servers cut a character into halves at the end of a delta, give a call no id, an odd one or one that is taken, and
models write input that is nested beyond what any parser follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reverie.messages.codec import decode_json

CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MAX_DEPTH = 200
"""Input that is nested deeper is no input of any tool."""
_HALVES = re.compile("[\ud800-\udfff]")
_FIRST_HALVES = ("\ud800", "\udbff")


def whole_text(text: str) -> str:
    """Text whose halves of characters are joined; a half without the other becomes the sign for what cannot be read."""
    if text.isascii() or not _HALVES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_value(value: Any) -> Any:
    """The same for every string in a value as JSON has it."""
    match value:
        case str():
            return whole_text(value)
        case dict():
            return {whole_text(key): whole_value(inner) for key, inner in value.items()}
        case list():
            return [whole_value(inner) for inner in value]
        case _:
            return value


@dataclass(slots=True)
class Characters:
    """Pieces of a text as they may be shown: half a character waits for the other half."""

    _half: str = ""

    def take(self, piece: str) -> str:
        """What can be shown now."""
        text = self._half + piece
        first, last = _FIRST_HALVES
        self._half = text[-1:] if first <= text[-1:] <= last else ""
        return whole_text(text.removesuffix(self._half))


def parse_input(text: str) -> dict[str, Any] | None:
    """The input of a tool call; none at all means no parameters, and None that it is no JSON object of use."""
    try:
        value = decode_json(whole_text(text)) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return whole_value(value) if isinstance(value, dict) and not is_too_deep(value) else None


def is_too_deep(value: Any) -> bool:
    """Whether a value is nested beyond what the rest of the program follows."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def free_id(wanted: str, taken: set[str], new_id: Callable[[], str]) -> str:
    """The id of a call: the server's own if it is usable and free, else a fresh one."""
    chosen = wanted if CALL_ID.fullmatch(wanted) and wanted not in taken else f"call_{new_id()}"
    taken.add(chosen)
    return chosen
