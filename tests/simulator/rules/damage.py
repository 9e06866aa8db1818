"""Damaged requests and how their refusal is checked."""

from __future__ import annotations

from reverie.messages.blocks import Json
from tests.simulator.requests import provider, refusal, request


def content(*blocks: Json) -> dict[str, Json]:
    """One user message with exactly these blocks."""
    return request([{"role": "user", "content": list(blocks)}])


def without(key: str) -> dict[str, Json]:
    """A sound request that lacks one field."""
    body = request()
    del body[key]
    return body


def assert_refused(body: Json, words: str, *betas: str) -> None:
    """The request gets a 400 in the provider's wrapping; words that end with … are only a beginning."""
    error = refusal(provider(), body, *betas).error
    wrapped = error.as_json("req_1")
    assert wrapped["type"] == "error"
    assert wrapped["request_id"] == "req_1"
    assert wrapped["error"] == {"type": "invalid_request_error", "message": error.message}
    assert error.status == 400
    if words.endswith("…"):
        assert error.message.startswith(words[:-1]), error.message
    else:
        assert error.message == words
