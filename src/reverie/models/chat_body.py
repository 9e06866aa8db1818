"""Builds the body of a chat-completions request from a `Request`.

Pure. What the protocol has no word for is left out (reasoning, cache marks, context edits, tools that only one provider
has) or said in plain text (failed tools, a summary written by a provider, pictures that a tool returned).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reverie.messages.blocks import (
    Block,
    CompactionBlock,
    DocumentBlock,
    Image,
    JsonObject,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
)
from reverie.messages.codec import encode_json
from reverie.messages.entries import ToolSpec
from reverie.messages.message import Message, Role
from reverie.models.ports import Request

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_EFFORTS = {"xhigh": "high", "max": "high"}
"""Levels that only one provider has, as the nearest that all know."""
_MAX_STOPS = 4
"""The protocol takes no more."""


def chat_body(request: Request, *, limit_field: str = "max_tokens") -> dict[str, Any]:
    """Build the JSON body of a streamed chat completion."""
    body: dict[str, Any] = {"model": request.model, limit_field: request.max_tokens, "stream": True}
    body["stream_options"] = {"include_usage": True}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop_sequences:
        body["stop"] = list(request.stop_sequences[:_MAX_STOPS])
    if request.effort:
        body["reasoning_effort"] = _EFFORTS.get(request.effort, request.effort)
    if request.output_schema is not None:
        schema = {"name": "answer", "schema": request.output_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    tools = [_tool(tool) for tool in request.tools if "type" not in tool.extra or tool.input_schema]
    if tools:
        body["tools"] = tools
        body.update(_tool_choice(request.tool_choice))
    body.update(request.extra)
    body["messages"] = [*_system(request), *chat_messages(request.messages)]
    return body


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.input_schema or {"type": "object", "properties": {}}
    return {"type": "function", "function": function}


def _tool_choice(choice: JsonObject | None) -> dict[str, Any]:
    if choice is None:
        return {}
    fields: dict[str, Any] = {}
    if choice.get("type") == "tool":
        fields["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
    else:
        fields["tool_choice"] = _CHOICES.get(str(choice.get("type")), "auto")
    if choice.get("disable_parallel_tool_use") is True:
        fields["parallel_tool_calls"] = False
    return fields


def _system(request: Request) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": "\n\n".join(block.text for block in request.system)}


def chat_messages(messages: Iterable[Message]) -> Iterator[dict[str, Any]]:
    """The messages as the protocol writes them."""
    for message in messages:
        match message.role:
            case Role.ASSISTANT:
                yield _assistant(message)
            case Role.SYSTEM:
                yield {"role": "system", "content": message.text}
            case Role.USER:
                yield from _user(message)


def _assistant(message: Message) -> dict[str, Any]:
    # Never null, which the protocol allows beside calls and some servers refuse.
    wire: dict[str, Any] = {"role": "assistant", "content": "\n".join(_plain_texts(message.content))}
    if message.tool_uses:
        wire["tool_calls"] = [_call(use) for use in message.tool_uses]
    return wire


def _call(use: ToolUse) -> dict[str, Any]:
    arguments = encode_json(use.input).decode("utf-8")
    return {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": arguments}}


def _user(message: Message) -> Iterator[dict[str, Any]]:
    """Tool results go first, each as a message of its own: they must follow the calls they answer."""
    shown: list[Block] = []
    for result in message.tool_results:
        text = result.text
        if result.is_error:
            text = f"Error: {text}"
        yield {"role": "tool", "tool_call_id": result.tool_use_id, "content": text}
        if not isinstance(result.content, str):
            shown.extend(part for part in result.content if not isinstance(part, Text))
    shown.extend(block for block in message.content if not isinstance(block, ToolResult))
    parts = list(_parts(shown))
    if any(part["type"] != "text" for part in parts):
        yield {"role": "user", "content": parts}
    elif parts or not message.tool_results:
        # Many servers take only a string here.
        yield {"role": "user", "content": "\n".join(part["text"] for part in parts)}


def _plain_texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, CompactionBlock) and block.content:
            yield f"Summary of what was said before:\n{block.content}"


def _parts(blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        match block:
            case Image(source):
                yield _image(source)
            case DocumentBlock(source):
                yield _document(source)
            case Opaque(wire):
                if isinstance(text := wire.get("text"), str):
                    yield {"type": "text", "text": text}
            case _:
                for text in _plain_texts((block,)):
                    yield {"type": "text", "text": text}


def _image(source: Mapping[str, Any]) -> dict[str, Any]:
    match source.get("type"):
        case "url":
            return {"type": "image_url", "image_url": {"url": source.get("url")}}
        case "base64":
            return {"type": "image_url", "image_url": {"url": _data_url(source)}}
        case _:
            return {"type": "text", "text": "[a picture that this provider cannot be shown]"}


def _document(source: Mapping[str, Any]) -> dict[str, Any]:
    match source.get("type"):
        case "text":
            return {"type": "text", "text": str(source.get("data", ""))}
        case "base64":
            return {"type": "file", "file": {"filename": "document.pdf", "file_data": _data_url(source)}}
        case _:
            return {"type": "text", "text": "[a document that this provider cannot be shown]"}


def _data_url(source: Mapping[str, Any]) -> str:
    return f"data:{source.get('media_type')};base64,{source.get('data')}"
