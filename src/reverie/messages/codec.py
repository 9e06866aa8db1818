"""Converts blocks, messages, tools and usage to and from the JSON of the Messages API.

Together with `records`, which adds the lines of a transcript, this is the only place that knows wire names. Reading is
tolerant: a block of an unknown kind is kept whole, and fields we do not interpret travel in `extra`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from reverie.messages.blocks import (
    NOTHING_MORE,
    Block,
    CompactionBlock,
    DocumentBlock,
    Image,
    JsonObject,
    Opaque,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from reverie.messages.entries import ToolSpec
from reverie.messages.message import Message, Role, Usage

_decode_any = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def encode_json(value: Any) -> bytes:
    """Compact JSON with keys in their given order: equal values give equal bytes."""
    return _encode(value)


def decode_json(data: bytes | str) -> Any:
    """Parse JSON; raises `ValueError`, also for what is nested too deeply."""
    try:
        return _decode_any(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def block_from_wire(wire: Any) -> Block:
    """Read one content block; a kind we do not know stays as it is."""
    if isinstance(wire, str):
        return Text(wire)
    if not isinstance(wire, dict):
        return Opaque({"type": "", "value": wire})
    try:
        match wire.get("type"):
            case "text":
                return Text(_string(wire["text"]), _rest(wire, 2, ("type", "text")))
            case "tool_use":
                call = as_object(wire["input"])
                return ToolUse(
                    _string(wire["id"]), _string(wire["name"]), call, _rest(wire, 4, ("type", "id", "name", "input"))
                )
            case "tool_result":
                return _tool_result(wire)
            case "thinking":
                signature = _string(wire.get("signature") or "")
                return Thinking(_string(wire["thinking"]), signature, _rest(wire, 3, ("type", "thinking", "signature")))
            case "redacted_thinking":
                return RedactedThinking(_string(wire["data"]), _rest(wire, 2, ("type", "data")))
            case "image":
                return Image(as_object(wire["source"]), _rest(wire, 2, ("type", "source")))
            case "document":
                return DocumentBlock(as_object(wire["source"]), _rest(wire, 2, ("type", "source")))
            case "compaction":
                content = wire["content"]
                return CompactionBlock(
                    None if content is None else _string(content), _rest(wire, 2, ("type", "content"))
                )
    except (KeyError, TypeError):
        pass
    return Opaque(wire)


def block_to_wire(block: Block) -> dict[str, Any]:
    """Write one content block in the provider's form."""
    # A long request has thousands of these three; looking at the type alone takes a third of the time of a match.
    if type(block) is Text:
        wire: dict[str, Any] = {"type": "text", "text": block.text}
    elif type(block) is ToolUse:
        wire = {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    elif type(block) is ToolResult:
        content = block.content
        parts = content if isinstance(content, str) else [block_to_wire(part) for part in content]
        wire = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": parts}
        if block.is_error:
            wire["is_error"] = True
    elif isinstance(block, Opaque):
        return dict(block.wire)
    else:
        wire = _seldom(block)
    if block.extra:
        wire.update(block.extra)
    return wire


def _seldom(block: Block) -> dict[str, Any]:
    match block:
        case Thinking(thinking, signature):
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case RedactedThinking(data):
            return {"type": "redacted_thinking", "data": data}
        case Image(source):
            return {"type": "image", "source": source}
        case DocumentBlock(source):
            return {"type": "document", "source": source}
        case CompactionBlock(summary):
            return {"type": "compaction", "content": summary}
        case _:
            raise TypeError(f"{type(block).__name__} is no block")


def message_from_wire(wire: Mapping[str, Any]) -> Message:
    """Read a message of the Messages API; raises `ValueError` when its role is none."""
    return Message(Role(wire["role"]), content_from_wire(wire.get("content")))


def message_to_wire(message: Message) -> dict[str, Any]:
    """Write a message of the Messages API."""
    return {"role": message.role.value, "content": [block_to_wire(block) for block in message.content]}


def tool_from_wire(wire: Mapping[str, Any]) -> ToolSpec:
    """Read a tool definition; built-in kinds keep their fields in `extra`."""
    fields = ("name", "description", "input_schema")
    return ToolSpec(
        name=str(wire.get("name", "")),
        description=str(wire.get("description", "")),
        input_schema=wire.get("input_schema", NOTHING_MORE),
        extra={key: value for key, value in wire.items() if key not in fields} or NOTHING_MORE,
    )


def tool_to_wire(tool: ToolSpec) -> dict[str, Any]:
    """Write a tool definition."""
    wire: dict[str, Any] = {"type": tool.extra["type"]} if "type" in tool.extra else {}
    if tool.name or not wire:
        wire["name"] = tool.name
    if tool.description:
        wire["description"] = tool.description
    if tool.input_schema or "type" not in tool.extra:
        wire["input_schema"] = tool.input_schema
    wire.update({key: value for key, value in tool.extra.items() if key != "type"})
    return wire


def usage_from_wire(wire: Mapping[str, Any]) -> Usage:
    """Read what a provider reported; absent and null fields count as nothing."""
    detail = wire.get("cache_creation")
    hour = as_count(detail.get("ephemeral_1h_input_tokens")) if isinstance(detail, dict) else 0
    served = wire.get("server_tool_use")
    return Usage(
        input_tokens=as_count(wire.get("input_tokens")),
        output_tokens=as_count(wire.get("output_tokens")),
        cache_read_tokens=as_count(wire.get("cache_read_input_tokens")),
        cache_write_tokens=as_count(wire.get("cache_creation_input_tokens")),
        cache_write_1h_tokens=hour,
        web_searches=as_count(served.get("web_search_requests")) if isinstance(served, dict) else 0,
    )


def usage_to_wire(usage: Usage) -> dict[str, Any]:
    """Write usage in the provider's form."""
    served = {"server_tool_use": {"web_search_requests": usage.web_searches}} if usage.web_searches else {}
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_tokens - usage.cache_write_1h_tokens,
            "ephemeral_1h_input_tokens": usage.cache_write_1h_tokens,
        },
        "output_tokens": usage.output_tokens,
        **served,
    }


def _tool_result(wire: Mapping[str, Any]) -> ToolResult:
    content = wire.get("content", "")
    parts: str | tuple[Text | Image | DocumentBlock | Opaque, ...]
    if isinstance(content, str):
        parts = content
    elif isinstance(content, list):
        parts = tuple(_result_part(part) for part in content)
    elif content is None:
        parts = ""
    else:
        raise TypeError("a tool result holds text or blocks")
    fields = ("type", "tool_use_id", "content", "is_error")
    extra = _rest(wire, 3 + ("is_error" in wire), fields)
    return ToolResult(_string(wire["tool_use_id"]), parts, wire.get("is_error") is True, extra)


def _result_part(wire: Any) -> Text | Image | DocumentBlock | Opaque:
    block = block_from_wire(wire)
    if isinstance(block, Text | Image | DocumentBlock | Opaque):
        return block
    return Opaque(wire)


def content_from_wire(wire: Any) -> tuple[Block, ...]:
    """Read the content of a message: text, one block or a list of them; raises `TypeError` for anything else."""
    if isinstance(wire, str):
        return (Text(wire),)
    if isinstance(wire, list):
        return tuple(block_from_wire(part) for part in wire)
    if isinstance(wire, dict):
        return (block_from_wire(wire),)
    raise TypeError("a message holds text or blocks")


def _rest(wire: Mapping[str, Any], usual: int, fields: tuple[str, ...]) -> JsonObject:
    """The fields beyond the known ones; nearly always none, which a count shows at once."""
    if len(wire) <= usual:
        return NOTHING_MORE
    return {key: value for key, value in wire.items() if key not in fields} or NOTHING_MORE


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value


def as_object(value: Any) -> dict[str, Any]:
    """The value itself when it is a JSON object; raises `TypeError` otherwise."""
    if not isinstance(value, dict):
        raise TypeError(f"an object expected, not {type(value).__name__}")
    return value


def as_count(value: Any) -> int:
    """The value when it is a number of something, else 0."""
    return value if isinstance(value, int) and value > 0 else 0
