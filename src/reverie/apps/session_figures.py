"""Exact figures of sessions: messages and cost.

There is one figure for what a session cost. The ledger has it where this program made the calls, with compactions,
subagents and background work; for sessions of other agents it is computed from the transcripts of the session and of
its subagents.

Only reading whole files gives exact figures, so they are cached between runs. Listing must stay instant, so files are
read newest first until the time limit; the rest keep their estimate and are read by a later run. The cache is a derived
file: safe to delete, ignored when damaged.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from reverie.errors import Error
from reverie.files import write_atomic
from reverie.files.places import ProjectFolder
from reverie.files.places.transcripts import list_subagent_transcripts
from reverie.hosts.catalogue import read_any_entries, read_host_session, read_stamp
from reverie.messages.entries import AssistantEntry, UserEntry, envelope_of
from reverie.messages.listing import Glance
from reverie.models.ledger import Booking, by, total
from reverie.models.profiles import NO_OVERRIDES, ProfileOverride, cost, profile
from reverie.models.tokens.usage import PaidReply, paid_replies
from reverie.values import value

FORMAT = 2
"""Version of the cache file; a file of another version is ignored."""


@value
class Figures:
    """The figures of one session."""

    messages: int
    cost_usd: float | None


def read_transcript_bookings(path: Path, overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES) -> dict[str, Booking]:
    """The model calls recorded in the transcripts of a session and of its subagents, by the ids of the replies."""
    theirs = read_host_session(path)
    if theirs is not None:
        replies = paid_replies(theirs.entries, sidechains=True)
        session = theirs.parent or theirs.id
        return {reply.name: replace(_booking(reply, session, overrides), agent=theirs.agent) for reply in replies}
    files = () if path.stem.startswith("agent-") else list_subagent_transcripts(ProjectFolder(path.parent), path.stem)
    entries = read_any_entries(path)
    for file in files:
        subagent_entries = read_any_entries(file)
        envelopes = map(envelope_of, subagent_entries)
        if any(envelope.session == path.stem for envelope in envelopes if envelope is not None):
            entries += subagent_entries
    return {reply.name: _booking(reply, path.stem, overrides) for reply in paid_replies(entries, sidechains=True)}


def session_cost(
    path: Path, ledger: Iterable[Booking], overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES
) -> float | None:
    """What a session cost; None when no price is known."""
    booked = [booking for booking in ledger if booking.session == path.stem]
    return total(booked or read_transcript_bookings(path, overrides).values()).cost_usd


def _booking(reply: PaidReply, session: str, overrides: Mapping[str, ProfileOverride]) -> Booking:
    envelope = reply.envelope
    price = cost(reply.usage, profile(reply.model, overrides))
    purpose = "agent" if envelope.is_sidechain else "turn"
    agent = envelope.agent_id or ""
    return Booking(
        _parse_timestamp(envelope.timestamp), session, envelope.cwd, purpose, reply.model, reply.usage, price, agent
    )


def _parse_timestamp(timestamp: str) -> datetime:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_figures(
    glances: Sequence[Glance],
    cache: Path,
    *,
    seconds: float,
    ledger: Iterable[Booking] = (),
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> dict[Path, Figures]:
    """Figures of the sessions that are cached or can be read within `seconds`; updates the cache."""
    booked = {line.key: line.cost_usd for line in by(ledger, lambda booking: booking.session)}
    cached = _read_cache(cache)
    deadline = time.monotonic() + seconds
    figures: dict[Path, Figures] = {}
    is_changed = False
    for glance in glances:
        stamp = _stamp(glance.path)
        entry = cached.get(str(glance.path))
        if entry is not None and entry[0] == stamp:
            figures[glance.path] = entry[1]
        elif stamp is not None and time.monotonic() < deadline:
            figures[glance.path] = _count(glance.path, overrides)
            cached[str(glance.path)] = (stamp, figures[glance.path])
            is_changed = True
    if is_changed:
        _write_cache(cache, cached)
    return {path: replace(row, cost_usd=booked.get(path.stem, row.cost_usd)) for path, row in figures.items()}


def _count(path: Path, overrides: Mapping[str, ProfileOverride]) -> Figures:
    entries = read_any_entries(path)
    replies = {
        entry.message_id or entry.envelope.uuid
        for entry in entries
        if isinstance(entry, AssistantEntry) and not entry.is_error
    }
    typed = sum(1 for entry in entries if isinstance(entry, UserEntry) and envelope_of(entry) is not None)
    return Figures(len(replies) + typed, total(read_transcript_bookings(path, overrides).values()).cost_usd)


def _stamp(path: Path) -> str | None:
    try:
        stamp = read_stamp(path)
    except OSError:
        return None
    return f"{stamp.size_bytes}:{stamp.changed_ns}"


def _read_cache(cache: Path) -> dict[str, tuple[str, Figures]]:
    try:
        document = json.loads(cache.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            return {}
        return {path: (row[0], Figures(row[1], row[2])) for path, row in document["sessions"].items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}


def _write_cache(cache: Path, cached: Mapping[str, tuple[str, Figures]]) -> None:
    rows = {path: [stamp, figures.messages, figures.cost_usd] for path, (stamp, figures) in cached.items()}
    try:
        write_atomic(cache, json.dumps({"format": FORMAT, "sessions": rows}), durable=False)
    except Error:
        # In a home that cannot be written the figures are only not cached.
        return
