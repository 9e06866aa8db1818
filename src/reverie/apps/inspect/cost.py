"""Cost: what model calls cost, by day, purpose, model, project or agent, with the budget beside it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reverie.apps.bookings import GROUPS, read_all_bookings
from reverie.apps.inspect.page import Inspected, inspected, render
from reverie.apps.session_figures import read_transcript_bookings
from reverie.hosts.catalogue import read_stamp
from reverie.models.ledger import Booking, by, total
from reverie.models.profiles import ProfileOverride

_DAYS = ("7", "30", "90", "")
_FRESH_SECONDS = 20.0
_SHOWN = 300


def show_cost(request: Request) -> Response:
    """What is asked for; the figures follow by themselves, as all sessions are read for them."""
    key, days = _read_choice(request)
    return render(request, "cost", by=key, days=days, keys=list(GROUPS), all_days=_DAYS)


def show_table(request: Request) -> Response:
    """The sums, with the budget."""
    key, days = _read_choice(request)
    bookings = _read(request, days)
    lines = by(bookings, GROUPS[key])
    if key == "day":
        lines = sorted(lines, key=lambda line: line.key, reverse=True)
    else:
        lines = sorted(lines, key=lambda line: -(line.cost_usd or 0.0))
    background = sum(one.cost_usd or 0.0 for one in bookings if one.is_background)
    return render(
        request,
        "cost_table",
        lines=lines[:_SHOWN],
        hidden=max(0, len(lines) - _SHOWN),
        most=max((line.cost_usd or 0.0 for line in lines), default=0.0),
        total=total(bookings),
        background=background,
        by=key,
        budget=inspected(request).configuration.settings.budget,
    )


def read_days(request: Request) -> Response:
    """What each day cost, for the plot: conversations, background work, and what this may cost beside them."""
    _, chosen = _read_choice(request)
    background: dict[str, float] = defaultdict(float)
    conversations: dict[str, float] = defaultdict(float)
    for booking in _read(request, chosen):
        sums = background if booking.is_background else conversations
        sums[GROUPS["day"](booking)] += booking.cost_usd or 0.0
    days = sorted({*background, *conversations})
    budget = inspected(request).configuration.settings.budget
    most = 24 * budget.background_usd_per_hour
    return JSONResponse(
        {
            "days": days,
            "background": [background[day] for day in days],
            "conversations": [conversations[day] for day in days],
            "budget": [min(budget.background_fraction * conversations[day], most) for day in days],
        }
    )


def _read_choice(request: Request) -> tuple[str, str]:
    key, days = request.query_params.get("by", "day"), request.query_params.get("days", "30")
    return key if key in GROUPS else "day", days if days in _DAYS else "30"


def _read(request: Request, days: str) -> list[Booking]:
    shown = inspected(request)
    since = shown.now() - timedelta(days=int(days)) if days else None
    moment = int(time.monotonic() / _FRESH_SECONDS)
    every = shown.remember("bookings", moment, lambda: read_all_bookings(shown.configuration, _Transcripts(shown).read))
    return [one for one in every if since is None or one.when >= since]


class _Transcripts:
    """The calls of each transcript, read again only when its file has changed."""

    def __init__(self, shown: Inspected) -> None:
        self._known: dict[Path, tuple[object, Mapping[str, Booking]]] = shown.remember("transcripts", "", dict)

    def read(self, path: Path, overrides: Mapping[str, ProfileOverride]) -> Mapping[str, Booking]:
        try:
            stamp = read_stamp(path)
        except OSError:
            return {}
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = (stamp, read_transcript_bookings(path, overrides))
        return known[1]


ROUTES = (Route("/cost", show_cost), Route("/cost/table", show_table), Route("/cost/days", read_days))
