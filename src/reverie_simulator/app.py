"""All protocols over HTTP: the providers' addresses under `/v1`, the simulator's own under `/_sim`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from reverie.messages.blocks import Json
from reverie_simulator.answers import Delivery, ErrorAnswer, MessageAnswer, PromptCount
from reverie_simulator.api_error import ApiError, usual_error
from reverie_simulator.control import control_routes
from reverie_simulator.facts import facts_of, known_models
from reverie_simulator.protocols.chat import CHAT_COMPLETIONS
from reverie_simulator.protocols.gemini import GEMINI_MODELS
from reverie_simulator.protocols.responses import RESPONSES
from reverie_simulator.protocols.wire_protocol import MessagesProtocol, WireProtocol
from reverie_simulator.rules.headers import REQUEST_BYTES_MAX
from reverie_simulator.simulation import COUNT_TOKENS, MESSAGES, Handled, Simulation
from reverie_simulator.wire import encode

ORGANIZATION = "00000000-0000-4000-8000-000000000000"
STREAM_TYPE = "text/event-stream; charset=utf-8"
_MESSAGES = MessagesProtocol()


def create_app(simulation: Simulation) -> ASGIApp:
    """The application around one simulation."""

    async def messages(request: Request) -> Response:
        raw = await _body(request)
        if raw is None:
            return _error_response(usual_error(413), simulation.provider.new_id("req"))
        handled = simulation.handle(request.url.path, raw, dict(request.headers))
        return await _response(handled)

    async def models(_: Request) -> Response:
        entries: list[Json] = [_model_entry(facts.name) for facts in known_models()]
        page: dict[str, Json] = {
            "object": "list",
            "data": entries,
            "has_more": False,
            "first_id": None,
            "last_id": None,
        }
        return _json_response(page, _headers(simulation.provider.new_id("req")))

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        request_id = simulation.provider.new_id("req")
        facts = facts_of(name)
        if facts is None:
            return _error_response(ApiError(404, f"model: {name}"), request_id)
        return _json_response(_model_entry(facts.name), _headers(request_id))

    async def unknown(_: Request, problem: Exception) -> Response:
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        return _error_response(usual_error(status), simulation.provider.new_id("req"))

    return Starlette(
        routes=[
            Route(MESSAGES, messages, methods=["POST"]),
            Route(COUNT_TOKENS, messages, methods=["POST"]),
            Route(CHAT_COMPLETIONS, messages, methods=["POST"]),
            Route(RESPONSES, messages, methods=["POST"]),
            Route(f"{GEMINI_MODELS}{{method}}", messages, methods=["POST"]),
            Route("/v1/models", models, methods=["GET"]),
            Route("/v1/models/{name}", model, methods=["GET"]),
            Mount("/_sim", routes=control_routes(simulation)),
        ],
        exception_handlers={HTTPException: unknown, 500: unknown},
    )


async def _body(request: Request) -> bytes | None:
    """The whole body, or None as soon as it is known to be too large."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > REQUEST_BYTES_MAX:
        return None
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > REQUEST_BYTES_MAX:
            return None
        pieces.append(piece)
    return b"".join(pieces)


async def _response(handled: Handled) -> Response:
    result = handled.result
    match result:
        case PromptCount():
            return _json_response(result.as_json(), _headers(handled.request_id))
        case ErrorAnswer():
            await asyncio.sleep(result.delivery.delay_seconds)
            return _error_response(result.error, handled.request_id, handled.protocol)
        case MessageAnswer():
            await asyncio.sleep(result.delivery.delay_seconds)
            return _answer_response(result, handled)


def _answer_response(answer: MessageAnswer, handled: Handled) -> Response:
    headers = _headers(handled.request_id)
    if not answer.streams:
        content = encode(handled.protocol.reply(answer))
        if answer.delivery.breaks_after is not None:
            return BrokenResponse(_whole(content[: len(content) // 2]), headers, "application/json")
        return Response(content, headers=headers, media_type="application/json")
    events = _event_stream(answer, handled)
    if answer.delivery.breaks_after is not None and answer.delivery.breaks_with is None:
        return BrokenResponse(events, headers, STREAM_TYPE)
    return StreamingResponse(events, headers={**headers, "cache-control": "no-cache"}, media_type=STREAM_TYPE)


async def _event_stream(answer: MessageAnswer, handled: Handled) -> AsyncIterator[bytes]:
    delivery: Delivery = answer.delivery
    for number, event in enumerate(handled.protocol.events(answer)):
        if delivery.breaks_after is not None and number >= delivery.breaks_after:
            if delivery.breaks_with is not None:
                yield handled.protocol.error_event(delivery.breaks_with, handled.request_id)
            return
        if delivery.event_delay_seconds:
            await asyncio.sleep(delivery.event_delay_seconds)
        yield event


class BrokenResponse(StreamingResponse):
    """A response whose end never comes: the server closes the connection instead."""

    def __init__(self, content: AsyncIterator[bytes], headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(content, headers=dict(headers), media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in self.body_iterator:
            await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _error_response(error: ApiError, request_id: str, protocol: WireProtocol = _MESSAGES) -> Response:
    headers = _headers(request_id)
    if error.retry_after_seconds is not None:
        headers["retry-after"] = f"{error.retry_after_seconds:g}"
    if error.status < 500 and error.status != 429:
        headers["x-should-retry"] = "false"
    status, body = protocol.error(error, request_id)
    return _json_response(body, headers, status)


def _json_response(content: Mapping[str, Json], headers: Mapping[str, str], status: int = 200) -> Response:
    return Response(encode(content), status, dict(headers), media_type="application/json")


def _headers(request_id: str) -> dict[str, str]:
    return {"request-id": request_id, "x-request-id": request_id, "anthropic-organization-id": ORGANIZATION}


def _model_entry(name: str) -> dict[str, Json]:
    facts = facts_of(name)
    assert facts is not None
    # Two providers in one: each client reads the fields that it knows.
    return {
        "type": "model",
        "object": "model",
        "created": 0,
        "owned_by": "simulator",
        "id": facts.name,
        "display_name": facts.name.replace("-", " ").title(),
        "created_at": "1970-01-01T00:00:00Z",
        "max_input_tokens": facts.window_tokens,
        "max_tokens": facts.max_output_tokens,
    }
