"""Conversations of OpenAI's protocols as a window reads them, and back: chat completions and responses.

Every message remembers the items it was made of. What the window leaves as it is goes out as those very items, byte for
byte; only what it reduced is written anew. Instructions in front, and whatever is no message, always stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reverie.context.client_messages import read_message
from reverie.messages.message import Message, Role
from reverie.messages.reminder import reminder
from reverie.models.chat_body import chat_messages
from reverie.values import value

Item = Mapping[str, Any]

_INSTRUCTIONS = ("system", "developer")


@value
class TranslatedConversation:
    """A conversation in the form of the Messages API, with the items behind each message."""

    system: tuple[str, ...]
    messages: tuple[dict[str, Any], ...]
    lead: tuple[Item, ...]
    """Instructions in front of the first message."""
    items: tuple[tuple[Item, ...], ...]
    """The items of each message."""

    def write(self, prepared: Sequence[Message], recalled: Mapping[int, str], dialect: Dialect) -> list[Item]:
        """What to send of it: the items of unchanged messages as they were, others written anew."""
        own = [read_message(message, number) for number, message in enumerate(self.messages)]
        written: list[list[Item]] = []
        last = len(own)
        for message in reversed(prepared):
            place = next(
                (number for number in range(last - 1, -1, -1) if _fits(message, own[number], recalled.get(number))),
                None,
            )
            if place is None:
                written.append(list(dialect.write(message)))
                continue
            last = place
            items = list(self.items[place])
            if recalled.get(place):
                items = dialect.append_text(items, recalled[place])
            written.append(items)
        return [*self.lead, *(item for items in reversed(written) for item in items)]


def _fits(message: Message, own: Message, recalled: str | None) -> bool:
    """Whether a message of the window is one of the caller, with what was recalled behind it."""
    if message == own:
        return not recalled
    if not recalled or message.role is not own.role:
        return False
    return len(message.content) == len(own.content) + 1 and message.content[:-1] == own.content


class Dialect:
    """How one protocol writes a conversation."""

    text_part = "text"

    def read(self, body: Mapping[str, Any]) -> TranslatedConversation:
        """The conversation of a request."""
        raise NotImplementedError

    def write(self, message: Message) -> Iterator[Item]:
        """A message that the window wrote."""
        raise NotImplementedError

    def append_text(self, items: Sequence[Item], text: str) -> list[Item]:
        """The items of a message of the user, with a text behind it."""
        last = dict(items[-1])
        content = last.get("content") or ""
        if isinstance(content, str):
            # Many servers take only a string here.
            last["content"] = f"{content}\n\n{text}"
        else:
            last["content"] = [*content, {"type": self.text_part, "text": text}]
        return [*items[:-1], last]


class ChatDialect(Dialect):
    """Chat completions."""

    def read(self, body: Mapping[str, Any]) -> TranslatedConversation:
        messages = [dict(message) for message in body.get("messages") or ()]
        return _translate(messages, _read_chat)

    def write(self, message: Message) -> Iterator[Item]:
        yield from chat_messages((message,))


class ResponsesDialect(Dialect):
    """Responses."""

    text_part = "input_text"

    def read(self, body: Mapping[str, Any]) -> TranslatedConversation:
        given = body.get("input") or ()
        items = [{"role": "user", "content": given}] if isinstance(given, str) else [dict(item) for item in given]
        translated = _translate(items, _read_response_item)
        instructions = body.get("instructions")
        return (
            TranslatedConversation(
                (str(instructions), *translated.system), translated.messages, translated.lead, translated.items
            )
            if instructions
            else translated
        )

    def write(self, message: Message) -> Iterator[Item]:
        for wire in chat_messages((message,)):
            yield from _to_response_items(wire)


def read_tools(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """The tools of either protocol as the Messages API names them, to weigh them; they are sent as they were."""
    read = []
    for tool in tools:
        spec = tool.get("function") if isinstance(tool.get("function"), Mapping) else tool
        schema = spec.get("parameters") or {"type": "object", "properties": {}}
        name = str(spec.get("name") or tool.get("type") or "tool")
        read.append({"name": name, "description": str(spec.get("description") or ""), "input_schema": schema})
    return read


def _translate(items: Sequence[Item], read: Any) -> TranslatedConversation:
    """Join the items of each side into messages that take turns."""
    lead: list[Item] = []
    messages: list[dict[str, Any]] = []
    sources: list[list[Item]] = []
    for item in items:
        if not messages and item.get("role") in _INSTRUCTIONS:
            lead.append(item)
            continue
        role, blocks = read(item)
        if messages and (messages[-1]["role"] == role or not blocks):
            messages[-1]["content"] += blocks
            sources[-1].append(item)
        elif blocks:
            messages.append({"role": role, "content": list(blocks)})
            sources.append([item])
        else:
            lead.append(item)
    system = tuple(_plain_text(item.get("content")) for item in lead)
    return TranslatedConversation(system, tuple(messages), tuple(lead), tuple(map(tuple, sources)))


def _read_chat(message: Item) -> tuple[str, list[dict[str, Any]]]:
    role, content = message.get("role"), message.get("content")
    if role in ("tool", "function"):
        result = {"type": "tool_result", "tool_use_id": str(message.get("tool_call_id") or message.get("name"))}
        return "user", [{**result, "content": _plain_text(content)}]
    if role in _INSTRUCTIONS:
        return "user", [_text(reminder(_plain_text(content)))]
    blocks = _read_parts(content)
    if role != "assistant":
        return "user", blocks
    if message.get("refusal"):
        blocks.append(_text(str(message["refusal"])))
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call.get("custom") or {}
        arguments = function.get("arguments", function.get("input", ""))
        blocks.append(_call(str(call.get("id")), str(function.get("name")), arguments))
    return "assistant", blocks or [_text("(no text)")]


def _read_response_item(item: Item) -> tuple[str, list[dict[str, Any]]]:
    kind = str(item.get("type") or "message")
    if kind == "message":
        return _read_chat(item)
    if kind.endswith("_call_output"):
        result = {"type": "tool_result", "tool_use_id": str(item.get("call_id"))}
        return "user", [{**result, "content": _plain_text(item.get("output"))}]
    if kind in ("function_call", "custom_tool_call"):
        arguments = item.get("arguments", item.get("input", ""))
        return "assistant", [_call(str(item.get("call_id")), str(item.get("name")), arguments)]
    if kind == "reasoning":
        return "assistant", [_text(" ".join(_plain_text(item.get("summary")).split()) or "(reasoning)")]
    return "assistant", [_text(json.dumps(dict(item), default=str, ensure_ascii=False))]


def _read_parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [_text(content)] if content else []
    return [block for part in content or () if (block := _read_part(part)) is not None]


def _read_part(part: Any) -> dict[str, Any] | None:
    if isinstance(part, str):
        return _text(part)
    url = part.get("image_url")
    address = url.get("url") if isinstance(url, Mapping) else url
    if isinstance(address, str):
        head, comma, data = address.partition(",")
        if head.startswith("data:") and comma:
            source = {"type": "base64", "media_type": head[5:].partition(";")[0], "data": data}
        else:
            source = {"type": "url", "url": address}
        return {"type": "image", "source": source}
    text = part.get("text", part.get("refusal"))
    return _text(str(text)) if text else _text(f"({part.get('type', 'attachment')})")


def _call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    try:
        fields = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        fields = {"input": arguments}
    return {"type": "tool_use", "id": call_id, "name": name, "input": fields}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _plain_text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Mapping):
        return str(content.get("text", content.get("refusal", "")))
    return "\n".join(_plain_text(part) for part in content)


def _to_response_items(message: Item) -> Iterator[Item]:
    """A chat message as items of the responses protocol."""
    role, content = message["role"], message.get("content")
    if role == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": content}
        return
    if role == Role.ASSISTANT.value:
        if content:
            yield {"role": "assistant", "content": content}
        for call in message.get("tool_calls") or ():
            function = call["function"]
            fields = {"call_id": call["id"], "name": function["name"], "arguments": function["arguments"]}
            yield {"type": "function_call", **fields}
        return
    if isinstance(content, str):
        yield {"role": role, "content": content}
    else:
        yield {"role": role, "content": [_to_input_part(part) for part in content or ()]}


def _to_input_part(part: Item) -> Item:
    match part.get("type"):
        case "image_url":
            return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
        case "file":
            return {"type": "input_file", **part["file"]}
        case _:
            return {"type": "input_text", "text": part.get("text", "")}
