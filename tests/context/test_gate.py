from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.context.gate import FAILED, REFILL_REPLIES, Breaker, Compact, Leave, Veto, breaker, gate
from reverie.messages.entries import BoundaryEntry
from reverie.models.tokens.window import budget
from reverie.settings import CollapseSettings, CompactionSettings, Settings
from tests.context.kit import Session, with_settings
from tests.requirements import requirement

FULL = budget(200_000, 64_000, used_tokens=167_001)
CALM = budget(200_000, 64_000, used_tokens=167_000)


@requirement("context:gate:vetoes")
def test_a_view_above_the_line_is_compacted_and_one_at_the_line_is_not() -> None:
    assert gate(FULL, Settings(), Breaker()) == Compact("167,001 tokens exceed the limit of 167,000")
    assert gate(CALM, Settings(), Breaker()) == Leave(Veto.ROOM)


@requirement("context:gate:vetoes")
def test_vetoes_are_asked_in_order() -> None:
    """Everything speaks against it; as each reason is taken away, the next one shows."""
    nothing_allowed = CompactionSettings(reactive_only=True, auto=False)
    settings = with_settings(collapse=CollapseSettings(enabled=True), compaction=nothing_allowed)
    broken = Breaker(failures=3, refills=3, replies=0)
    found = [gate(CALM, settings, broken, internal=True)]
    found.append(gate(CALM, settings, broken))
    settings = replace(settings, collapse=CollapseSettings())
    found.append(gate(CALM, settings, broken))
    settings = replace(settings, compaction=CompactionSettings(auto=False))
    found.append(gate(CALM, settings, broken))
    found.append(gate(CALM, Settings(), broken))
    found.append(gate(FULL, Settings(), broken))
    found.append(gate(FULL, Settings(), replace(broken, failures=0)))

    assert [one.veto if isinstance(one, Leave) else one.unpaid for one in found] == list(Veto)


@requirement("context:gate:vetoes")
def test_compaction_that_is_switched_off_altogether_is_off_for_the_gate_too() -> None:
    assert gate(FULL, with_settings(compaction=CompactionSettings(enabled=False)), Breaker()) == Leave(Veto.OFF)


def unpaid(session: Session) -> Veto | None:
    """Why no model is asked at a full window; it is compacted in any case."""
    decision = gate(FULL, Settings(), breaker(session.entries))
    assert isinstance(decision, Compact)
    return decision.unpaid


def boundary(session: Session, trigger: str = "auto") -> None:
    session.add(BoundaryEntry(session.envelope(), trigger))


@requirement("context:gate:breakers")
def test_three_failures_in_a_row_end_the_paying_and_never_the_reducing() -> None:
    session = Session().say("go").mark(FAILED, reason="x").mark(FAILED, reason="x")
    assert unpaid(session) is None

    session.mark(FAILED, reason="x")
    assert unpaid(session) is Veto.FAILURES

    boundary(session, "manual")
    assert breaker(session.entries).failures == 0


@requirement("context:gate:breakers")
def test_a_window_that_refills_three_times_in_a_row_is_compacted_without_paying() -> None:
    session = Session().say("go")
    for _ in range(3):
        boundary(session)
        session.reply("one answer only")

    assert unpaid(session) is Veto.REFILLS
    for _ in range(REFILL_REPLIES - 1):
        session.reply("more work")
    assert unpaid(session) is None


@pytest.mark.parametrize("replies", [1, 2])
@requirement("context:gate:breakers")
def test_the_first_and_second_refill_are_still_compacted(replies: int) -> None:
    session = Session().say("go")
    for _ in range(2):
        boundary(session)
        for _ in range(replies):
            session.reply("answer")

    assert isinstance(gate(FULL, Settings(), breaker(session.entries)), Compact)
