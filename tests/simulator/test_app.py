"""The simulator over plain HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.rules.headers import REQUEST_BYTES_MAX
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, HEADERS, WORDS, headers, request, user


@pytest.fixture
def sim() -> Iterator[RunningSimulator]:
    with simulator() as running:
        yield running


class Reply:
    """A response that was read to its end."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def send(
    sim: RunningSimulator,
    method: str,
    path: str,
    body: object = None,
    *,
    with_headers: Mapping[str, str] = HEADERS,
) -> Reply:
    connection = http.client.HTTPConnection(urlsplit(sim.base_url).netloc, timeout=60)
    content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    connection.request(method, path, content, dict(with_headers))
    try:
        return Reply(connection.getresponse())
    finally:
        connection.close()


def post(sim: RunningSimulator, body: object, *, with_headers: Mapping[str, str] = HEADERS) -> Reply:
    return send(sim, "POST", "/v1/messages", body, with_headers=with_headers)


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(
    ("sent", "status", "kind", "message"),
    [
        ({"anthropic-version": "2023-06-01"}, 401, "authentication_error", "x-api-key header is required"),
        ({"x-api-key": ""}, 401, "authentication_error", "x-api-key header is required"),
        ({"x-api-key": "k"}, 400, "invalid_request_error", "anthropic-version: header is required"),
        (
            {"x-api-key": "k", "anthropic-version": "latest"},
            400,
            "invalid_request_error",
            'anthropic-version: "latest" is not a valid version',
        ),
        (
            {**HEADERS, "anthropic-beta": "invalid-beta-name,context-1m-2025-08-07"},
            400,
            "invalid_request_error",
            (
                "Unexpected value(s) `invalid-beta-name` for the `anthropic-beta` header. Please consult our "
                "documentation at platform.claude.com/docs or try again without the header."
            ),
        ),
    ],
)
def test_headers_are_checked_first(
    sim: RunningSimulator, sent: dict[str, str], status: int, kind: str, message: str
) -> None:
    reply = post(sim, b"{no json", with_headers=sent)

    assert reply.status == status
    assert reply.json["type"] == "error"
    assert reply.json["error"] == {"type": kind, "message": message}
    assert reply.json["request_id"] == reply.headers["request-id"]


@requirement("simulator:rules:error-shapes")
def test_a_bearer_token_is_a_key_too(sim: RunningSimulator) -> None:
    sent = {"authorization": "Bearer something", "anthropic-version": "2023-06-01"}

    assert post(sim, request(), with_headers=sent).status == 200


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "unexpected end of data: line 1 column 1 (char 0)"),
        (b"{", "unexpected end of data: line 1 column 2 (char 1)"),
        (b"{'a': 1}", "unexpected character: line 1 column 2 (char 1)"),
        (b'{"a": 1,\n "b" 2}', "unexpected character: line 2 column 6 (char 14)"),
        (b'{"a": 1} x', "unexpected content after document: line 1 column 10 (char 9)"),
        (b'{"a": "\\ud83d"}', "no low surrogate in string: line 1 column 8 (char 7)"),
        (b'{"a": "\\\\ud83d", "b": "\\udc00"}', "no low surrogate in string: line 1 column 24 (char 23)"),
        (b'{"a": "\xff"}', "str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)"),
    ],
)
def test_a_body_that_is_no_json_says_where(sim: RunningSimulator, body: bytes, words: str) -> None:
    reply = post(sim, body)

    assert reply.status == 400
    assert reply.json["error"] == {
        "type": "invalid_request_error",
        "message": f"The request body is not valid JSON: {words}",
    }


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/v1/nothing", 404, "not_found_error"),
        ("GET", "/v1/messages", 405, "invalid_request_error"),
        ("POST", "/v1/complete", 404, "not_found_error"),
    ],
)
def test_other_addresses_get_errors_of_the_same_shape(
    sim: RunningSimulator, method: str, path: str, status: int, kind: str
) -> None:
    reply = send(sim, method, path)

    assert (reply.status, reply.json["error"]["type"]) == (status, kind)
    assert reply.json["request_id"] == reply.headers["request-id"]


@requirement("simulator:rules:sizes")
def test_a_body_over_32_megabytes_is_refused_before_it_is_read(sim: RunningSimulator) -> None:
    connection = http.client.HTTPConnection(urlsplit(sim.base_url).netloc, timeout=60)
    connection.putrequest("POST", "/v1/messages")
    for name, value in {**HEADERS, "content-length": str(REQUEST_BYTES_MAX + 1)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    reply = Reply(connection.getresponse())
    connection.close()

    assert reply.status == 413
    assert reply.json["error"] == {"type": "request_too_large", "message": "Request exceeds the maximum size"}


@requirement("simulator:rules:sizes")
def test_a_body_that_grows_over_32_megabytes_is_refused_too(sim: RunningSimulator) -> None:
    connection = http.client.HTTPConnection(urlsplit(sim.base_url).netloc, timeout=60)
    chunks = (b"x" * 1_000_000 for _ in range(34))
    connection.request("POST", "/v1/messages", chunks, dict(HEADERS), encode_chunked=True)
    reply = Reply(connection.getresponse())
    connection.close()

    assert reply.status == 413


@requirement("simulator:rules:sizes")
@pytest.mark.parametrize(
    ("model", "size", "message"),
    [
        ("claude-haiku-4-5", 250_000, "prompt is too long: {used} tokens > 200000 maximum"),
        (
            "claude-opus-4-1",
            180_000,
            (
                "input length and `max_tokens` exceed context limit: {used} + 32000 > 200000, decrease input length or "
                "`max_tokens` and try again"
            ),
        ),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused_with_its_size(
    sim: RunningSimulator, model: str, size: int, message: str
) -> None:
    body = request([user("word " * int(size / 1.1 / sim.simulation.provider.counter.skew))], model=model)
    del body["max_tokens"]
    used = send(sim, "POST", "/v1/messages/count_tokens", body).json["input_tokens"]

    reply = post(sim, {**body, "max_tokens": 32_000})

    assert used == pytest.approx(size, rel=0.01)
    assert reply.json["error"]["message"] == message.format(used=used)


@requirement("simulator:rules:sizes")
def test_newer_models_stop_at_the_windows_end_instead(sim: RunningSimulator) -> None:
    skew = sim.simulation.provider.counter.skew
    body = request([user("word " * int(199_990 / 1.1 / skew))], model="claude-haiku-4-5", max_tokens=64_000)
    sim.simulation.use_script(lambda _: None)

    reply = post(sim, body)

    assert reply.json["stop_reason"] == "model_context_window_exceeded"


@requirement("simulator:rules:sizes")
def test_a_header_widens_the_window_of_an_older_model(sim: RunningSimulator) -> None:
    body = request([user("word " * 250_000)], model="claude-sonnet-4-5")

    assert post(sim, body).status == 400
    assert post(sim, body, with_headers=headers("context-1m-2025-08-07")).status == 200


@requirement("simulator:rules:error-shapes")
def test_an_overload_names_its_waiting_time_in_a_header(sim: RunningSimulator) -> None:
    send(sim, "POST", "/_sim/actions", {"fault": {"kind": "rate_limit", "retry_after": 12}})

    reply = post(sim, request())

    assert reply.status == 429
    assert reply.headers["retry-after"] == "12"
    assert "x-should-retry" not in reply.headers


@requirement("simulator:cache:explains-itself")
def test_it_tells_what_was_cached_and_why_not(sim: RunningSimulator) -> None:
    body = request([user(WORDS * 200)], cache_control=dict(EPHEMERAL))
    post(sim, body)
    post(sim, body)
    post(sim, {**body, "system": "another"})

    listed = send(sim, "GET", "/_sim/requests").json
    last = send(sim, "GET", "/_sim/requests/last/cache").json
    second = send(sim, "GET", f"/_sim/requests/{listed[1]['request_id']}").json

    assert [entry["cache"][0]["breakpoints"][0]["hit"] for entry in listed] == [False, True, False]
    assert last[0]["breakpoints"][0]["miss"]["reason"] == "changed"
    assert last[0]["change"] == {"level": "system", "same_blocks": 0, "path": "system.0", "settings": []}
    assert second["body"] == body
    assert second["reply"]["usage"]["cache_read_input_tokens"] > 0
    assert "x-api-key" not in second["headers"]


@requirement("simulator:script:rules")
def test_script_clock_and_memory_are_changed_while_it_runs(sim: RunningSimulator) -> None:
    send(sim, "POST", "/_sim/script", {"rules": [{"then": "From the script."}]})
    send(sim, "POST", "/_sim/actions", ["First.", {"fault": "overloaded"}])
    moved = send(sim, "POST", "/_sim/clock", {"set": "2030-01-01T00:00:00Z", "advance_seconds": 60}).json

    replies = [post(sim, request()) for _ in range(3)]
    state = send(sim, "GET", "/_sim/").json
    send(sim, "POST", "/_sim/forget")

    assert [reply.status for reply in replies] == [200, 529, 200]
    assert [reply.json["content"][0]["text"] for reply in replies[::2]] == ["First.", "From the script."]
    assert moved["time"] == "2030-01-01T00:01:00+00:00"
    assert state["requests"] == 3
    assert send(sim, "GET", "/_sim/requests").json == []


@requirement("simulator:script:names-mistakes")
@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("script", {"rules": 5}, "rules must be a list of rules"),
        ("script", b"{", "not valid JSON"),
        ("clock", {"set": "tomorrow"}, "no time"),
        ("clock", {"advance_seconds": "x"}, "must be a number"),
        ("clock", [], "must be a JSON object"),
        ("actions", {"fault": "boom"}, "fault.kind is 'boom'"),
    ],
)
def test_mistakes_in_its_own_addresses_are_sentences(
    sim: RunningSimulator, path: str, body: object, words: str
) -> None:
    reply = send(sim, "POST", f"/_sim/{path}", body)

    assert reply.status == 400
    assert words in reply.json["error"]


def test_an_unknown_record_is_not_found(sim: RunningSimulator) -> None:
    assert send(sim, "GET", "/_sim/requests/77").status == 404
    assert send(sim, "GET", "/_sim/requests/last/cache").status == 404


def test_the_same_seed_gives_the_same_ids() -> None:
    def ids() -> list[str]:
        with simulator(seed=5) as sim:
            return [post(sim, request()).json["id"] for _ in range(2)]

    first = ids()
    assert first == ids()
    assert len(set(first)) == 2
