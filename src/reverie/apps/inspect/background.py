"""Background work: tasks with progress and stop, dreams with their diffs, and the review of a proposal by hunk."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reverie.apps.inspect.page import inspected, read_form, render
from reverie.files.background_tasks import list_tasks, read_task, write_stop_request
from reverie.memory.dream.hunks import chosen, hunks_of
from reverie.settings import load

_SHOWN = 50


def show_background(request: Request) -> Response:
    """What runs and ran, and what waits for a decision."""
    shown = inspected(request)
    with shown.reading() as memory:
        proposal = memory.dreams.proposal()
        status = memory.dreams.status()
        changes = [
            (commit, memory.diff(commit.commit))
            for commit in memory.log(limit=_SHOWN * 10)
            if commit.change.author in {"dream", "extraction"}
        ][:_SHOWN]
    tasks = list_tasks(load.places(shown.configuration).tasks, now=shown.now())
    return render(
        request,
        "background",
        tasks=sorted(tasks, key=lambda task: task.started, reverse=True)[:_SHOWN],
        hunks=hunks_of(proposal.steps) if proposal is not None else (),
        proposal=proposal,
        status=status,
        changes=changes,
        notice=request.query_params.get("notice", ""),
    )


async def settle_proposal(request: Request) -> Response:
    """Take the pieces that were ticked, discard the others."""
    form = await read_form(request)
    taken = {int(number) for name, number in form if name == "hunk" and number.isdecimal()}
    notice = await run_in_threadpool(_settle, request, taken)
    return RedirectResponse(f"/background?{urlencode({'notice': notice})}", 303)


def _settle(request: Request, taken: set[int]) -> str:
    with inspected(request).reading() as memory:
        proposal = memory.dreams.proposal()
        if proposal is None:
            return "There is no proposal any more."
        hunks = [hunk for number, hunk in enumerate(hunks_of(proposal.steps)) if number in taken]
        done = memory.dreams.settle(chosen(proposal.steps, hunks)) if hunks else memory.dreams.discard()
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
    Route("/background/proposal", settle_proposal, methods=["POST"]),
    Route("/background/tasks/{id}/stop", stop_task, methods=["POST"]),
)
