"""Typed reading of JSON that was already checked, and JSON as bytes.

`rules` decides whether a request is well formed; everything behind it reads fields with these functions and gets the
empty value where a field is absent or null.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from reverie.messages.blocks import Json, JsonObject

NOTHING: JsonObject = {}


def encode(value: object) -> bytes:
    """JSON without spaces, in the order in which the keys stand."""
    return msgspec.json.encode(value)


def as_object(value: Json) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else NOTHING


def text_at(source: JsonObject, key: str, default: str = "") -> str:
    """The string under the key."""
    value = source.get(key)
    return value if isinstance(value, str) else default


def number_at(source: JsonObject, key: str, default: int = 0) -> int:
    """The whole number under the key."""
    value = source.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def flag_at(source: JsonObject, key: str) -> bool:
    """Whether the key holds true."""
    return source.get(key) is True


def object_at(source: JsonObject, key: str) -> JsonObject:
    """The object under the key."""
    return as_object(source.get(key))


def objects_at(source: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """The objects in the list under the key; other entries are left out."""
    value = source.get(key)
    return tuple([entry for entry in value if isinstance(entry, dict)]) if isinstance(value, list) else ()


def texts_at(source: JsonObject, key: str) -> tuple[str, ...]:
    """The strings in the list under the key."""
    value = source.get(key)
    return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else ()


def blocks_at(source: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """Content blocks; a plain string is the short form of one text block."""
    value = source.get(key)
    if isinstance(value, str):
        return ({"type": "text", "text": value},)
    return objects_at(source, key)


def join_text(blocks: Iterable[JsonObject]) -> str:
    """The visible text of some blocks, tool results included, one block a line."""
    return "\n".join(line for block in blocks if (line := _text_of(block)))


def _text_of(block: JsonObject) -> str:
    match block.get("type"):
        case "text":
            return text_at(block, "text")
        case "tool_result":
            return join_text(blocks_at(block, "content"))
        case _:
            return ""
