"""The OpenAPI document is true: every route is in it, and what it allows never ends in a 500."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from starlette.routing import Route

from reverie.apps.server.app import AppOptions, create_app
from reverie.apps.server.openapi import build_document
from tests.apps.server.kit import LIMITS, Served
from tests.requirements import requirement


@requirement("server:openapi")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_every_route_is_described(served: Served) -> None:
    app: Any = create_app(AppOptions(served.database, LIMITS, 204_800))
    routes = {
        (route.path, method)
        for route in app._app._app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    document = (await served.client().http.get("/openapi.json")).json()
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}

    assert described == routes
    assert document == build_document(204_800)


@requirement("server:openapi")
@pytest.mark.server
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.filterwarnings("ignore")
def test_no_generated_request_ends_in_a_500(served: Served, thorough: bool) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.checks import not_a_server_error

    token = served.token("admin")
    app = create_app(AppOptions(served.database, LIMITS, 204_800, write_line=served.lines.append))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)

    for result in schema.get_all_operations():
        _try_operation(result.ok(), token, 200 if thorough else 20, not_a_server_error)
    statuses = {line["status"] for line in served.log}
    assert len(served.lines) > 50
    assert statuses & {200, 400, 422}
    assert not {status for status in statuses if status >= 500}


def _try_operation(operation: Any, token: str, examples: int, check: Any) -> None:
    @given(case=operation.as_strategy())
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None, database=None)
    def send(case: Any) -> None:
        headers = {**(case.headers or {}), "authorization": f"Bearer {token}"}
        case.call_and_validate(headers=headers, checks=[check])

    send()
