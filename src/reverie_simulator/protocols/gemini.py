"""Gemini's protocol: `generateContent` whole and streamed."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import MessageAnswer
from reverie_simulator.api_error import ApiError, invalid
from reverie_simulator.protocols.foreign import (
    OVERLOADED,
    TokenCounts,
    TranslatedMessages,
    chunks_of,
    content_of,
    data_event,
    is_overflow,
    text_block,
    words_of,
)
from reverie_simulator.wire import encode, flag_at, number_at, object_at, objects_at, text_at, texts_at

GEMINI_MODELS = "/v1beta/models/"
"""What the addresses begin with; the model and the method follow."""
METHODS = ("generateContent", "streamGenerateContent")
GEMINI_WORDS = {
    401: "API key not valid. Please pass a valid API key.",
    402: "You exceeded your current quota, please check your plan and billing details.",
    429: "Resource has been exhausted (e.g. check quota).",
    500: "An internal error has occurred. Please retry.",
    503: "The model is overloaded. Please try again later.",
    OVERLOADED: "The model is overloaded. Please try again later.",
}
FINISH_REASONS = {"max_tokens": "MAX_TOKENS", "model_context_window_exceeded": "MAX_TOKENS", "refusal": "SAFETY"}
"""By the stop reason of the Messages API; every other is `STOP`."""


class GeminiProtocol:
    """`POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`."""

    def translate(self, path: str, body: JsonObject) -> JsonObject | ApiError:
        model, _, method = path.removeprefix(GEMINI_MODELS).partition(":")
        if method not in METHODS:
            return ApiError(404, f"The simulator has no method {method!r}; it has {' and '.join(METHODS)}.")
        if not objects_at(body, "contents"):
            return invalid("* GenerateContentRequest.contents: contents is not specified")
        messages = TranslatedMessages()
        messages.tell(*_texts(object_at(body, "systemInstruction") or object_at(body, "system_instruction")))
        calls = _Calls()
        for content in objects_at(body, "contents"):
            _add(messages, content, calls)
        if next(messages.lost_results(), None):
            return invalid(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        settings = object_at(body, "generationConfig")
        return messages.request(
            model,
            streams=method == "streamGenerateContent",
            max_tokens=number_at(settings, "maxOutputTokens"),
            tools=[dict(tool) for tool in _tools(body)],
            tool_choice=_tool_choice(body),
            stop_sequences=list(texts_at(settings, "stopSequences")),
            output_config=_output_config(settings),
        )

    def hold(self, body: JsonObject, request: JsonObject, message: JsonObject) -> None:
        """Nothing: every request brings the whole conversation."""

    def reply(self, answer: MessageAnswer) -> JsonObject:
        parts = [part for _, block in content_of(answer.message) if (part := _part(block))]
        return _response(answer, parts, is_last=True)

    def events(self, answer: MessageAnswer) -> Iterator[bytes]:
        for _, block in content_of(answer.message):
            for part in _pieces(_part(block)):
                yield data_event(_response(answer, [part], is_last=False))
        yield data_event(_response(answer, [{"text": ""}], is_last=True))

    def error(self, error: ApiError, request_id: str) -> tuple[int, JsonObject]:  # noqa: ARG002 - goes in a header
        status, name = _STATUSES.get(error.status, (error.status, "INVALID_ARGUMENT"))
        message = words_of(error, GEMINI_WORDS)
        if is_overflow(error):
            message = error.message.replace("prompt is too long:", "The input token count exceeds the maximum:")
        return status, {"error": {"code": status, "message": message, "status": name}}

    def error_event(self, error: ApiError, request_id: str) -> bytes:
        return data_event(self.error(error, request_id)[1])


_STATUSES: dict[int, tuple[int, str]] = {
    401: (400, "INVALID_ARGUMENT"),
    402: (429, "RESOURCE_EXHAUSTED"),
    403: (403, "PERMISSION_DENIED"),
    404: (404, "NOT_FOUND"),
    429: (429, "RESOURCE_EXHAUSTED"),
    500: (500, "INTERNAL"),
    503: (503, "UNAVAILABLE"),
    504: (504, "DEADLINE_EXCEEDED"),
    OVERLOADED: (503, "UNAVAILABLE"),
}


class _Calls:
    """Gives every call an id, and every result the id of its call; the protocol allows both to have none."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []
        self._count = 0

    def made(self, call: JsonObject) -> str:
        self._count += 1
        call_id = text_at(call, "id") or f"call_{self._count}"
        self._open.append((call_id, text_at(call, "name")))
        return call_id

    def answered(self, result: JsonObject) -> str:
        for call_id, name in self._open:
            if text_at(result, "id") in ("", call_id) and name == text_at(result, "name"):
                self._open.remove((call_id, name))
                return call_id
        return text_at(result, "id") or "no call"


def _texts(content: JsonObject) -> list[JsonObject]:
    return [text_block(text) for part in objects_at(content, "parts") if (text := text_at(part, "text"))]


def _add(messages: TranslatedMessages, content: JsonObject, calls: _Calls) -> None:
    is_model = content.get("role") == "model"
    blocks: list[JsonObject] = []
    for part in objects_at(content, "parts"):
        if result := object_at(part, "functionResponse"):
            messages.result(calls.answered(result), _result_content(object_at(result, "response")))
        elif call := object_at(part, "functionCall"):
            given = dict(object_at(call, "args"))
            blocks.append({"type": "tool_use", "id": calls.made(call), "name": text_at(call, "name"), "input": given})
        elif data := object_at(part, "inlineData"):
            source: JsonObject = {"type": "base64", "media_type": text_at(data, "mimeType"), "data": data.get("data")}
            blocks.append({"type": "image", "source": dict(source)})
        elif flag_at(part, "thought"):
            blocks.append({"type": "thinking", "thinking": text_at(part, "text"), "signature": ""})
        elif text := text_at(part, "text"):
            blocks.append(text_block(text))
    (messages.answer if is_model else messages.ask)(*blocks)


def _result_content(response: JsonObject) -> Json:
    """The text of a result, which stands under `output` by custom."""
    output = response.get("output", response.get("error"))
    if isinstance(output, str):
        return output
    return encode(response).decode()


def _tools(body: JsonObject) -> Iterator[JsonObject]:
    for tool in objects_at(body, "tools"):
        for declared in objects_at(tool, "functionDeclarations"):
            schema = object_at(declared, "parametersJsonSchema") or object_at(declared, "parameters")
            yield {
                "name": text_at(declared, "name"),
                "description": text_at(declared, "description"),
                "input_schema": dict(schema),
            }


def _tool_choice(body: JsonObject) -> dict[str, Json]:
    calling = object_at(object_at(body, "toolConfig"), "functionCallingConfig")
    match text_at(calling, "mode"):
        case "ANY":
            names = texts_at(calling, "allowedFunctionNames")
            return {"type": "tool", "name": names[0]} if names else {"type": "any"}
        case "NONE":
            return {"type": "none"}
        case _:
            return {}


def _output_config(settings: JsonObject) -> dict[str, Json]:
    if text_at(settings, "responseMimeType") != "application/json":
        return {}
    schema = object_at(settings, "responseJsonSchema") or object_at(settings, "responseSchema")
    return {"format": {"type": "json_schema", "schema": _lower_types(schema) or {"type": "object"}}}


def _lower_types(schema: JsonObject) -> dict[str, Json]:
    """A schema with the names of types as everybody else writes them."""
    read: dict[str, Json] = {}
    for key, inside in schema.items():
        if key == "type" and isinstance(inside, str):
            read[key] = inside.lower()
        elif isinstance(inside, dict):
            read[key] = _lower_types(inside)
        else:
            read[key] = inside
    return read


def _part(block: JsonObject) -> JsonObject | None:
    match block.get("type"):
        case "text":
            return {"text": text_at(block, "text")}
        case "thinking":
            return {"text": text_at(block, "thinking"), "thought": True}
        case "tool_use":
            call: dict[str, Json] = {"id": block.get("id"), "name": block.get("name"), "args": block.get("input")}
            return {"functionCall": call}
        case _:
            return None


def _pieces(part: JsonObject | None) -> Iterator[JsonObject]:
    if part is None:
        return
    if "functionCall" in part:
        yield part
    for piece in chunks_of(text_at(part, "text")):
        yield {**part, "text": piece}


def _response(answer: MessageAnswer, parts: list[JsonObject], *, is_last: bool) -> JsonObject:
    candidate: dict[str, Json] = {"content": {"role": "model", "parts": [dict(part) for part in parts]}, "index": 0}
    if is_last:
        candidate["finishReason"] = FINISH_REASONS.get(text_at(answer.message, "stop_reason"), "STOP")
    tokens = TokenCounts(answer.message)
    usage: dict[str, Json] = {
        "promptTokenCount": tokens.input,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "totalTokenCount": tokens.total,
    }
    if tokens.cached:
        usage["cachedContentTokenCount"] = tokens.cached
    if tokens.reasoning:
        usage["thoughtsTokenCount"] = tokens.reasoning
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": text_at(answer.message, "model"),
        "responseId": text_at(answer.message, "id"),
    }
