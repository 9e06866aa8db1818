"""Exact figures of sessions (messages, cost), which only reading a whole file gives, remembered between runs.

Listing must stay instant, so files are read newest first until the time allowed is over; the rest keep their estimate
and are read by a later run. The memory is a derived file: safe to delete, ignored when damaged.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reverie.errors import Error
from reverie.files import write_atomic
from reverie.messages.entries import AssistantEntry, UserEntry, envelope_of
from reverie.messages.listing import Glance
from reverie.messages.transcript import read_entries
from reverie.tokens.profiles import NO_OVERRIDES, ProfileOverride
from reverie.tokens.usage import bill, totals

FORMAT = 1
"""Version of the remembered figures; another one is forgotten."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What reading the whole file gave."""

    messages: int
    cost_usd: float | None


def read_figures(
    glances: Sequence[Glance],
    cache: Path,
    *,
    seconds: float,
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> dict[Path, Figures]:
    """Figures for as many of the sessions as are remembered or can be read in the time; writes what it learnt."""
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
    return found


def _figures(path: Path, overrides: Mapping[str, ProfileOverride]) -> Figures:
    entries = read_entries(path)
    spoken = {
        entry.message_id or entry.envelope.uuid
        for entry in entries
        if isinstance(entry, AssistantEntry) and not entry.is_error
    }
    typed = sum(1 for entry in entries if isinstance(entry, UserEntry) and envelope_of(entry) is not None)
    return Figures(len(spoken) + typed, bill(totals(entries), overrides).usd)


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
