"""OpenAI's chat completions, which many other servers and programs speak too."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import MessageAnswer
from reverie_simulator.api_error import ApiError, invalid
from reverie_simulator.protocols.foreign import (
    OVERLOADED,
    TokenCounts,
    TranslatedMessages,
    arguments_of,
    call_block,
    chunks_of,
    content_of,
    data_event,
    image_block,
    is_overflow,
    text_block,
    words_of,
)
from reverie_simulator.wire import flag_at, number_at, object_at, objects_at, text_at, texts_at

CHAT_COMPLETIONS = "/v1/chat/completions"
FINISH_REASONS = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""By the stop reason of the Messages API; every other is `stop`."""
OPENAI_WORDS = {
    401: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY).",
    402: "You exceeded your current quota, please check your plan and billing details.",
    403: "You are not allowed to use this resource.",
    404: "The requested resource does not exist.",
    429: "Rate limit reached. Please try again later.",
    500: "The server had an error while processing your request. Sorry about that!",
    503: "The server is currently overloaded. Please try again later.",
    OVERLOADED: "The server is currently overloaded. Please try again later.",
}
OVERFLOW_WORDS = "Your input exceeds the context window of this model. Please adjust your input and try again."


class ChatProtocol:
    """`POST /v1/chat/completions`."""

    def translate(self, path: str, body: JsonObject) -> JsonObject | ApiError:  # noqa: ARG002 - says nothing more
        if not objects_at(body, "messages"):
            return invalid("Invalid 'messages': empty array. Expected an array with minimum length 1.")
        conversation = TranslatedMessages()
        for message in objects_at(body, "messages"):
            _add(conversation, message)
        if lost := next(conversation.lost_results(), None):
            return invalid(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                f"'tool_calls'. No call has the id '{lost}'."
            )
        if unanswered := ", ".join(conversation.open_calls()):
            return invalid(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {unanswered}"
            )
        stop = body.get("stop")
        return conversation.request(
            text_at(body, "model"),
            streams=flag_at(body, "stream"),
            max_tokens=number_at(body, "max_completion_tokens") or number_at(body, "max_tokens"),
            tools=[_tool(tool) for tool in objects_at(body, "tools")],
            tool_choice=tool_choice(body.get("tool_choice")),
            stop_sequences=[stop] if isinstance(stop, str) else list(texts_at(body, "stop")),
            output_config=output_config(
                object_at(body, "response_format"), object_at(object_at(body, "response_format"), "json_schema")
            ),
            stream_options=dict(object_at(body, "stream_options")),
        )

    def hold(self, body: JsonObject, request: JsonObject, message: JsonObject) -> None:
        """Nothing: every request brings the whole conversation."""

    def reply(self, answer: MessageAnswer) -> JsonObject:
        said = _said(answer)
        calls: list[Json] = [_call(block) for _, block in content_of(answer.message) if block.get("type") == "tool_use"]
        message: dict[str, Json] = {"role": "assistant", "content": said["text"] or None, "refusal": None}
        if said["thinking"]:
            message["reasoning_content"] = said["thinking"]
        if calls:
            message["tool_calls"] = calls
        choice: dict[str, Json] = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _finish_reason(answer),
        }
        return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer.message)}

    def events(self, answer: MessageAnswer) -> Iterator[bytes]:
        head = _head(answer, "chat.completion.chunk")
        yield data_event(_chunk(head, {"role": "assistant", "content": "", "refusal": None}))
        calls = 0
        for _, block in content_of(answer.message):
            match block.get("type"):
                case "text":
                    pieces = chunks_of(text_at(block, "text"))
                    yield from (data_event(_chunk(head, {"content": piece})) for piece in pieces)
                case "thinking":
                    pieces = chunks_of(text_at(block, "thinking"))
                    yield from (data_event(_chunk(head, {"reasoning_content": piece})) for piece in pieces)
                case "tool_use":
                    yield from (data_event(_chunk(head, delta)) for delta in _call_deltas(block, calls))
                    calls += 1
        yield data_event(_chunk(head, {}, _finish_reason(answer)))
        if flag_at(object_at(answer.request, "stream_options"), "include_usage"):
            yield data_event({**head, "choices": [], "usage": _usage(answer.message)})
        yield b"data: [DONE]\n\n"

    def error(self, error: ApiError, request_id: str) -> tuple[int, JsonObject]:  # noqa: ARG002 - goes in a header
        return openai_error(error)

    def error_event(self, error: ApiError, request_id: str) -> bytes:  # noqa: ARG002 - goes in a header
        return data_event(openai_error(error)[1])


def openai_error(error: ApiError) -> tuple[int, JsonObject]:
    """Status and body of an error in OpenAI's form."""
    status, kind, code = _KINDS.get(error.status, (error.status, "invalid_request_error", None))
    message = words_of(error, OPENAI_WORDS)
    if is_overflow(error):
        message, code = OVERFLOW_WORDS, "context_length_exceeded"
    return status, {"error": {"message": message, "type": kind, "param": None, "code": code}}


_KINDS: dict[int, tuple[int, str, str | None]] = {
    401: (401, "invalid_request_error", "invalid_api_key"),
    402: (429, "insufficient_quota", "insufficient_quota"),
    429: (429, "requests", "rate_limit_exceeded"),
    500: (500, "server_error", None),
    503: (503, "server_error", "server_is_overloaded"),
    504: (504, "server_error", None),
    OVERLOADED: (503, "server_error", "server_is_overloaded"),
}


def tool_choice(choice: Json) -> dict[str, Json]:
    """A tool choice in the form of the Messages API; empty when nothing was said."""
    match choice:
        case "required":
            return {"type": "any"}
        case "none" | "auto":
            return {"type": choice}
        case dict() if name := text_at(object_at(choice, "function"), "name") or text_at(choice, "name"):
            return {"type": "tool", "name": name}
        case _:
            return {}


def output_config(format_: JsonObject, holder: JsonObject) -> dict[str, Json]:
    """A demanded JSON format; `holder` is the object in which its schema stands."""
    match format_.get("type"):
        case "json_schema":
            return {"format": {"type": "json_schema", "schema": dict(object_at(holder, "schema"))}}
        case "json_object":
            return {"format": {"type": "json_schema", "schema": {"type": "object"}}}
        case _:
            return {}


def blocks_of(content: Json) -> list[JsonObject]:
    """The blocks of a message's content: a string, or parts of the chat or the responses protocol."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    parts = content if isinstance(content, list) else []
    return [block for part in parts if isinstance(part, dict) and (block := _block(part))]


def _block(part: JsonObject) -> JsonObject | None:
    match part.get("type"):
        case "text" | "input_text" | "output_text" | "summary_text":
            return text_block(text_at(part, "text"))
        case "refusal":
            return text_block(text_at(part, "refusal"))
        case "image_url":
            return image_block(text_at(object_at(part, "image_url"), "url"))
        case "input_image":
            return image_block(text_at(part, "image_url"))
        case _:
            return part


def _add(conversation: TranslatedMessages, message: JsonObject) -> None:
    content = blocks_of(message.get("content"))
    match message.get("role"):
        case "system" | "developer":
            conversation.tell(*content)
        case "assistant":
            conversation.answer(*_reasoning(message), *content, *_calls(message))
        case "tool":
            conversation.result(text_at(message, "tool_call_id"), [dict(block) for block in content])
        case _:
            conversation.ask(*content)


def _reasoning(message: JsonObject) -> Iterator[JsonObject]:
    if thinking := text_at(message, "reasoning_content"):
        yield {"type": "thinking", "thinking": thinking, "signature": ""}


def _calls(message: JsonObject) -> Iterator[JsonObject]:
    for call in objects_at(message, "tool_calls"):
        function, custom = object_at(call, "function"), object_at(call, "custom")
        name = text_at(function, "name") or text_at(custom, "name")
        yield call_block(text_at(call, "id"), name, text_at(function, "arguments") or text_at(custom, "input"))


def _tool(tool: JsonObject) -> dict[str, Json]:
    function = object_at(tool, "function") or object_at(tool, "custom")
    return {
        "name": text_at(function, "name") or text_at(tool, "type"),
        "description": text_at(function, "description"),
        "input_schema": dict(object_at(function, "parameters")),
    }


def _head(answer: MessageAnswer, kind: str) -> dict[str, Json]:
    return {
        "id": text_at(answer.message, "id").replace("msg_", "chatcmpl-"),
        "object": kind,
        "created": int(answer.when.timestamp()),
        "model": text_at(answer.message, "model"),
        "system_fingerprint": None,
        "service_tier": "default",
    }


def _chunk(head: JsonObject, delta: JsonObject, finish_reason: str | None = None) -> JsonObject:
    choice: JsonObject = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}
    return {**head, "choices": [dict(choice)]}


def _call(block: JsonObject) -> dict[str, Json]:
    function: dict[str, Json] = {"name": text_at(block, "name"), "arguments": arguments_of(block)}
    return {"id": text_at(block, "id"), "type": "function", "function": function}


def _call_deltas(block: JsonObject, index: int) -> Iterator[JsonObject]:
    opening: dict[str, Json] = {
        **_call(block),
        "index": index,
        "function": {"name": text_at(block, "name"), "arguments": ""},
    }
    yield {"tool_calls": [opening]}
    for piece in chunks_of(arguments_of(block)):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _said(answer: MessageAnswer) -> dict[str, str]:
    """Text and reasoning of a reply, each in one string."""
    return {
        kind: "".join(text_at(block, kind) for _, block in content_of(answer.message) if block.get("type") == kind)
        for kind in ("text", "thinking")
    }


def _finish_reason(answer: MessageAnswer) -> str:
    return FINISH_REASONS.get(text_at(answer.message, "stop_reason"), "stop")


def _usage(message: JsonObject) -> dict[str, Json]:
    tokens = TokenCounts(message)
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.total,
        "prompt_tokens_details": {"cached_tokens": tokens.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning, "audio_tokens": 0},
    }
