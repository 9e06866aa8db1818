"""Background work: tasks with progress and stop, a timeline of extraction and dreams, the review of a proposal."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reverie.apps.inspect.page import Inspected, inspected, read_form, render
from reverie.files.background_tasks import BackgroundTask, has_stop_request, list_tasks, read_task, write_stop_request
from reverie.memory.dream.hunks import chosen, hunks_of
from reverie.memory.memory import Memory
from reverie.settings import load

_SHOWN = 100
_COMMITS = 500
"""How far back the history is looked at."""


def show_background(request: Request) -> Response:
    """What runs and ran, and what waits for a decision."""
    shown = inspected(request)
    with shown.reading() as memory:
        proposal = memory.dreams.proposal()
        status = memory.dreams.status()
        events = _list_events(shown, memory)
    days = [
        (day, list(each)) for day, each in groupby(events, key=lambda event: f"{event['when'].astimezone():%Y-%m-%d}")
    ]
    return render(
        request,
        "background",
        running=_running(shown),
        hunks=hunks_of(proposal.steps) if proposal is not None else (),
        proposal=proposal,
        status=status,
        days=days,
        notice=request.query_params.get("notice", ""),
    )


def show_tasks(request: Request) -> Response:
    """What runs now, for a page that asks again and again."""
    return render(request, "tasks", running=_running(inspected(request)))


def _running(shown: Inspected) -> list[dict[str, Any]]:
    folder = load.places(shown.configuration).tasks
    return [
        {
            "task": task,
            "minutes": max(0, int((shown.now() - task.started).total_seconds() // 60)),
            "is_stopping": has_stop_request(folder, task.id),
        }
        for task in list_tasks(folder, now=shown.now())
        if task.state == "running"
    ]


def _list_events(shown: Inspected, memory: Memory) -> list[dict[str, Any]]:
    """What ended, what was changed and what was refused, newest first."""
    events = [
        _event(commit.when, commit.change.author, commit.change.reason, commit=commit.commit)
        for commit in memory.log(limit=_COMMITS)
        if commit.change.author in {"dream", "extraction"}
    ]
    events += [
        _event(each.when, "refused", ": ".join(filter(None, (each.name, ", ".join(each.rules)))), quote=each.quote)
        for each in memory.refusals()[-_SHOWN:]
    ]
    events += [
        _task_event(task)
        for task in list_tasks(load.places(shown.configuration).tasks, now=shown.now())
        if task.state != "running"
    ]
    return sorted(events, key=lambda event: event["when"], reverse=True)[:_SHOWN]


def _event(when: datetime, kind: str, title: str, *, commit: str = "", quote: str = "") -> dict[str, Any]:
    return {"when": when, "kind": kind, "title": title, "commit": commit, "quote": quote, "task": None}


def _task_event(task: BackgroundTask) -> dict[str, Any]:
    return _event(task.ended or task.started, task.kind, task.title or task.kind) | {"task": task}


async def settle_proposal(request: Request) -> Response:
    """Take the pieces that were ticked, discard the others."""
    form = await read_form(request)
    taken = {int(number) for name, number in form if name == "hunk" and number.isdecimal()}
    if ("discard", "all") in form:
        taken = set()
    notice = await run_in_threadpool(_settle, request, taken)
    return RedirectResponse(f"/background?{urlencode({'notice': notice})}", 303)


def _settle(request: Request, taken: set[int]) -> str:
    shown = inspected(request)
    shown.changes += 1
    with shown.reading() as memory:
        proposal = memory.dreams.proposal()
        if proposal is None:
            return "There is no proposal any more."
        hunks = [hunk for number, hunk in enumerate(hunks_of(proposal.steps)) if number in taken]
        if not hunks:
            memory.dreams.discard()
            return "Discarded."
        done = memory.dreams.settle(chosen(proposal.steps, hunks))
    return "Applied." if done.state == "completed" else f"{done.state}. {done.detail}"


def stop_task(request: Request) -> Response:
    """Ask a running task to stop."""
    shown = inspected(request)
    folder = load.places(shown.configuration).tasks
    task = read_task(folder, request.path_params["id"], now=shown.now())
    if task.state == "running":
        write_stop_request(folder, task.id)
    return RedirectResponse("/background", 303)


ROUTES = (
    Route("/background", show_background),
    Route("/background/tasks", show_tasks),
    Route("/background/proposal", settle_proposal, methods=["POST"]),
    Route("/background/tasks/{id}/stop", stop_task, methods=["POST"]),
)
