"""Sessions of all projects and agents; one session with its window over time, its requests and its transcript.

The page of a session is there at once; what needs the whole file is asked for by the page and made once for each state
of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reverie.apps.find_session import all_session_folders
from reverie.apps.inspect.page import Inspected, inspected, is_partial, read_start, render
from reverie.apps.inspect.transcript import Records, open_records, read_around, read_block, read_part
from reverie.apps.rows import GROUPS, ContextReport, context_report
from reverie.apps.session_figures import read_figures, read_transcript_bookings, session_cost
from reverie.apps.window_history import WindowReduction, WindowStep, list_reductions, parse_time, window_history
from reverie.context.receipt import Receipt, receipts
from reverie.errors import UserMistake
from reverie.hosts.catalogue import list_host_glances, read_any_entries, read_any_glance, read_stamp
from reverie.messages.listing import Glance, list_glances
from reverie.models import from_settings
from reverie.models.ledger import Booking, read_bookings
from reverie.models.profiles import profile
from reverie.settings import load
from reverie.values import value

PAGE_SIZE = 100
PLOTTED = 1_500
"""How many requests a plot shows; of more, every second, third …"""
_SECONDS_TO_READ = 0.5
"""How long the list may read whole files for exact figures."""


def show_list(request: Request) -> Response:
    """The sessions, newest first."""
    shown = inspected(request)
    asked = {name: request.query_params.get(name, "") for name in ("q", "agent", "project")}
    start = read_start(request)
    wanted = asked["q"].casefold()
    places = load.places(shown.configuration)
    every = _list_all(shown)
    links = _name_links(every)
    glances = [
        glance
        for glance in every
        if asked["agent"] in ("", glance.agent)
        and asked["project"] in ("", glance.cwd)
        and wanted in f"{glance.title}\n{glance.cwd}\n{glance.id}".casefold()
    ]
    page = glances[start : start + PAGE_SIZE]
    figures = read_figures(
        page,
        places.caches / "sessions.json",
        seconds=_SECONDS_TO_READ,
        ledger=read_bookings(places.ledger),
        overrides=from_settings.profile_overrides(shown.configuration.settings),
    )
    more = urlencode(asked | {"start": start + PAGE_SIZE}) if len(glances) > start + PAGE_SIZE else ""
    rows = [(glance, figures.get(glance.path), links[glance.path]) for glance in page]
    values: dict[str, Any] = {"rows": rows, "found": len(glances), "more": more, "start": start, "every": len(every)}
    if is_partial(request):
        return render(request, "session_rows", **values)
    agents = Counter(glance.agent for glance in every).most_common()
    projects = Counter(glance.cwd for glance in every if glance.cwd).most_common()
    return render(request, "sessions", asked=asked, agents=agents, projects=projects, **values)


def show_session(request: Request) -> Response:
    """One session, with what its ends tell; the rest follows by itself."""
    path = _find(request)
    glance = read_any_glance(path)
    return render(
        request,
        "session",
        id=request.path_params["id"],
        path=path,
        glance=glance,
        records=len(_records(request, path)),
        q=request.query_params.get("q", ""),
        at=request.query_params.get("at", ""),
    )


def show_figures(request: Request) -> Response:
    """What fills the window now, what was left out, breaks and receipts."""
    path = _find(request)
    study = _study(request, path)
    shown = inspected(request)
    overrides = from_settings.profile_overrides(shown.configuration.settings)
    window_tokens = profile(study.report.model or "", overrides).window_tokens
    return render(
        request,
        "session_figures",
        id=request.path_params["id"],
        report=study.report,
        window_tokens=window_tokens,
        calls=study.calls,
        cost=session_cost(path, read_bookings(load.places(shown.configuration).ledger), overrides),
        breaks=[step for step in study.steps if step.broken is not None],
        receipts=study.receipts,
        reductions=study.reductions,
    )


def show_requests(request: Request) -> Response:
    """Every request: size, cache, output, cost, a hundred at a time."""
    study = _study(request, _find(request))
    start = read_start(request)
    broken = {step.id: step.broken for step in study.steps if step.broken is not None}
    rows = [(call, broken.get(name)) for name, call in study.calls[start : start + PAGE_SIZE]]
    more = start + PAGE_SIZE if len(study.calls) > start + PAGE_SIZE else None
    return render(request, "session_requests", rows=rows, start=start, more=more, id=request.path_params["id"])


def read_window(request: Request) -> Response:
    """The window over time, for the plots: for each request its kinds of content, its cache and its cost."""
    study = _study(request, _find(request))
    steps = study.steps
    every = -(-len(steps) // PLOTTED) or 1
    marked = [number for number, step in enumerate(steps) if step.reductions]
    kept = {*range(0, len(steps), every), *marked, *(number - 1 for number in marked if number)}
    numbers = sorted(kept)
    groups = [group for group in GROUPS if any(step.groups.get(group) for step in steps)]
    costs = {name: call.cost_usd or 0.0 for name, call in study.calls}
    usages = [steps[number].usage for number in numbers]
    marks = [
        {"request": at + 1, "label": one.label, "amount": one.amount} for at in marked for one in steps[at].reductions
    ]
    return JSONResponse(
        {
            "count": len(steps),
            "requests": [number + 1 for number in numbers],
            "order": GROUPS,
            "times": [_seconds(steps[number].when) for number in numbers],
            "groups": groups,
            "tokens": [[steps[number].groups.get(group, 0) for number in numbers] for group in groups],
            "cache": [
                [usage.cache_read_tokens for usage in usages],
                [usage.cache_write_tokens for usage in usages],
                [usage.input_tokens for usage in usages],
            ],
            "usd": [costs.get(steps[number].id, 0.0) for number in numbers],
            "usd_total": sum(costs.get(step.id, 0.0) for step in steps),
            "breaks": [
                {"request": at + 1, "cause": step.broken.cause}
                for at, step in enumerate(steps)
                if step.broken is not None
            ],
            "marks": marks,
        }
    )


def show_transcript(request: Request) -> Response:
    """A part of the transcript: messages one after the other, long ones folded."""
    records = _records(request, _find(request))
    wanted = " ".join(request.query_params.get("q", "").casefold().split())
    at = request.query_params.get("at", "") if not wanted else ""
    has_start = "start" in request.query_params
    start = read_start(request) if has_start or not at else read_around(records, at)
    part = read_part(records, start, wanted)
    following = urlencode({"q": wanted, "at": at, "start": part.following}) if part.following is not None else ""
    return render(
        request,
        "transcript",
        messages=part.messages,
        more=following,
        id=request.path_params["id"],
        is_first=not has_start,
        begins_late=start > 0 and not has_start,
        wanted=wanted,
        at=at,
        progress=part.following or len(records),
        records=len(records),
    )


def show_block(request: Request) -> Response:
    """The whole text of what was folded."""
    numbers = request.path_params["record"], request.path_params["block"]
    text = read_block(_records(request, _find(request)), *numbers)
    return render(request, "block", text=text, wanted=request.query_params.get("q", ""))


@value
class _Study:
    """What reading a whole session gives."""

    report: ContextReport
    steps: Sequence[WindowStep]
    calls: Sequence[tuple[str, Booking]]
    receipts: Sequence[Receipt]
    reductions: Sequence[WindowReduction]


def _study(request: Request, path: Path) -> _Study:
    shown = inspected(request)
    overrides = from_settings.profile_overrides(shown.configuration.settings)

    def read() -> _Study:
        entries = read_any_entries(path)
        calls = read_transcript_bookings(path, overrides).items()
        return _Study(
            context_report(entries, overrides=overrides),
            window_history(entries, cache=shown.configuration.settings.cache, overrides=overrides),
            sorted(calls, key=lambda call: call[1].when),
            receipts(entries),
            list(list_reductions(entries)),
        )

    return shown.remember("study", (path, read_stamp(path)), read)


def _records(request: Request, path: Path) -> Records:
    return inspected(request).remember("records", (path, read_stamp(path)), lambda: open_records(path))


def _find(request: Request) -> Path:
    """The file of the session that a request names; an id that several have means the newest."""
    shown = inspected(request)
    named = request.path_params["id"]

    def find() -> Path:
        every = _list_all(shown, subagents=True)
        matching = [path for path, link in _name_links(every).items() if link == named]
        matching = matching or [glance.path for glance in every if glance.id == named]
        matching = matching or [glance.path for glance in every if glance.id.startswith(named)]
        if not matching:
            raise UserMistake(f"no session {named!r} in any project; it may have been removed")
        return matching[0]

    path = shown.remember(f"path of {named}", "", find)
    try:
        read_stamp(path)
    except OSError:
        path = shown.remember(f"path of {named}", "again", find)
    return path


def _list_all(shown: Inspected, *, subagents: bool = False) -> list[Glance]:
    """Sessions of all projects and agents, newest first; with `subagents` those that they started too."""
    places = load.places(shown.configuration)
    others = [glance for glance in list_host_glances(places) if subagents or not glance.is_subagent]
    every = [*list_glances(all_session_folders(shown.configuration)), *others]
    return sorted(every, key=lambda one: (one.updated, one.id), reverse=True)


def _name_links(glances: Iterable[Glance]) -> dict[Path, str]:
    """How each session is named in an address: by its id, and by its file too where several have the id."""
    glances = list(glances)
    counts = Counter(glance.id for glance in glances)
    return {
        glance.path: glance.id
        if counts[glance.id] == 1
        else f"{glance.id}~{blake2b(str(glance.path).encode(), digest_size=4).hexdigest()}"
        for glance in glances
    }


def _seconds(timestamp: str) -> float | None:
    moment = parse_time(timestamp)
    return None if moment is None else moment.timestamp()


ROUTES = (
    Route("/sessions", show_list),
    Route("/sessions/{id}/figures", show_figures),
    Route("/sessions/{id}/requests", show_requests),
    Route("/sessions/{id}/window", read_window),
    Route("/sessions/{id}/transcript", show_transcript),
    Route("/sessions/{id}/records/{record:int}/{block:int}", show_block),
    Route("/sessions/{id}", show_session),
)
