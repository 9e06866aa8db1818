"""The simulator's own endpoints: requests, cache diagnosis, clock, script, faults."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reverie.errors import UserMistake
from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.clock import parse_moment
from reverie_simulator.script_file import action_from_json, script_from_json
from reverie_simulator.simulation import Simulation
from reverie_simulator.wire import encode

Endpoint = Callable[[Request], Awaitable[Response]]


def control_routes(simulation: Simulation) -> list[Route]:
    """All routes, relative to `/_sim`."""

    async def state(_: Request) -> Response:
        return _response(
            {
                "time": simulation.clock.now().isoformat(),
                "seed": simulation.seed,
                "skew": simulation.provider.counter.skew,
                "requests": len(simulation.log.all()),
            }
        )

    async def requests(_: Request) -> Response:
        return _response([record.outline() for record in simulation.log.all()])

    async def one_request(request: Request) -> Response:
        record = simulation.log.find(request.path_params["name"])
        return _response(record.as_json()) if record else _missing(request)

    async def explanation(request: Request) -> Response:
        record = simulation.log.find(request.path_params["name"])
        return _response([each.as_json() for each in record.explanations]) if record else _missing(request)

    async def clock(request: Request) -> Response:
        change = _object(await _json(request))
        if "set" in change:
            simulation.clock.set(parse_moment(str(change["set"]), "The field set"))
        advance = change.get("advance_seconds", 0)
        if not isinstance(advance, int | float):
            raise UserMistake("The field advance_seconds must be a number.")
        simulation.clock.advance(seconds=advance)
        return await state(request)

    async def script(request: Request) -> Response:
        simulation.use_script(script_from_json(await _json(request), "in the request"))
        return await state(request)

    async def actions(request: Request) -> Response:
        document = await _json(request)
        listed = document if isinstance(document, list) else [document]
        simulation.add_actions(*(action_from_json(each, "in the request") for each in listed))
        return await state(request)

    async def forget(request: Request) -> Response:
        simulation.forget()
        return await state(request)

    return [
        Route("/", _answer_mistakes(state), methods=["GET"]),
        Route("/requests", _answer_mistakes(requests), methods=["GET"]),
        Route("/requests/{name}", _answer_mistakes(one_request), methods=["GET"]),
        Route("/requests/{name}/cache", _answer_mistakes(explanation), methods=["GET"]),
        Route("/clock", _answer_mistakes(clock), methods=["POST"]),
        Route("/script", _answer_mistakes(script), methods=["POST"]),
        Route("/actions", _answer_mistakes(actions), methods=["POST"]),
        Route("/forget", _answer_mistakes(forget), methods=["POST"]),
    ]


def _answer_mistakes(endpoint: Endpoint) -> Endpoint:
    """Answer a mistake with a sentence instead of a stack trace."""

    async def call(request: Request) -> Response:
        try:
            return await endpoint(request)
        except UserMistake as mistake:
            return _response({"error": str(mistake)}, 400)

    return call


async def _json(request: Request) -> Json:
    try:
        value: Json = msgspec.json.decode(await request.body())
    except msgspec.DecodeError as problem:
        raise UserMistake(f"The request is not valid JSON: {problem}.") from problem
    return value


def _object(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise UserMistake("The request must be a JSON object.")
    return value


def _missing(request: Request) -> Response:
    return _response({"error": f"There is no request {request.path_params['name']!r}; `last` is the newest."}, 404)


def _response(content: Json, status: int = 200) -> Response:
    return Response(encode(content), status, media_type="application/json")
