"""What providers say when they fail, and what we make of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.models.faults import ProviderName, fault, read_failure
from tests.requirements import requirement

PROVIDER = ProviderName("https://example.test")


def said(status: int | None, body: object, headers: Mapping[str, str] | None = None) -> Unavailable:
    return fault(read_failure(status, body, headers or {}), PROVIDER)


@requirement("models:errors:tree")
@pytest.mark.parametrize(
    ("status", "text", "used", "limit"),
    [
        (400, "prompt is too long: 200251 tokens > 200000 maximum", 200251, 200000),
        (
            400,
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            209573,
            200000,
        ),
        (413, "prompt is too long: 1,050,000 tokens > 1,000,000 maximum", 1050000, 1000000),
        (
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 10234 tokens.",
            10234,
            8192,
        ),
        (
            400,
            "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in messages)",
            6616,
            6048,
        ),
        (
            400,
            "You passed 5001 input tokens and requested 100 output tokens. However, the context length is only 4096",
            5101,
            4096,
        ),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096.", 9000, 4096),
        (400, "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it", 4390, 4096),
        (400, "the request exceeds the available context size, try increasing it", None, None),
        (500, "Context size has been exceeded.", None, None),
        (500, "Requested tokens (2285) exceed context window of 2048", 2285, 2048),
        (
            400,
            "Trying to keep the first 5000 tokens when context the overflows. However, the context length is only 4096",
            5000,
            4096,
        ),
        (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 40000, 32768),
        (
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1200000,
            1048576,
        ),
        (429, "Request too large for m on tokens per min (TPM): Limit 30000, Requested 35000.", 35000, 30000),
        (400, "the input length exceeds the context length", None, None),
        (None, "prompt is too long: 300 tokens > 200 maximum", 300, 200),
    ],
)
def test_a_request_that_does_not_fit_is_recognised_with_its_gap(
    status: int | None, text: str, used: int | None, limit: int | None
) -> None:
    error = said(status, {"error": {"message": text}})

    assert isinstance(error, ContextTooLong)
    assert (error.used_tokens, error.limit_tokens) == (used, limit)
    assert error.gap_tokens == (None if used is None or limit is None else used - limit)


@requirement("models:errors:tree")
@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error"])
def test_a_name_for_it_is_enough(code: str) -> None:
    assert type(said(400, {"error": {"message": "Please shorten it.", "code": code}})) is ContextTooLong
    assert type(said(400, {"error": {"message": "Please shorten it.", "type": code}})) is ContextTooLong


@requirement("models:errors:tree")
@pytest.mark.parametrize(
    ("status", "kind", "text", "error"),
    [
        (413, "request_too_large", "Request exceeds the maximum size", MediaTooLarge),
        (413, "", "Payload Too Large", MediaTooLarge),
        (
            400,
            "invalid_request_error",
            "messages.0: image exceeds 5 MB maximum: 5316852 > 5242880 bytes",
            MediaTooLarge,
        ),
        (400, "invalid_request_error", "At least one of the image dimensions exceed max allowed size", MediaTooLarge),
        (400, "invalid_request_error", "A maximum of 100 PDF pages may be provided", MediaTooLarge),
        (429, "rate_limit_error", "would exceed the rate limit of 40,000 input tokens per minute", RateLimited),
        (529, "overloaded_error", "Overloaded", Overloaded),
        (500, "api_error", "Internal server error", Overloaded),
        (502, "", "<html>Bad gateway</html>", Overloaded),
        (504, "timeout_error", "took too long", Overloaded),
        (408, "", "Request timeout", Overloaded),
        (401, "authentication_error", "invalid bearer token", Unauthenticated),
        (402, "billing_error", "payment needed", Unauthenticated),
        (403, "permission_error", "not yours", Unauthenticated),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", Unauthenticated),
        (429, "insufficient_quota", "You exceeded your current quota", Unauthenticated),
        (404, "not_found_error", "model: claude-x", BadRequest),
        (400, "invalid_request_error", "messages.1: tool_use ids without tool_result", BadRequest),
        (422, "", "field required", BadRequest),
        (None, "overloaded_error", "Overloaded", Overloaded),
        (None, "rate_limit_error", "Slow down", RateLimited),
        (None, "invalid_request_error", "no", BadRequest),
        (None, "from_the_future", "?", Overloaded),
        (200, "api_error", "an error after the headers", Overloaded),
    ],
)
def test_every_failure_becomes_what_a_caller_acts_on(
    status: int | None, kind: str, text: str, error: type[Unavailable]
) -> None:
    body = {"type": "error", "error": {"type": kind, "message": text}}

    assert type(said(status, body)) is error


@requirement("models:errors:tree")
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "the words", "type": "x"}},
        {"error": "the words"},
        {"object": "error", "message": "the words", "code": 400},
        {"detail": "the words"},
        {"detail": [{"loc": ["body"], "msg": "the words"}]},
        "the words",
        "<html>\n the words \n</html>",
    ],
)
def test_the_words_are_found_in_every_usual_shape(body: object) -> None:
    assert "the words" in str(said(400, body))


@requirement("models:errors:tree")
@pytest.mark.parametrize("body", [None, "", {}, [], {"error": None}, {"error": {"message": None}}, 7])
def test_a_failure_without_words_still_has_a_message(body: object) -> None:
    assert "503" in str(said(503, body))


@requirement("models:retry:waits")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:28:10 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_waiting_time_is_read_in_every_form(headers: Mapping[str, str], seconds: float | None) -> None:
    assert said(429, {"error": {"message": "slow"}}, headers).retry_after_seconds == seconds
    assert said(503, {"error": {"message": "slow"}}, headers).retry_after_seconds == seconds


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "message", "type", "code"]), inner)
    ),
    max_leaves=6,
)


@requirement("models:errors:tree")
@given(st.none() | st.integers(200, 599), json_values)
def test_no_answer_is_too_strange_to_be_understood_as_some_failure(status: int | None, body: Any) -> None:
    assert str(said(status, body))


@requirement("models:errors:no-key")
@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12, max_size=60), st.integers(400, 599))
def test_a_secret_is_never_in_a_message(secret: str, status: int) -> None:
    provider = ProviderName("https://example.test", (f"{secret}\n", ""))
    error = fault(read_failure(status, {"error": {"message": f"key {secret} in {secret}"}}, {}), provider)

    assert secret not in str(error)
    assert secret not in repr(provider)
