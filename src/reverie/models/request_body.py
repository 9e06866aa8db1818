"""Builds the body of a Messages API request from a `Request`.

Pure: the same request gives the same bytes, so that what is sent, what is dumped and what is replayed cannot differ.
Fields that seldom change come first, then tools, system and messages in the order in which the provider caches them.
Beta features travel as a header and are named by `request_betas`. Sending is done by `models`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from reverie.errors import BadRequest
from reverie.messages.blocks import Block, CompactionBlock, Opaque, Text, ToolResult, ToolUse
from reverie.messages.codec import block_to_wire, encode_json, tool_to_wire
from reverie.messages.message import Message, Role
from reverie.models.ports import CacheMark, Request

MAX_CACHE_MARKS = 4
"""A fifth breakpoint is refused."""
CONTEXT_EDITS_BETA = "context-management-2025-06-27"
COMPACTION_BETA = "compact-2026-01-12"
EXTENDED_WINDOW_BETA = "context-1m-2025-08-07"
EFFORT_BETA = "effort-2025-11-24"
CACHE_EDITS_BETA = "reverie-cache-edits-2026-01-01"
"""Our own name for an extension that no public endpoint offers; the simulator does."""
_NOT_COUNTED = ("max_tokens", "temperature", "stop_sequences", "metadata", "service_tier", "stream")
"""Fields that the counting endpoint does not take: they say how to answer, not what was asked."""


_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PLAIN: frozenset[type] = frozenset({Text, ToolUse, ToolResult})
_ROLES = {role: role.value for role in Role}


def request_body(request: Request) -> dict[str, Any]:
    """Build the JSON body, without `stream`; raises `BadRequest` for cache marks that no provider would take."""
    tools = [_without_marker(tool_to_wire(tool)) for tool in request.tools]
    system: list[dict[str, Any]] = [{"type": "text", "text": block.text} for block in request.system]
    messages = [_message(message) for message in request.messages]
    _place_marks(request.cache_marks, tools, system, messages)
    for message, wire in zip(request.messages, messages, strict=True):
        # Most messages hold nothing of the kind, and a long conversation has thousands.
        if message.role is Role.ASSISTANT and not _PLAIN.issuperset(map(type, message.content)):
            _drop_unsigned(wire)
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop_sequences:
        body["stop_sequences"] = list(request.stop_sequences)
    if request.thinking is not None:
        body["thinking"] = request.thinking
    if request.context_management is not None:
        body["context_management"] = request.context_management
    body.update(request.extra)
    if request.output_schema is not None:
        answer_format = {"type": "json_schema", "schema": request.output_schema}
        body["output_config"] = {**_object(body.get("output_config")), "format": answer_format}
    if request.effort:
        body["output_config"] = {**_object(body.get("output_config")), "effort": request.effort}
    if request.tool_choice is not None:
        body["tool_choice"] = request.tool_choice
    if tools:
        body["tools"] = tools
    if system:
        body["system"] = system
    body["messages"] = messages
    return body


def count_body(request: Request) -> dict[str, Any]:
    """The body of the question how many input tokens the request has."""
    return {key: value for key, value in request_body(request).items() if key not in _NOT_COUNTED}


def request_betas(request: Request) -> tuple[str, ...]:
    """The beta features that the request needs, those it names first, each once."""
    edits = _edit_kinds(request.context_management)
    needed = list(request.betas)
    # What the provider wrote or was told earlier stays in the conversation, whatever the settings say by now.
    blocks = [block for message in request.messages for block in message.content if type(block) not in _PLAIN]
    kinds = {block.kind for block in blocks if isinstance(block, Opaque)}
    if any(isinstance(block, CompactionBlock) for block in blocks) or any(
        kind.startswith("compact_") for kind in edits
    ):
        needed.append(COMPACTION_BETA)
    if any(not kind.startswith("compact_") for kind in edits):
        needed.append(CONTEXT_EDITS_BETA)
    if "cache_edits" in kinds:
        needed.append(CACHE_EDITS_BETA)
    if request.effort:
        needed.append(EFFORT_BETA)
    return tuple(dict.fromkeys(needed))


def encode_body(body: Mapping[str, Any]) -> bytes:
    """The bytes that go over the wire. Half characters, which tools sometimes print, become question marks."""
    try:
        return encode_json(body)
    except UnicodeEncodeError:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _message(message: Message) -> dict[str, Any]:
    return {"role": _ROLES[message.role], "content": [_block(block) for block in message.content]}


def _block(block: Block) -> dict[str, Any]:
    # A long request has thousands of these and little else; the way of the others takes three times as long.
    if type(block) is Text and not block.extra:
        return {"type": "text", "text": block.text}
    if type(block) is ToolUse and not block.extra:
        name = block.name if _TOOL_NAME.fullmatch(block.name) else _usable(block.name)
        return {"type": "tool_use", "id": call_id(block.id), "name": name, "input": block.input}
    if type(block) is ToolResult and not block.extra and not block.is_error and type(block.content) is str:
        return {"type": "tool_result", "tool_use_id": call_id(block.tool_use_id), "content": block.content}
    return _with_usable_names(_without_marker(block_to_wire(block)))


def call_id(name: str) -> str:
    """The id of a call as a provider takes it. Other programs write others; each stays the same in every request."""
    return name if _CALL_ID.fullmatch(name) else _usable(name)


def _usable(name: str) -> str:
    """A name of allowed characters that is as different from others as the name itself."""
    mark = hashlib.blake2s(name.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{re.sub(r'[^a-zA-Z0-9_-]+', '_', name)[:100]}_{mark}"


def _with_usable_names(wire: dict[str, Any]) -> dict[str, Any]:
    match wire:
        case {"type": "tool_use", "id": str(name)}:
            tool = str(wire.get("name", ""))
            return {**wire, "id": call_id(name), "name": tool if _TOOL_NAME.fullmatch(tool) else _usable(tool)}
        case {"type": "tool_result", "tool_use_id": str(name)}:
            return {**wire, "tool_use_id": call_id(name)}
        case {"type": "cache_edits", "edits": list(edits)}:
            named = [{**edit, "cache_reference": call_id(str(edit.get("cache_reference", "")))} for edit in edits]
            return {**wire, "edits": named}
        case _:
            return wire


def _without_marker(wire: dict[str, Any]) -> dict[str, Any]:
    """Markers that came with recorded content would be counted as breakpoints beside ours."""
    wire.pop("cache_control", None)
    parts = wire.get("content")
    if type(parts) is list and wire["type"] == "tool_result":
        wire["content"] = [_without_marker(dict(part)) for part in parts]
    return wire


def _drop_unsigned(message: dict[str, Any]) -> None:
    """Reasoning that another provider's model left unsigned would be refused."""
    message["content"] = [
        block for block in message["content"] if block.get("type") != "thinking" or block.get("signature")
    ]


def _place_marks(
    marks: Sequence[CacheMark],
    tools: list[dict[str, Any]],
    system: list[dict[str, Any]],
    messages: list[dict[str, Any]],
) -> None:
    if len(marks) > MAX_CACHE_MARKS:
        raise BadRequest(
            f"{len(marks)} cache marks: the provider takes {MAX_CACHE_MARKS}; leave out the shortest prefixes"
        )
    levels = {"tools": tools, "system": system, "messages": messages}
    for mark in marks:
        try:
            place = levels[mark.level][mark.index]
            if mark.level == "messages":
                place = _markable(place["content"], mark.block)
        except (KeyError, IndexError):
            raise BadRequest(f"{mark} points at nothing in this request") from None
        place["cache_control"] = {"type": "ephemeral"} if mark.ttl == "5m" else {"type": "ephemeral", "ttl": mark.ttl}


def _markable(content: list[dict[str, Any]], index: int) -> dict[str, Any]:
    """The block of that index, or the nearest before it that may carry a marker: reasoning and empty text may not."""
    last = range(len(content))[index]
    for place in range(last, -1, -1):
        block = content[place]
        if block.get("type") not in ("thinking", "redacted_thinking") and block.get("text") != "":
            return block
    raise IndexError


def _edit_kinds(context_management: Mapping[str, Any] | None) -> list[str]:
    edits = _object(context_management).get("edits")
    return [str(_object(edit).get("type", "")) for edit in edits] if isinstance(edits, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
