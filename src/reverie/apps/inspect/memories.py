"""Memories: the list with search as you type, one memory with its history, and what was refused.

Changes go through `Memory`, as the commands do: secrets are refused, and each change is a commit that can be undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reverie.apps.inspect.catalogue import read_catalogue, read_states, read_topics, url_of
from reverie.apps.inspect.page import inspected, is_partial, read_form, read_start, render
from reverie.apps.memory_documents import anchor_document, whole_document
from reverie.errors import UserMistake
from reverie.memory.memory import Memory
from reverie.memory.search.recall import explain

PAGE_SIZE = 100
_SEARCHED = 50
"""How many memories a search shows."""
_INLINE_CHANGES, _INLINE_PATHS = 10, 20
"""Diffs of so many changes, of so many files each, are on the page at once; the others come when they are unfolded."""
_DIFF_CHARS = 200_000
_AGES = {"7": "last 7 days", "30": "last 30 days", "180": "last 180 days"}
_FILTERS = ("type", "scope", "trust", "age", "anchors")


def show_list(request: Request) -> Response:
    """All memories, or those that a search finds, each with the reasons."""
    shown = inspected(request)
    asked = {name: request.query_params.get(name, "") for name in ("q", *_FILTERS)}
    start = read_start(request)
    with shown.reading() as memory:
        catalogue = read_catalogue(shown, memory)
        every = catalogue.rows
        found = _search(memory, asked["q"], every) if asked["q"].strip() else every.values()
        rows = [row for row in found if _is_wanted(row, asked, shown.now().date())]
        if asked["anchors"]:
            topics = {url_of(memory.scope.name, topic.path): topic for topic in read_topics(shown, memory)}
            states = read_states(shown, memory)
            rows = [
                row | {"anchor_states": states_of_row}
                for row in rows
                if (topic := topics.get(row["url"])) is not None
                and asked["anchors"] in (states_of_row := sorted({state.value for _, state in states.of(topic)}))
            ]
    more = urlencode(asked | {"start": start + PAGE_SIZE}) if len(rows) > start + PAGE_SIZE else ""
    values: dict[str, Any] = {
        "rows": rows[start : start + PAGE_SIZE],
        "found": len(rows),
        "is_cut": bool(asked["q"].strip()) and len(rows) >= _SEARCHED,
        "more": more,
        "start": start,
        "every": len(every),
    }
    if is_partial(request):
        return render(request, "memory_rows", **values)
    trusts = [(trust, trust) for trust in catalogue.trusts]
    told: dict[str, Any] = {name: request.query_params.get(name, "") for name in ("notice", "undo")}
    return render(request, "memories", asked=asked, trusts=trusts, ages=_AGES, **told, **values)


def show_memory(request: Request) -> Response:
    """One memory: its text, what it rests on, its history, where it was recalled."""
    with _named(request) as (memory, path):
        topic = memory.read(path)
        provenance = memory.why(path)
        document = whole_document(topic, memory.directory, memory.scope.name)
        whose = memory.describe_shared({topic.path: topic.trust}).get(topic.path)
        anchors = [anchor_document(check) for check in memory.check_anchors(topic)]
        changes = [
            (commit, keep_files(memory.diff(commit.commit), path) if len(commit.paths) <= _INLINE_PATHS else None)
            for commit in provenance.changes[:_INLINE_CHANGES]
        ] + [(commit, None) for commit in provenance.changes[_INLINE_CHANGES:PAGE_SIZE]]
    return render(
        request,
        "memory",
        memory=document | {"trust": whose or document["trust"], "anchors": anchors},
        scope=memory.scope.name,
        path=path,
        url=url_of(memory.scope.name, path),
        provenance=provenance,
        changes=changes,
        recalled=provenance.recalled[::-1][:PAGE_SIZE],
        notice=request.query_params.get("notice", ""),
    )


def show_change(request: Request) -> Response:
    """What one commit did, to one memory or to all that it touched."""
    with inspected(request).scope(request.path_params["scope"]) as memory:
        text = memory.diff(request.path_params["commit"])
    path = request.query_params.get("path", "")
    text = keep_files(text, path) if path else text
    return render(request, "change", diff=text[:_DIFF_CHARS], is_cut=len(text) > _DIFF_CHARS)


def keep_files(diff: str, path: str) -> str:
    """Of a unified diff the files that have this name, in the archive too; all of it when none has."""
    files = re.split(r"(?m)^(?=diff --git )", diff)
    name = path.rsplit("/", 1)[-1]
    return "".join(each for each in files if name in each.partition("\n")[0]) or diff


def show_refused(request: Request) -> Response:
    """What was not kept, and by which rule."""
    with inspected(request).reading() as memory:
        refused = sorted(memory.refusals(), key=lambda each: each.when, reverse=True)
    most = PAGE_SIZE * 5
    return render(request, "refused", refused=refused[:most], hidden=max(0, len(refused) - most))


async def change_memory(request: Request) -> Response:
    """Edit, pin, forget or undo; back to the memory, or to the list when it is gone."""
    return await run_in_threadpool(_change, request, dict(await read_form(request)))


def undo_change(request: Request) -> Response:
    """Take back a commit; for what has no page of its own any more."""
    shown = inspected(request)
    shown.changes += 1
    with shown.scope(request.path_params["scope"]) as memory:
        notice = _undo(memory, request.path_params["commit"])
    return RedirectResponse(f"/memories?{urlencode({'notice': notice})}", 303)


def _undo(memory: Memory, commit: str) -> str:
    undone = memory.undo(commit)
    return "Undone." if undone.commit else f"Not undone: {', '.join(undone.conflicts)} changed since."


def _change(request: Request, form: Mapping[str, str]) -> Response:
    inspected(request).changes += 1
    with _named(request) as (memory, path):
        match request.path_params["action"]:
            case "edit":
                _edit(memory, path, form)
                notice = "Saved."
            case "pin":
                pinned = memory.pin(path, pinned=form.get("pinned") == "yes").pinned
                notice = "Pinned." if pinned else "No longer pinned."
            case "forget":
                forgotten = memory.forget(path, reason="forgotten on the web page")
                undo = f"{memory.scope.name}/{forgotten.commit}"
                query = {"notice": f"{forgotten.topic.name} was forgotten.", "undo": undo}
                return RedirectResponse(f"/memories?{urlencode(query)}", 303)
            case "undo":
                notice = _undo(memory, form.get("commit", ""))
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


def _search(memory: Memory, text: str, every: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What a search finds, best first, with the reasons in words."""
    query = replace(memory.build_query(text, limit=_SEARCHED), abstains=False)
    found = []
    for each in (memory, memory.user):
        hits = {hit.key: hit for hit in each.index.search(query)}
        found += [
            every[url] | {"score": hits[path].score, "why": str(explain(hits[path], text, entry.topic))}
            for path, entry in each.index.read(list(hits)).items()
            if (url := url_of(each.scope.name, path)) in every
        ]
    return sorted(found, key=lambda row: -row["score"])[:_SEARCHED]


def _is_wanted(row: Mapping[str, Any], asked: Mapping[str, str], today: date) -> bool:
    if any(asked[name] and row[name] != asked[name] for name in ("type", "scope", "trust")):
        return False
    if asked["age"] in _AGES:
        return bool(row["observed"]) and row["observed"] >= str(today - timedelta(days=int(asked["age"])))
    return True


ROUTES = (
    Route("/memories", show_list),
    Route("/refused", show_refused),
    Route("/changes/{scope}/{commit}/undo", undo_change, methods=["POST"]),
    Route("/changes/{scope}/{commit}", show_change),
    Route("/memories/{scope}/{path:path}/{action:str}", change_memory, methods=["POST"]),
    Route("/memories/{scope}/{path:path}", show_memory),
)
