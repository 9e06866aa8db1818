"""Short builders for tests: messages, calls, tools, requests and replies in one line each."""

from __future__ import annotations

from typing import Any

from reverie.messages.blocks import Block, Image, Json, Text, ToolResult, ToolUse
from reverie.messages.entries import SystemBlock, ToolSpec
from reverie.messages.message import Message, Usage, assistant, user
from reverie.models.ports import Reply, Request

__all__ = ["assistant", "picture", "reply", "request", "system", "tool", "tool_call", "tool_result", "user"]

ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
"""A picture of one grey dot."""


def tool_call(name: str, id: str = "call_1", **parameters: Json) -> ToolUse:  # noqa: A002 — the provider's own word
    """The model asks for a tool: `tool_call("read", path="a.py")`."""
    return ToolUse(id, name, parameters)


def tool_result(call: ToolUse | str, *content: str | Text | Image, is_error: bool = False) -> ToolResult:
    """The answer to a call, or to the call of that id; one string stays a string."""
    id = call if isinstance(call, str) else call.id  # noqa: A001 — the provider's own word
    if len(content) == 1 and isinstance(content[0], str):
        return ToolResult(id, content[0], is_error)
    return ToolResult(id, tuple(Text(part) if isinstance(part, str) else part for part in content), is_error)


def picture(data: str = ONE_PIXEL, media_type: str = "image/png") -> Image:
    """A picture that travels inside the message."""
    return Image({"type": "base64", "media_type": media_type, "data": data})


def tool(name: str, description: str = "", **parameters: str) -> ToolSpec:
    """A tool whose parameters are all required: `tool("read", path="string")`."""
    properties: Json = {key: {"type": kind} for key, kind in parameters.items()}
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": list(parameters)})


def system(*texts: str) -> tuple[SystemBlock, ...]:
    """The system text, one block per string."""
    return tuple(SystemBlock(text) for text in texts)


def request(*messages: Message | str, model: str = "claude-sonnet-4-5", **fields: Any) -> Request:
    """A request; strings are messages of the user."""
    conversation = tuple(user(message) if isinstance(message, str) else message for message in messages)
    return Request(model, conversation or (user("hello"),), **fields)


def reply(*content: str | Block, stop_reason: str | None = None, usage: Usage | None = None) -> Reply:
    """A complete answer; it stops for its tool calls when it has some."""
    message = assistant(*content)
    usual = "tool_use" if message.tool_uses else "end_turn"
    return Reply(message, usage or Usage(input_tokens=10, output_tokens=5), stop_reason or usual, "scripted")
