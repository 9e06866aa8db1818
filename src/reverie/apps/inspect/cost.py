"""Cost: what model calls cost, by day, purpose, model, project or agent, with the budget beside it."""

from __future__ import annotations

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reverie.apps.bookings import GROUPS, read_all_bookings
from reverie.apps.inspect.page import inspected, render
from reverie.models.ledger import Booking, by, total

_DAYS = ("7", "30", "90", "")


def show_cost(request: Request) -> Response:
    """The table; the plot asks for its own figures."""
    key = request.query_params.get("by", "day")
    if key not in GROUPS:
        key = "day"
    days = request.query_params.get("days", "30")
    bookings = _read(request, days)
    lines = by(bookings, GROUPS[key])
    if key == "day":
        lines = sorted(lines, key=lambda line: line.key, reverse=True)
    else:
        lines = sorted(lines, key=lambda line: -(line.cost_usd or 0.0))
    budget = inspected(request).configuration.settings.budget
    return render(
        request, "cost", lines=lines, total=total(bookings), by=key, days=days, keys=list(GROUPS), all_days=_DAYS,
        budget=budget,
    )  # fmt: skip


def read_days(request: Request) -> Response:
    """What each day cost, for the plot."""
    bookings = _read(request, request.query_params.get("days", "30"))
    lines = sorted(by(bookings, GROUPS["day"]), key=lambda line: line.key)
    return JSONResponse({"days": [line.key for line in lines], "usd": [line.cost_usd or 0.0 for line in lines]})


def _read(request: Request, days: str) -> list[Booking]:
    shown = inspected(request)
    since = shown.now() - timedelta(days=int(days)) if days in _DAYS and days else None
    every = read_all_bookings(shown.configuration)
    return [one for one in every if since is None or one.when >= since]


ROUTES = (Route("/cost", show_cost), Route("/cost/days", read_days))
