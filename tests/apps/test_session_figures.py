from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.apps.session_figures import read_figures, session_cost
from reverie.messages.blocks import Json
from reverie.messages.listing import list_glances
from reverie.models.ledger import by, read_bookings, total
from reverie.models.ports import TextDelta
from tests.requirements import requirement
from tests.session.session_desk import desk, told


@requirement("ledger:one-figure")
async def test_every_command_names_the_same_cost_and_a_fork_does_not_count_its_original_again(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "a rather long answer " * 50}]) as at:
        async with at.start() as session:
            await told(session, "one")
        async with at.resume(session.id) as again:
            before = again.status.cost_usd
            await told(again, "two")
        shown = again.status.cost_usd
        async with at.resume(session.id, fork=True) as copy:
            await told(copy, "three")
        places = at.setup().places

    ledger = list(read_bookings(places.ledger))
    booked = {line.key: line.cost_usd for line in by(ledger, lambda one: one.session)}
    glances = list_glances([session.path.parent])
    figures = read_figures(glances, tmp_path / "cache", seconds=30, ledger=ledger)
    assert before
    assert shown == pytest.approx(booked[session.id])
    assert {path.stem: one.cost_usd for path, one in figures.items()} == booked
    assert session_cost(session.path, ledger) == booked[session.id]
    # As the transcripts alone tell it: replies that came with the fork are its original's.
    by_files = [session_cost(glance.path, ()) or 0.0 for glance in glances]
    assert sum(by_files) <= (total(ledger).cost_usd or 0.0) + 1e-9
    assert (session_cost(copy.path, ()) or 0.0) < (session_cost(session.path, ()) or 0.0)


@requirement("ledger:book:interrupted")
async def test_a_turn_that_is_left_is_booked_like_every_other_request(tmp_path: Path) -> None:
    script: list[Json] = [{"then": {"text": "word " * 400, "event_delay_ms": 20}}]
    with desk(tmp_path, script) as at:
        session = at.start()
        async for event in session.send("tell me a long story"):
            if isinstance(event, TextDelta):
                break
        await session.close()
        ledger = list(read_bookings(at.setup().places.ledger))

        assert len(ledger) == len(at.provider.requests) == 1
    (left,) = ledger
    assert left.is_estimate
    assert left.cost_usd
    assert json.loads(next((at.home / ".reverie" / "ledger").glob("*.jsonl")).read_text())["estimated"] is True
