"""The application: routes of all pages, errors in words, the guard around it."""

from __future__ import annotations

from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from reverie.apps.inspect import background, cost, memories, relations, sessions
from reverie.apps.inspect.guard import PageGuard
from reverie.apps.inspect.page import Inspected, render
from reverie.errors import Error


def build_app(inspected: Inspected, *, port: int, token: str) -> ASGIApp:
    """The page of one project, for the browser that has the token."""
    static = StaticFiles(directory=str(files("reverie.apps.inspect") / "static"))
    routes = [Route("/", _show_first), Mount("/static", static)]
    for page in (memories, sessions, background, cost, relations):
        routes += page.ROUTES
    app = Starlette(routes=routes, exception_handlers={Error: _show_error, HTTPException: _show_missing})
    app.state.inspected = inspected
    return PageGuard(app, port=port, token=token, can_edit=inspected.can_edit)


def _show_first(_: Request) -> Response:
    return RedirectResponse("/memories", 303)


def _show_error(request: Request, problem: Exception) -> Response:
    return render(request, "problem", status_code=400, problem=str(problem))


def _show_missing(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return render(request, "problem", status_code=problem.status_code, problem=problem.detail)
