"""A reply as the events of a stream, in the provider's order and shapes."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.wire import encode, text_at

CHUNK_CHARS = 24
"""How much of a text one event carries."""


@value
class ServerEvent:
    """One event of a stream."""

    name: str
    data: JsonObject

    def encode(self) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), encode(self.data))


def events_of(message: JsonObject, opening_usage: JsonObject, final_usage: JsonObject) -> Iterator[ServerEvent]:
    """The stream of one complete message."""
    blocks = message.get("content")
    empty: dict[str, Json] = {**message, "content": [], "stop_reason": None, "usage": dict(opening_usage)}
    empty["stop_sequence"] = None
    management = empty.pop("context_management", None)
    yield _event("message_start", {"message": empty})
    for index, block in enumerate(blocks if isinstance(blocks, list) else []):
        if not isinstance(block, dict):
            continue
        start, *rest = _block_events(block, index)
        yield start
        if index == 0:
            yield ServerEvent("ping", {"type": "ping"})
        yield from rest
    delta: dict[str, Json] = {"stop_reason": message.get("stop_reason"), "stop_sequence": message.get("stop_sequence")}
    if "stop_details" in message:
        delta["stop_details"] = message["stop_details"]
    closing: dict[str, Json] = {"delta": delta, "usage": dict(final_usage)}
    if management is not None:
        closing["context_management"] = management
    yield _event("message_delta", closing)
    yield _event("message_stop", {})


def error_event(error: JsonObject) -> ServerEvent:
    """An error that comes after the reply has begun."""
    return ServerEvent("error", error)


def _block_events(block: JsonObject, index: int) -> Iterator[ServerEvent]:
    empty, deltas = _parts(block)
    yield _event("content_block_start", {"index": index, "content_block": dict(empty)})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": dict(delta)})
    yield _event("content_block_stop", {"index": index})


def _parts(block: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """A block as it opens, and what fills it."""
    match block.get("type"):
        case "text":
            return {**block, "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in _chunks(text_at(block, "text"))
            ]
        case "thinking":
            deltas: list[JsonObject] = [
                {"type": "thinking_delta", "thinking": piece} for piece in _chunks(text_at(block, "thinking"))
            ]
            deltas.append({"type": "signature_delta", "signature": text_at(block, "signature")})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use" | "server_tool_use":
            written = encode(block.get("input")).decode()
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in ("", *_chunks(written))
            ]
        case "compaction":
            return {**block, "content": None}, [{"type": "compaction_delta", "content": block.get("content")}]
        case _:
            return block, []


def _chunks(text: str) -> Iterator[str]:
    for start in range(0, len(text), CHUNK_CHARS):
        yield text[start : start + CHUNK_CHARS]


def _event(name: str, fields: dict[str, Json]) -> ServerEvent:
    return ServerEvent(name, {"type": name, **fields})
