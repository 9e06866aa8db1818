"""Answers of the Messages API as bytes, for a loopback server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    Interrupted,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.testing.loopback import Canned, ResponseEnding
from reverie.testing.model_contract import Outcome, Says

STREAM = {"content-type": "text/event-stream", "request-id": "req_1"}
USAGE = {"input_tokens": 12, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30, "output_tokens": 1}


def sse(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def events(blocks: Iterable[dict[str, Any]], stop_reason: str = "end_turn", **end: Any) -> Iterator[dict[str, Any]]:
    """A whole answer; each block is given as it looks when it is complete."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "usage": USAGE,
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    for index, block in enumerate(blocks):
        start, deltas = _pieces(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 9}, **end}
    yield {"type": "message_stop"}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            halves = block["text"][:3], block["text"][3:]
            return {**block, "text": ""}, [{"type": "text_delta", "text": half} for half in halves if half]
        case "thinking":
            said = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [said, signed]
        case "tool_use":
            text = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            pieces = [] if text == "{}" else [text[:4], text[4:]]
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case _:
            return block, []


def streamed(*wire_events: dict[str, Any], ending: ResponseEnding = ResponseEnding.WHOLE) -> Canned:
    return Canned(tuple(sse(event) for event in wire_events), headers=STREAM, ending=ending)


def failed(status: int, kind: str, message: str, **headers: str) -> Canned:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Canned(
        (json.dumps(body).encode(),), status, {"content-type": "application/json", "request-id": "req_1", **names}
    )


def canned(outcome: Outcome) -> Canned:
    """What the provider sends for an outcome of the contract."""
    if not isinstance(outcome, Says):
        return FAILURES[outcome.error]
    blocks: list[dict[str, Any]] = []
    if outcome.thinking:
        blocks.append({"type": "thinking", "thinking": outcome.thinking, "signature": "signed"})
    if outcome.text or not outcome.calls:
        blocks.append({"type": "text", "text": outcome.text})
    for number, (name, given) in enumerate(outcome.calls):
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": dict(given)})
    return streamed(*events(blocks, "tool_use" if outcome.calls else "end_turn"))


FAILURES: dict[type[Unavailable], Canned] = {
    ContextTooLong: failed(400, "invalid_request_error", "prompt is too long: 200251 tokens > 200000 maximum"),
    MediaTooLarge: failed(413, "request_too_large", "Request exceeds the maximum size"),
    RateLimited: failed(429, "rate_limit_error", "Slow down", retry_after="3"),
    Overloaded: failed(529, "overloaded_error", "Overloaded"),
    Unauthenticated: failed(401, "authentication_error", "invalid bearer token"),
    BadRequest: failed(400, "invalid_request_error", "messages.0: something is wrong"),
    Interrupted: streamed(
        *list(events([{"type": "text", "text": "half of it"}]))[:4],
        ending=ResponseEnding.DROPPED,
    ),
}
