"""A local chat-completions server driven by a script, with the faults of real servers.

Each `Quirk` was seen in the wild. The server also refuses what real ones refuse: tool messages that answer no call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum, auto
from types import TracebackType
from typing import Any, Self, TypeAlias

from reverie.testing.loopback import Canned, LoopbackServer, ReceivedRequest, ResponseEnding
from reverie.values import value


class Quirk(Enum):
    """A way of bending the protocol."""

    NO_CALL_IDS = auto()
    SAME_CALL_IDS = auto()
    """Every call has the same id."""
    NO_INDEX = auto()
    INDEX_ZERO = auto()
    """Every call has index 0."""
    ARGUMENTS_AS_OBJECT = auto()
    BROKEN_ARGUMENTS = auto()
    """The last brace is missing."""
    OLD_FUNCTION_CALL = auto()
    """`function_call` instead of `tool_calls`."""
    NO_FINISH_REASON = auto()
    STOPS_AFTER_CALLS = auto()
    """The finish reason is `stop` although there are calls."""
    NO_USAGE = auto()
    NO_STREAM = auto()
    """One JSON object, although a stream was asked for."""
    NO_DONE = auto()
    """The closing `[DONE]` is missing."""
    REASONING_UNDER_OLD_NAME = auto()
    """`reasoning` instead of `reasoning_content`."""
    EMPTY = auto()
    """A stream without a single piece, as some servers send when something failed."""
    DROPPED = auto()
    """The connection breaks after the first words."""


@value
class ChatAnswer:
    """What the server's model says."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    finish_reason: str | None = None
    """None takes the right one."""
    prompt_tokens: int = 20
    cached_tokens: int = 0
    completion_tokens: int = 7
    quirks: frozenset[Quirk] = frozenset()


@value
class ChatFailure:
    """How the server fails."""

    status: int
    body: object
    """JSON, or text as it stands."""
    headers: Mapping[str, str] = field(default_factory=dict)
    in_stream: bool = False
    """Status 200 first, then the error as an event."""


ChatStep: TypeAlias = ChatAnswer | ChatFailure


class OpenAIServer:
    """`with OpenAIServer([ChatAnswer("hi")]) as server: … server.url … server.bodies`."""

    def __init__(
        self, steps: Iterable[ChatStep] | Callable[[Mapping[str, Any]], ChatStep], *, refuses: str = ""
    ) -> None:
        """Answer by the steps in order, or by a function of the body; a body with the field `refuses` gets a 400."""
        self._steps = steps if callable(steps) else iter(steps)
        self._refuses = refuses
        self._server = LoopbackServer(self._answer)
        self.bodies: list[dict[str, Any]] = []
        """What was asked, the newest last."""

    @property
    def url(self) -> str:
        """The address, without the `/v1` of the protocol."""
        return self._server.url

    @property
    def heard(self) -> list[ReceivedRequest]:
        """The requests with their headers."""
        return self._server.heard

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def _answer(self, heard: ReceivedRequest) -> Canned:
        body = json.loads(heard.body)
        self.bodies.append(body)
        if heard.path != "/v1/chat/completions":
            return _failed(ChatFailure(404, {"error": {"message": f"no such path: {heard.path}"}}))
        if complaint := self._complaint(body):
            return _failed(ChatFailure(400, {"error": {"message": complaint, "type": "invalid_request_error"}}))
        if callable(self._steps):
            step = self._steps(body)
        else:
            step = next(self._steps, ChatFailure(400, {"error": {"message": "the script is over"}}))
        return _failed(step) if isinstance(step, ChatFailure) else _answered(step, body)

    def _complaint(self, body: Mapping[str, Any]) -> str:
        if self._refuses and self._refuses in body:
            return f"Unrecognized request argument supplied: {self._refuses}"
        open_calls: set[str] = set()
        for message in body["messages"]:
            if message["role"] == "tool":
                if message["tool_call_id"] not in open_calls:
                    return "a message with role 'tool' must follow a message with its 'tool_calls'"
                open_calls.remove(message["tool_call_id"])
            elif open_calls:
                return f"tool calls without an answer: {sorted(open_calls)}"
            open_calls.update(call["id"] for call in message.get("tool_calls") or ())
        return ""


def _failed(failure: ChatFailure) -> Canned:
    text = failure.body if isinstance(failure.body, str) else json.dumps(failure.body)
    if failure.in_stream:
        return Canned(
            (_event(_chunk("m", {"content": "so far"})), b"data: " + text.encode() + b"\n\n"), headers=_STREAM
        )
    kind = "text/html" if isinstance(failure.body, str) else "application/json"
    return Canned((text.encode(),), failure.status, {"content-type": kind, **failure.headers})


_STREAM = {"content-type": "text/event-stream", "x-request-id": "req_chat"}


def _answered(answer: ChatAnswer, body: Mapping[str, Any]) -> Canned:
    model = str(body.get("model"))
    if Quirk.NO_STREAM in answer.quirks:
        return Canned((json.dumps(_whole(answer, model)).encode(),), headers={"content-type": "application/json"})
    pieces = [] if Quirk.EMPTY in answer.quirks else [_event(chunk) for chunk in _chunks(answer, model)]
    if Quirk.NO_DONE not in answer.quirks:
        pieces.append(b"data: [DONE]\n\n")
    if Quirk.DROPPED in answer.quirks:
        return Canned(tuple(pieces[:2]), headers=_STREAM, ending=ResponseEnding.DROPPED)
    return Canned(tuple(pieces), headers=_STREAM)


def _chunks(answer: ChatAnswer, model: str) -> Iterator[dict[str, Any]]:
    yield _chunk(model, {"role": "assistant", "content": ""})
    reasoning_name = "reasoning" if Quirk.REASONING_UNDER_OLD_NAME in answer.quirks else "reasoning_content"
    for piece in _halves(answer.reasoning):
        yield _chunk(model, {reasoning_name: piece})
    for piece in _halves(answer.text):
        yield _chunk(model, {"content": piece})
    for index, (name, arguments) in enumerate(answer.calls):
        for delta in _call_deltas(index, name, arguments, answer.quirks):
            yield _chunk(model, delta)
    yield _chunk(model, {}, _finish_reason(answer))
    if Quirk.NO_USAGE not in answer.quirks:
        yield {"id": "chat_1", "model": model, "choices": [], "usage": _usage(answer)}


def _call_deltas(
    index: int, name: str, arguments: Mapping[str, Any], quirks: frozenset[Quirk]
) -> Iterator[dict[str, Any]]:
    text = json.dumps(arguments)
    if Quirk.BROKEN_ARGUMENTS in quirks:
        text = text[:-1]
    if Quirk.OLD_FUNCTION_CALL in quirks:
        yield {"function_call": {"name": name, "arguments": text}}
        return
    head: dict[str, Any] = {"index": 0 if Quirk.INDEX_ZERO in quirks else index, "type": "function"}
    if Quirk.NO_INDEX in quirks:
        del head["index"]
    ids = {} if Quirk.NO_CALL_IDS in quirks else {"id": "same" if Quirk.SAME_CALL_IDS in quirks else f"call_{index}"}
    if Quirk.ARGUMENTS_AS_OBJECT in quirks:
        yield {"tool_calls": [{**head, **ids, "function": {"name": name, "arguments": dict(arguments)}}]}
        return
    first, rest = [*_halves(text), "", ""][:2]
    yield {"tool_calls": [{**head, **ids, "function": {"name": name, "arguments": first}}]}
    if rest:
        yield {"tool_calls": [{**head, "function": {"arguments": rest}}]}


def _whole(answer: ChatAnswer, model: str) -> dict[str, Any]:
    calls = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for index, (name, arguments) in enumerate(answer.calls)
    ]
    message = {"role": "assistant", "content": answer.text or None, "tool_calls": calls or None}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(answer)}
    return {"id": "chat_1", "model": model, "choices": [choice], "usage": _usage(answer)}


def _finish_reason(answer: ChatAnswer) -> str | None:
    if Quirk.NO_FINISH_REASON in answer.quirks:
        return None
    if answer.calls and Quirk.STOPS_AFTER_CALLS not in answer.quirks:
        return answer.finish_reason or "tool_calls"
    return answer.finish_reason or "stop"


def _usage(answer: ChatAnswer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens} if answer.cached_tokens else None,
    }


def _chunk(model: str, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chat_1", "object": "chat.completion.chunk", "model": model, "choices": [choice]}


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]
