"""Exact figures of sessions: messages and cost.

There is one figure for what a session cost. The ledger has it where this program made the calls, with compactions,
agents and background work; for sessions of other agents the transcripts of the session and of its sub-agents do.

Only reading whole files gives them, so they are remembered between runs. Listing must stay instant, so files are read
newest first until the time allowed is over; the rest keep their estimate and are read by a later run. The memory is a
derived file: safe to delete, ignored when damaged.
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
from reverie.messages.entries import AssistantEntry, UserEntry, envelope_of
from reverie.messages.listing import Glance
from reverie.messages.transcript import read_entries
from reverie.models.ledger import Booking, by, total
from reverie.models.profiles import NO_OVERRIDES, ProfileOverride, cost, profile
from reverie.models.tokens.usage import PaidReply, paid_replies
from reverie.values import value

FORMAT = 2
"""Version of the remembered figures; another one is forgotten."""


@value
class Figures:
    """What reading the whole file gave."""

    messages: int
    cost_usd: float | None


def transcript_bookings(path: Path, overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES) -> dict[str, Booking]:
    """The calls that a session's transcript and those of its sub-agents tell of, by the ids of the replies."""
    files = () if path.stem.startswith("agent-") else list_subagent_transcripts(ProjectFolder(path.parent), path.stem)
    entries = list(read_entries(path))
    for file in files:
        theirs = read_entries(file)
        if any(found.session == path.stem for entry in theirs if (found := envelope_of(entry)) is not None):
            entries += theirs
    return {reply.name: _booking(reply, path.stem, overrides) for reply in paid_replies(entries, sidechains=True)}


def session_cost(
    path: Path, ledger: Iterable[Booking], overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES
) -> float | None:
    """What a session cost; None when no price is known."""
    booked = [one for one in ledger if one.session == path.stem]
    return total(booked or transcript_bookings(path, overrides).values()).cost_usd


def _booking(reply: PaidReply, session: str, overrides: Mapping[str, ProfileOverride]) -> Booking:
    envelope = reply.envelope
    price = cost(reply.usage, profile(reply.model, overrides))
    purpose = "agent" if envelope.is_sidechain else "turn"
    agent = envelope.agent_id or ""
    return Booking(_moment(envelope.timestamp), session, envelope.cwd, purpose, reply.model, reply.usage, price, agent)


def _moment(timestamp: str) -> datetime:
    try:
        found = datetime.fromisoformat(timestamp)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_figures(
    glances: Sequence[Glance],
    cache: Path,
    *,
    seconds: float,
    ledger: Iterable[Booking] = (),
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> dict[Path, Figures]:
    """Figures for as many of the sessions as are remembered or can be read in the time; writes what it learnt."""
    booked = {line.key: line.cost_usd for line in by(ledger, lambda one: one.session)}
    known = _read_cache(cache)
    deadline = time.monotonic() + seconds
    found: dict[Path, Figures] = {}
    learnt = False
    for glance in glances:
        stamp = _stamp(glance.path)
        remembered = known.get(str(glance.path))
        if remembered is not None and remembered[0] == stamp:
            found[glance.path] = remembered[1]
        elif stamp is not None and time.monotonic() < deadline:
            found[glance.path] = _figures(glance.path, overrides)
            known[str(glance.path)] = (stamp, found[glance.path])
            learnt = True
    if learnt:
        _write_cache(cache, known)
    return {path: replace(one, cost_usd=booked.get(path.stem, one.cost_usd)) for path, one in found.items()}


def _figures(path: Path, overrides: Mapping[str, ProfileOverride]) -> Figures:
    entries = read_entries(path)
    spoken = {
        entry.message_id or entry.envelope.uuid
        for entry in entries
        if isinstance(entry, AssistantEntry) and not entry.is_error
    }
    typed = sum(1 for entry in entries if isinstance(entry, UserEntry) and envelope_of(entry) is not None)
    return Figures(len(spoken) + typed, total(transcript_bookings(path, overrides).values()).cost_usd)


def _stamp(path: Path) -> str | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return f"{status.st_size}:{status.st_mtime_ns}"


def _read_cache(cache: Path) -> dict[str, tuple[str, Figures]]:
    try:
        document = json.loads(cache.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            return {}
        return {path: (row[0], Figures(row[1], row[2])) for path, row in document["sessions"].items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}


def _write_cache(cache: Path, known: Mapping[str, tuple[str, Figures]]) -> None:
    rows = {path: [stamp, figures.messages, figures.cost_usd] for path, (stamp, figures) in known.items()}
    try:
        write_atomic(cache, json.dumps({"format": FORMAT, "sessions": rows}), durable=False)
    except Error:
        # A home that cannot be written costs only the memory of these figures.
        return
