"""Memories: the list with search as you type, one memory with its history, and what was refused.

Changes go through `Memory`, as the commands do: secrets are refused, and each change is a commit that can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reverie.apps.inspect.page import inspected, is_partial, read_form, read_start, render
from reverie.apps.memory_documents import anchor_document, topic_documents, whole_document
from reverie.errors import UserMistake
from reverie.memory.memory import Memory

PAGE_SIZE = 100
_SEARCHED = 50
"""How many memories a search shows."""
_AGES = {"7": "last 7 days", "30": "last 30 days", "180": "last 180 days"}
_FILTERS = ("type", "scope", "trust", "age", "anchors")


def show_list(request: Request) -> Response:
    """All memories, or those that a search finds, each with the reasons."""
    shown = inspected(request)
    asked = {name: request.query_params.get(name, "") for name in ("q", *_FILTERS)}
    start = read_start(request)
    with shown.reading() as memory:
        every = {row["url"]: row for row in _rows(memory)}
        rows = list(_search(memory, asked["q"], every) if asked["q"].strip() else every.values())
        rows = [row for row in rows if _is_wanted(row, asked, shown.now().date())]
        if asked["anchors"]:
            rows = [row for row in rows if asked["anchors"] in _anchor_states(memory, row)]
    more = urlencode(asked | {"start": start + PAGE_SIZE}) if len(rows) > start + PAGE_SIZE else ""
    values: dict[str, Any] = {"rows": rows[start : start + PAGE_SIZE], "found": len(rows), "more": more, "start": start}
    if is_partial(request):
        return render(request, "memory_rows", **values)
    trusts = sorted({(row["trust"], row["trust"]) for row in every.values() if row["trust"]})
    return render(request, "memories", asked=asked, every=len(every), trusts=trusts, ages=_AGES, **values)


def show_memory(request: Request) -> Response:
    """One memory: its text, what it rests on, its history, where it was recalled."""
    with _named(request) as (memory, path):
        topic = memory.read(path)
        provenance = memory.why(path)
        document = whole_document(topic, memory.directory, memory.scope.name)
        whose = memory.describe_shared({topic.path: topic.trust}).get(topic.path)
        anchors = [anchor_document(check) for check in memory.check_anchors(topic)]
        changes = [(commit, memory.diff(commit.commit)) for commit in provenance.changes[:PAGE_SIZE]]
    return render(
        request,
        "memory",
        memory=document | {"trust": whose or document["trust"], "anchors": anchors},
        url=url_of(memory.scope.name, path),
        provenance=provenance,
        changes=changes,
        recalled=provenance.recalled[::-1][:PAGE_SIZE],
        notice=request.query_params.get("notice", ""),
    )


def show_refused(request: Request) -> Response:
    """What was not kept, and by which rule."""
    with inspected(request).reading() as memory:
        refused = sorted(memory.refusals(), key=lambda each: each.when, reverse=True)
    return render(request, "refused", refused=refused[: PAGE_SIZE * 5])


async def change_memory(request: Request) -> Response:
    """Edit, pin, forget or undo; back to the memory, or to the list when it is gone."""
    return await run_in_threadpool(_change, request, dict(await read_form(request)))


def _change(request: Request, form: Mapping[str, str]) -> Response:
    with _named(request) as (memory, path):
        match request.path_params["action"]:
            case "edit":
                _edit(memory, path, form)
                notice = "Saved."
            case "pin":
                pinned = memory.pin(path, pinned=form.get("pinned") == "yes").pinned
                notice = "Pinned." if pinned else "No longer pinned."
            case "forget":
                memory.forget(path, reason="forgotten on the web page")
                return RedirectResponse("/memories", 303)
            case "undo":
                undone = memory.undo(form.get("commit", ""))
                notice = "Undone." if undone.commit else f"Not undone: {', '.join(undone.conflicts)} changed since."
            case other:
                raise UserMistake(f"no action {other!r}; a memory can be edited, pinned, forgotten and undone")
        is_there = any(topic.path == path for topic in memory.topics())
    target = url_of(memory.scope.name, path) if is_there else "/memories"
    return RedirectResponse(f"{target}?{urlencode({'notice': notice})}", 303)


def _edit(memory: Memory, path: str, form: Mapping[str, str]) -> None:
    topic = memory.read(path)
    given: dict[str, Any] = {
        name: form[name].replace("\r\n", "\n") for name in ("name", "description", "body") if name in form
    }
    if not given.get("body", topic.body).strip():
        raise UserMistake(f"{path} would be empty; forget it instead")
    memory.store.edit(path, lambda old: replace(old, **given), reason="edited on the web page")


@contextmanager
def _named(request: Request) -> Iterator[tuple[Memory, str]]:
    """The memory and the path that a request names, under the lock."""
    with inspected(request).scope(request.path_params["scope"]) as memory:
        yield memory, memory.path_of(request.path_params["path"])


def _rows(memory: Memory) -> Iterator[dict[str, Any]]:
    """Every memory of the project and of the user."""
    for each in (memory, memory.user):
        for document in topic_documents(each, each.scope.name):
            path = document["path"].removeprefix(f"{each.directory}/")
            yield document | {"key": path, "url": url_of(each.scope.name, path), "score": None, "why": ""}


def _search(memory: Memory, text: str, every: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What a search finds, best first, with the reasons in words."""
    query = replace(memory.build_query(text, limit=_SEARCHED), abstains=False)
    found = [
        every[url] | {"score": hit.score, "why": str(hit.why)}
        for each in (memory, memory.user)
        for hit in each.index.search(query)
        if (url := url_of(each.scope.name, hit.key)) in every
    ]
    return sorted(found, key=lambda row: -row["score"])[:_SEARCHED]


def _is_wanted(row: Mapping[str, Any], asked: Mapping[str, str], today: date) -> bool:
    if any(asked[name] and row[name] != asked[name] for name in ("type", "scope", "trust")):
        return False
    if asked["age"] in _AGES:
        return bool(row["observed"]) and row["observed"] >= str(today - timedelta(days=int(asked["age"])))
    return True


def _anchor_states(memory: Memory, row: Mapping[str, Any]) -> set[str]:
    owner = memory if row["scope"] == memory.scope.name else memory.user
    return {check.state.value for check in memory.check_anchors(owner.read(row["key"]))}


def url_of(scope: str, path: str) -> str:
    """The address of a memory's page."""
    return f"/memories/{scope}/{quote(path)}"


ROUTES = (
    Route("/memories", show_list),
    Route("/refused", show_refused),
    Route("/memories/{scope}/{path:path}/{action:str}", change_memory, methods=["POST"]),
    Route("/memories/{scope}/{path:path}", show_memory),
)
