"""Splits a recording into its requests: what was added before each reply, the reply, and when.

The recording's own compactions are left out: the whole history is replayed, so every strategy starts from the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reverie.context.spans import chain
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    Entry,
    PromptEntry,
    UserEntry,
)
from reverie.values import value

SECONDS_BETWEEN = 20
"""Time from one request to the next where a recording has no clock; tool calls of an agent take about so long."""

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@value
class ReplayStep:
    """One request and what it was answered."""

    arrived: tuple[Entry, ...]
    """Entries that came since the reply before."""
    reply: tuple[AssistantEntry, ...]
    """The records of the answer."""
    at: datetime


def steps(entries: Sequence[Entry]) -> list[ReplayStep]:
    """The requests of a recording in order; what was typed after the last reply asks for nothing."""
    found: list[ReplayStep] = []
    arrived: list[Entry] = []
    reply: list[AssistantEntry] = []
    clock = BEGINNING
    for entry in chain(entries):
        if isinstance(entry, AssistantEntry):
            if entry.is_error:
                continue
            # Two replies with nothing between are taken as one: no request ends with the model's own words.
            reply.append(entry)
            continue
        if not isinstance(entry, UserEntry | AttachmentEntry | PromptEntry):
            continue
        if isinstance(entry, UserEntry) and entry.is_summary:
            continue
        if reply:
            found.append(_step(arrived, reply, clock))
            arrived, reply, clock = [], [], clock + timedelta(seconds=SECONDS_BETWEEN)
        arrived.append(entry)
    if reply:
        found.append(_step(arrived, reply, clock))
    return _in_order(_from_the_first_question(found))


def _from_the_first_question(found: list[ReplayStep]) -> list[ReplayStep]:
    """A recording whose beginning is missing may open with replies and results: they are history, not requests."""
    lost: tuple[Entry, ...] = ()
    for number, step in enumerate(found):
        if any(isinstance(entry, UserEntry) and not entry.message.tool_results for entry in step.arrived):
            return [replace(step, arrived=(*lost, *step.arrived)), *found[number + 1 :]]
        lost = (*lost, *step.arrived, *(replace(entry, usage=None) for entry in step.reply))
    return []


def _step(arrived: Sequence[Entry], reply: Sequence[AssistantEntry], otherwise: datetime) -> ReplayStep:
    return ReplayStep(tuple(arrived), tuple(reply), _moment(reply[0].envelope.timestamp) or otherwise)


def _moment(timestamp: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _in_order(found: list[ReplayStep]) -> list[ReplayStep]:
    """Clocks that go backwards, as after a resume on another machine, stand still instead."""
    ordered: list[ReplayStep] = []
    for step in found:
        at = max(step.at, ordered[-1].at) if ordered else step.at
        ordered.append(replace(step, at=at))
    return ordered
