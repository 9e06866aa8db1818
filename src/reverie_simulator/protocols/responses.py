"""OpenAI's responses protocol: items instead of messages, events with names, exchanges held by the server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import count

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import MessageAnswer
from reverie_simulator.api_error import ApiError, invalid
from reverie_simulator.protocols.chat import blocks_of, openai_error, output_config, tool_choice
from reverie_simulator.protocols.foreign import (
    TokenCounts,
    TranslatedMessages,
    arguments_of,
    call_block,
    chunks_of,
    content_of,
)
from reverie_simulator.wire import encode, flag_at, number_at, object_at, objects_at, text_at

RESPONSES = "/v1/responses"
HELD_RESPONSES = 256


class ResponsesProtocol:
    """`POST /v1/responses`."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, list[JsonObject]] = OrderedDict()
        """The messages of an exchange by the id of the response that ends it."""

    def translate(self, path: str, body: JsonObject) -> JsonObject | ApiError:  # noqa: ARG002 - says nothing more
        conversation = TranslatedMessages()
        if instructions := text_at(body, "instructions"):
            conversation.tell({"type": "text", "text": instructions})
        previous = text_at(body, "previous_response_id")
        if previous and previous not in self._held:
            return invalid(f"Previous response with id '{previous}' not found.")
        conversation.messages.extend({**message} for message in self._held.get(previous, ()))
        given = body.get("input")
        if isinstance(given, str):
            conversation.ask(*blocks_of(given))
        for item in objects_at(body, "input"):
            _add(conversation, item)
        if lost := next(conversation.lost_results(), None):
            return invalid(f"No tool call found for function call output with call_id {lost}.")
        if unanswered := next(conversation.open_calls(), None):
            return invalid(f"No tool output found for function call {unanswered}.")
        if not conversation.messages and not conversation.system:
            return invalid("Missing required parameter: 'input'.")
        format_ = object_at(object_at(body, "text"), "format")
        return conversation.request(
            text_at(body, "model"),
            streams=flag_at(body, "stream"),
            max_tokens=number_at(body, "max_output_tokens"),
            tools=[dict(tool) for tool in _tools(objects_at(body, "tools"))],
            tool_choice=tool_choice(body.get("tool_choice")),
            output_config=output_config(format_, format_),
        )

    def hold(self, body: JsonObject, request: JsonObject, message: JsonObject) -> None:
        """Keep the conversation unless the request says that it is not to be stored."""
        if body.get("store") is False:
            return
        reply: JsonObject = {"role": "assistant", "content": message["content"]}
        self._held[_response_id(message)] = [*objects_at(request, "messages"), reply]
        if len(self._held) > HELD_RESPONSES:
            self._held.popitem(last=False)

    def reply(self, answer: MessageAnswer) -> JsonObject:
        return _response(
            answer, _status(answer), [_item(answer, at, block) for at, block in content_of(answer.message)]
        )

    def events(self, answer: MessageAnswer) -> Iterator[bytes]:
        numbers = count()

        def event(name: str, **fields: Json) -> bytes:
            data: dict[str, Json] = {"type": name, **fields, "sequence_number": next(numbers)}
            return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(data))

        opening = _response(answer, "in_progress", [])
        yield event("response.created", response=dict(opening))
        yield event("response.in_progress", response=dict(opening))
        for at, block in content_of(answer.message):
            item = _item(answer, at, block)
            yield event("response.output_item.added", output_index=at, item={**item, **_emptied(item)})
            place: dict[str, Json] = {"output_index": at, "item_id": item["id"]}
            for name, fields in _item_events(item):
                yield event(name, **place, **fields)
            yield event("response.output_item.done", output_index=at, item=dict(item))
        status = _status(answer)
        yield event(f"response.{status}", response=dict(self.reply(answer)))

    def error(self, error: ApiError, request_id: str) -> tuple[int, JsonObject]:  # noqa: ARG002 - goes in a header
        return openai_error(error)

    def error_event(self, error: ApiError, request_id: str) -> bytes:
        details = object_at(openai_error(error)[1], "error")
        failed: dict[str, Json] = {
            "id": request_id,
            "object": "response",
            "status": "failed",
            "error": {"code": details["code"] or "server_error", "message": details["message"]},
            "output": [],
        }
        return b"event: response.failed\ndata: %s\n\n" % encode(
            {"type": "response.failed", "sequence_number": 0, "response": failed}
        )


def _add(conversation: TranslatedMessages, item: JsonObject) -> None:
    match item.get("type", "message"):
        case "message":
            content = blocks_of(item.get("content"))
            match item.get("role"):
                case "system" | "developer":
                    conversation.tell(*content)
                case "assistant":
                    conversation.answer(*content)
                case _:
                    conversation.ask(*content)
        case "function_call":
            conversation.answer(_call(item, text_at(item, "arguments")))
        case "custom_tool_call":
            conversation.answer(_call(item, text_at(item, "input")))
        case "function_call_output" | "custom_tool_call_output":
            conversation.result(text_at(item, "call_id"), [dict(block) for block in blocks_of(item.get("output"))])
        case "reasoning":
            thinking = "\n".join(text_at(part, "text") for part in objects_at(item, "summary"))
            conversation.answer(
                {"type": "thinking", "thinking": thinking, "signature": text_at(item, "encrypted_content")}
            )
        case _:
            conversation.answer(item)


def _call(item: JsonObject, arguments: str) -> JsonObject:
    return call_block(text_at(item, "call_id"), text_at(item, "name"), arguments)


def _tools(tools: tuple[JsonObject, ...], namespace: str = "") -> Iterator[JsonObject]:
    """Every tool with its name; those of a namespace one by one."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _tools(objects_at(tool, "tools"), text_at(tool, "name"))
            continue
        read: dict[str, Json] = {
            "name": text_at(tool, "name") or text_at(tool, "type"),
            "description": text_at(tool, "description"),
            "input_schema": dict(object_at(tool, "parameters")),
        }
        if tool.get("type") == "custom":
            read["is_freeform"] = True
        if namespace:
            read["namespace"] = namespace
        yield read


def _response_id(message: JsonObject) -> str:
    return text_at(message, "id").replace("msg_", "resp_")


def _status(answer: MessageAnswer) -> str:
    return "incomplete" if _cut(answer) else "completed"


def _cut(answer: MessageAnswer) -> str:
    """Why the reply is not whole; empty when it is."""
    match answer.message.get("stop_reason"):
        case "max_tokens" | "model_context_window_exceeded":
            return "max_output_tokens"
        case "refusal":
            return "content_filter"
        case _:
            return ""


def _response(answer: MessageAnswer, status: str, output: list[JsonObject]) -> JsonObject:
    tokens, reason = TokenCounts(answer.message), _cut(answer)
    usage: dict[str, Json] = {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.total,
    }
    is_open = status == "in_progress"
    return {
        "id": _response_id(answer.message),
        "object": "response",
        "created_at": int(answer.when.timestamp()),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason and not is_open else None,
        "model": text_at(answer.message, "model"),
        "output": [dict(item) for item in output],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if is_open else usage,
    }


def _item(answer: MessageAnswer, at: int, block: JsonObject) -> JsonObject:
    """One item of the output."""
    number = f"{text_at(answer.message, 'id').removeprefix('msg_')}{at}"
    match block.get("type"):
        case "tool_use":
            return _call_item(answer, number, block)
        case "thinking":
            summary: dict[str, Json] = {"type": "summary_text", "text": text_at(block, "thinking")}
            sealed = text_at(block, "signature")
            return {"id": f"rs_{number}", "type": "reasoning", "summary": [summary], "encrypted_content": sealed}
        case _:
            content: dict[str, Json] = {"type": "output_text", "text": text_at(block, "text"), "annotations": []}
            content["logprobs"] = []
            status = _status(answer)
            return {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": status,
                "content": [content],
            }


def _call_item(answer: MessageAnswer, number: str, block: JsonObject) -> JsonObject:
    name = text_at(block, "name")
    tool = next((tool for tool in objects_at(answer.request, "tools") if tool.get("name") == name), {})
    item: dict[str, Json] = {"status": "completed", "call_id": text_at(block, "id"), "name": name}
    if namespace := text_at(tool, "namespace"):
        item["namespace"] = namespace
    if flag_at(tool, "is_freeform"):
        given = object_at(block, "input")
        text = text_at(given, "input") if "input" in given else arguments_of(block)
        return {"id": f"ctc_{number}", "type": "custom_tool_call", **item, "input": text}
    return {"id": f"fc_{number}", "type": "function_call", **item, "arguments": arguments_of(block)}


def _emptied(item: JsonObject) -> dict[str, Json]:
    """What is different of an item that has just begun."""
    match item["type"]:
        case "message":
            return {"content": [], "status": "in_progress"}
        case "function_call":
            return {"arguments": "", "status": "in_progress"}
        case "custom_tool_call":
            return {"input": "", "status": "in_progress"}
        case _:
            return {"summary": []}


def _item_events(item: JsonObject) -> Iterator[tuple[str, dict[str, Json]]]:
    """What fills an item, as names and fields."""
    match item["type"]:
        case "message":
            (part,) = objects_at(item, "content")
            text = text_at(part, "text")
            place: dict[str, Json] = {"content_index": 0}
            yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
            for piece in chunks_of(text):
                yield "response.output_text.delta", {**place, "delta": piece, "logprobs": []}
            yield "response.output_text.done", {**place, "text": text, "logprobs": []}
            yield "response.content_part.done", {**place, "part": dict(part)}
        case "reasoning":
            (part,) = objects_at(item, "summary")
            text = text_at(part, "text")
            place = {"summary_index": 0}
            yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
            for piece in chunks_of(text):
                yield "response.reasoning_summary_text.delta", {**place, "delta": piece}
            yield "response.reasoning_summary_text.done", {**place, "text": text}
            yield "response.reasoning_summary_part.done", {**place, "part": dict(part)}
        case "function_call":
            yield from _written("response.function_call_arguments", "arguments", text_at(item, "arguments"))
        case _:
            yield from _written("response.custom_tool_call_input", "input", text_at(item, "input"))


def _written(name: str, field: str, text: str) -> Iterator[tuple[str, dict[str, Json]]]:
    for piece in chunks_of(text):
        yield f"{name}.delta", {"delta": piece}
    yield f"{name}.done", {field: text}
