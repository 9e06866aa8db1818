"""Sessions of all projects and agents; one session with its window over time, its requests and its transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reverie.apps.find_session import all_session_folders, find_session
from reverie.apps.inspect.page import inspected, is_partial, read_start, render
from reverie.apps.rows import context_report
from reverie.apps.session_figures import read_figures, read_transcript_bookings, session_cost
from reverie.context.receipt import receipts
from reverie.hosts.catalogue import list_host_glances, read_any_entries
from reverie.messages.blocks import Block, CompactionBlock, Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    SnipEntry,
    UserEntry,
    envelope_of,
)
from reverie.messages.listing import list_glances
from reverie.models import from_settings
from reverie.models.ledger import Booking, read_bookings
from reverie.settings import load

PAGE_SIZE = 100
_SECONDS_TO_READ = 0.5
"""How long the list may read whole files for exact figures."""
_SHOWN_CHARS = 20_000
"""How much of one block is shown; the file has the rest."""
_SUMMARY_CHARS = 160


def show_list(request: Request) -> Response:
    """The sessions, newest first."""
    shown = inspected(request)
    wanted, agent = request.query_params.get("q", "").casefold(), request.query_params.get("agent", "")
    start = read_start(request)
    places = load.places(shown.configuration)
    others = [glance for glance in list_host_glances(places) if not glance.is_subagent]
    every = [*list_glances(all_session_folders(shown.configuration)), *others]
    glances = [
        glance
        for glance in sorted(every, key=lambda one: (one.updated, one.id), reverse=True)
        if agent in ("", glance.agent) and wanted in f"{glance.title}\n{glance.cwd}\n{glance.id}".casefold()
    ]
    page = glances[start : start + PAGE_SIZE]
    figures = read_figures(
        page,
        places.caches / "sessions.json",
        seconds=_SECONDS_TO_READ,
        ledger=read_bookings(places.ledger),
        overrides=from_settings.profile_overrides(shown.configuration.settings),
    )
    asked = {"q": request.query_params.get("q", ""), "agent": agent}
    more = urlencode(asked | {"start": start + PAGE_SIZE}) if len(glances) > start + PAGE_SIZE else ""
    rows = [(glance, figures.get(glance.path)) for glance in page]
    if is_partial(request):
        return render(request, "session_rows", rows=rows, found=len(glances), more=more, start=start)
    agents = sorted({glance.agent for glance in every})
    return render(
        request, "sessions", rows=rows, found=len(glances), more=more, start=start, asked=asked, agents=agents
    )


def show_session(request: Request) -> Response:
    """One session: what fills its window, every request, what was left out; the transcript follows by itself."""
    path, entries = _read(request)
    shown = inspected(request)
    overrides = from_settings.profile_overrides(shown.configuration.settings)
    calls = sorted(read_transcript_bookings(path, overrides).values(), key=lambda one: one.when)
    return render(
        request,
        "session",
        id=request.path_params["id"],
        path=path,
        report=context_report(entries, overrides=overrides),
        calls=calls,
        cost=session_cost(path, read_bookings(load.places(shown.configuration).ledger), overrides),
        breaks=_find_breaks(calls),
        receipts=receipts(entries),
        reductions=list(_list_reductions(entries)),
        entries=len(entries),
    )


def read_window(request: Request) -> Response:
    """The window over time, for the plot: moments and, for each, tokens read from the cache, written to it, and new."""
    path, entries = _read(request)
    overrides = from_settings.profile_overrides(inspected(request).configuration.settings)
    calls = sorted(read_transcript_bookings(path, overrides).values(), key=lambda one: one.when)
    turns = [one for one in calls if one.purpose == "turn"]
    return JSONResponse(
        {
            "series": ["read from cache", "written to cache", "not cached"],
            "at": [one.when.timestamp() for one in turns],
            "values": [
                [one.usage.cache_read_tokens for one in turns],
                [one.usage.cache_write_tokens for one in turns],
                [one.usage.input_tokens for one in turns],
            ],
            "marks": [{"at": when, "label": label} for when, label, _ in _list_reductions(entries) if when],
        }
    )


def show_transcript(request: Request) -> Response:
    """A part of the transcript: messages one after the other, long ones folded."""
    _, entries = _read(request)
    wanted = request.query_params.get("q", "").casefold()
    start = read_start(request)
    spoken = (message for entry in entries if (message := _describe(entry)) is not None)
    page: list[dict[str, Any]] = []
    more = False
    for number, message in enumerate(one for one in spoken if not wanted or _holds(one, wanted)):
        if number >= start + PAGE_SIZE:
            more = True
            break
        if number >= start:
            page.append(message)
    following = urlencode({"q": wanted, "start": start + PAGE_SIZE}) if more else ""
    return render(request, "transcript", messages=page, more=following, id=request.path_params["id"], start=start)


def _read(request: Request) -> tuple[Path, Sequence[Entry]]:
    shown = inspected(request)
    path = find_session(shown.configuration, shown.directory, request.path_params["id"])
    return path, read_any_entries(path)


def _find_breaks(calls: Sequence[Booking]) -> list[tuple[Booking, int]]:
    """Requests that found less in the cache than the one before had put there, and by how many tokens."""
    turns = [one for one in calls if one.purpose == "turn"]
    found = []
    for before, after in pairwise(turns):
        kept = before.usage.cache_read_tokens + before.usage.cache_write_tokens
        if kept and after.usage.cache_read_tokens < kept:
            found.append((after, kept - after.usage.cache_read_tokens))
    return found


def _list_reductions(entries: Sequence[Entry]) -> Iterator[tuple[float | None, str, str]]:
    """When the window was made smaller, how, and by how much."""
    from datetime import datetime

    for entry in entries:
        match entry:
            case BoundaryEntry():
                label = f"compaction ({entry.trigger})"
                amount = f"{entry.pre_tokens or '?'} → {entry.post_tokens or '?'} tokens"
            case ClearEntry():
                label, amount = "results cleared", f"{len(entry.tool_use_ids)} results, {entry.freed_tokens} tokens"
            case SnipEntry():
                label, amount = "messages snipped", f"{len(entry.removed)} messages, {entry.freed_tokens} tokens"
            case CollapseEntry():
                label, amount = "messages collapsed", ""
            case _:
                continue
        try:
            when = datetime.fromisoformat(entry.envelope.timestamp).timestamp()
        except ValueError:
            when = None
        yield when, label, amount


def _describe(entry: Entry) -> dict[str, Any] | None:
    """A message for the transcript; None for what is none."""
    match entry:
        case UserEntry():
            who = "summary" if entry.is_summary else "user"
            blocks: Sequence[Block] = entry.message.content
        case AssistantEntry():
            who, blocks = "assistant", entry.message.content
        case AttachmentEntry():
            who, blocks = entry.kind, entry.content
        case _:
            return None
    envelope = envelope_of(entry)
    parts = [part for block in blocks if (part := _describe_block(block))["text"]]
    return {"who": who, "when": envelope.timestamp if envelope else "", "parts": parts} if parts else None


def _describe_block(block: Block) -> dict[str, Any]:
    match block:
        case Text():
            kind, text = "text", block.text
        case Thinking():
            kind, text = "thinking", block.thinking
        case ToolUse():
            import json

            kind, text = block.name, json.dumps(block.input, ensure_ascii=False, indent=1)
        case ToolResult():
            pieces = block.content if isinstance(block.content, tuple) else (Text(block.content),)
            kind, text = "result", "\n".join(piece.text for piece in pieces if isinstance(piece, Text))
        case CompactionBlock():
            kind, text = "compaction", block.content or ""
        case _:
            kind, text = type(block).__name__, f"({type(block).__name__})"
    first = " ".join(text[: _SUMMARY_CHARS * 4].split())[:_SUMMARY_CHARS]
    return {"kind": kind, "text": text[:_SHOWN_CHARS], "first": first, "is_cut": len(text) > _SHOWN_CHARS}


def _holds(message: dict[str, Any], wanted: str) -> bool:
    return any(wanted in part["text"].casefold() for part in message["parts"])


ROUTES = (
    Route("/sessions", show_list),
    Route("/sessions/{id}/window", read_window),
    Route("/sessions/{id}/transcript", show_transcript),
    Route("/sessions/{id}", show_session),
)
