from __future__ import annotations

from contextlib import aclosing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Error, Overloaded
from reverie.messages.message import Usage
from reverie.models.flow import answer
from reverie.models.ledger import Booked, Booking, Governor, append_booking, by, read_bookings, total
from reverie.models.ports import Finished, Retrying, TextDelta
from reverie.settings import BudgetSettings
from reverie.testing.build import reply, request
from reverie.testing.scripted_model import ScriptedModel, Step
from tests.requirements import requirement

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)

tokens = st.integers(0, 10**9)
bookings = st.builds(
    Booking,
    st.integers(0, 10**12).map(lambda ms: NOON - timedelta(milliseconds=ms)),
    st.text(max_size=8),
    st.text(max_size=8),
    st.sampled_from(["turn", "notes", "extraction"]),
    st.text(max_size=8),
    st.builds(Usage, tokens, tokens, tokens, tokens, tokens),
    st.none() | st.floats(0, 100),
    st.text(max_size=8),
    st.booleans(),
)


def booking(purpose: str, cost: float, *, when: datetime = NOON) -> Booking:
    return Booking(when, "s", "p", purpose, "m", Usage(10, 5, 30, 10), cost)


@requirement("ledger:book:many-writers")
@given(st.lists(bookings, max_size=6))
def test_what_is_booked_is_read_back(tmp_path_factory: object, made: list[Booking]) -> None:
    folder = Path(str(tmp_path_factory.mktemp("ledger")))  # type: ignore[attr-defined]
    for one in made:
        append_booking(folder, one)

    found = list(read_bookings(folder))

    assert sorted(found, key=repr) == sorted(made, key=repr)


@requirement("ledger:book:many-writers")
def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    append_booking(tmp_path, booking("turn", 1.0))
    with (tmp_path / "2026-11.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"when": "2026-11-15T1\n')
    append_booking(tmp_path, booking("notes", 2.0))

    assert [one.purpose for one in read_bookings(tmp_path)] == ["turn", "notes"]


@requirement("ledger:book:every-call")
async def test_a_booked_model_books_each_answer_with_its_purpose() -> None:
    whole = reply("hello", usage=Usage(10, 2, 30))
    model, heard = booked(whole)

    assert (await answer(model, request("hi"))).text == "hello"
    assert heard == [("turn", whole.model, whole.usage, False)]


def booked(*steps: Step, name: str = "claude-sonnet-4-5") -> tuple[Booked, list[tuple[str, str, Usage, bool]]]:
    heard: list[tuple[str, str, Usage, bool]] = []

    def book(
        purpose: str, model: str, usage: Usage, *, is_estimate: bool = False, cost_usd: float | None = None
    ) -> None:
        assert cost_usd is None
        heard.append((purpose, model, usage, is_estimate))

    return Booked(ScriptedModel(list(steps), name=name), book), heard


@requirement("ledger:book:interrupted")
async def test_a_call_that_is_left_is_booked_with_what_was_sent_and_has_arrived() -> None:
    model, heard = booked(reply("hello", usage=Usage(100, 2)), "one two three four five")
    await answer(model, request("hi"))

    async with aclosing(model.stream(request("word " * 500))) as events:
        async for event in events:
            assert isinstance(event, TextDelta)
            break

    _, (purpose, _, usage, is_estimate) = heard
    assert (purpose, is_estimate) == ("turn", True)
    assert usage.cache_read_tokens == 100
    assert 300 < usage.input_tokens < 1_000
    assert 0 < usage.output_tokens < 10


@requirement("ledger:book:interrupted")
@pytest.mark.parametrize(
    ("step", "estimates"),
    [
        ((TextDelta("half an"),), 1),
        (
            (
                TextDelta("half an"),
                Retrying("cut off", 0.1, 1),
                TextDelta("answer"),
                Finished(reply("answer", usage=Usage())),
            ),
            2,
        ),
        ((Retrying("busy", 0.1, 1), Finished(reply("answer", usage=Usage(5, 5)))), 0),
        (reply("a server that does not count", usage=Usage()), 1),
        (Overloaded("busy"), 0),
    ],
)
async def test_what_nobody_counted_is_estimated_and_what_was_refused_is_not_booked(step: Step, estimates: int) -> None:
    model, heard = booked(step)
    with suppress(Error):
        async for _ in model.stream(request("hi")):
            pass

    assert sum(is_estimate for *_, is_estimate in heard) == estimates


@requirement("ledger:book:interrupted")
async def test_without_a_provider_there_is_nothing_to_estimate() -> None:
    model, heard = booked(reply("hello", usage=Usage()), (TextDelta("half an"),), name="offline")
    await answer(model, request("hi"))
    async for _ in model.stream(request("hi")):
        pass

    assert [(usage, is_estimate) for _, _, usage, is_estimate in heard] == [(Usage(), False)]


@requirement("ledger:governor:stops")
def test_background_work_stops_at_its_share_and_goes_on_when_the_session_has_earned_more() -> None:
    governor = Governor(BudgetSettings(background_fraction=0.1, background_usd_per_hour=1.0), lambda: NOON)
    assert governor.refuses() == ""
    governor.note(booking("turn", 1.0))
    governor.note(booking("extraction", 0.2))

    assert "background_fraction" in governor.refuses()
    governor.note(booking("turn", 1.5))
    assert governor.refuses() == ""
    assert "background_fraction" in governor.refuses(estimate_usd=0.06)


@requirement("ledger:governor:stops")
def test_background_work_stops_at_its_dollars_per_hour_until_the_hour_has_passed() -> None:
    now = NOON
    governor = Governor(BudgetSettings(background_fraction=1.0, background_usd_per_hour=0.5), lambda: now)
    governor.note(booking("turn", 100.0))
    governor.note(booking("dream", 0.6))

    assert "background_usd_per_hour" in governor.refuses()
    now = NOON + timedelta(minutes=59)
    assert "background_usd_per_hour" in governor.refuses()
    now = NOON + timedelta(hours=1, minutes=1)
    assert governor.refuses() == ""


@requirement("ledger:governor:stops")
def test_as_shipped_background_work_may_cost_half_a_dollar_an_hour_with_what_it_is_about_to_cost() -> None:
    governor = Governor(BudgetSettings(), lambda: NOON)
    governor.note(booking("dream", 0.25))

    assert governor.refuses(estimate_usd=0.25) == ""
    assert "background_usd_per_hour" in governor.refuses(estimate_usd=0.26)
    governor.note(booking("dream", 0.26))
    assert "background_usd_per_hour" in governor.refuses()


@requirement("ledger:governor:early")
def test_early_in_a_session_the_share_is_that_of_an_hour() -> None:
    governor = Governor(BudgetSettings(background_fraction=0.1, background_usd_per_hour=0.5), lambda: NOON)
    governor.note(booking("turn", 0.01))

    assert governor.refuses(estimate_usd=0.05) == ""
    assert "its limit is $0.0500" in governor.refuses(estimate_usd=0.051)
    governor.note(booking("turn", 0.99))
    assert governor.refuses(estimate_usd=0.1) == ""
    assert governor.refuses(estimate_usd=0.11) != ""


@requirement("ledger:governor:carried")
def test_a_dream_may_use_what_earlier_sessions_left_of_their_share() -> None:
    governor = Governor(BudgetSettings(background_fraction=0.1, background_usd_per_hour=0.5), lambda: NOON)
    governor.note(booking("turn", 0.01))
    assert governor.refuses(estimate_usd=0.2) != ""

    governor.carry([booking("turn", 3.0), booking("extraction", 0.1)])
    assert governor.refuses(estimate_usd=0.2) == ""
    assert governor.refuses(estimate_usd=0.26) != ""
    governor.carry([booking("turn", 1.0), booking("extraction", 0.2)])
    assert governor.refuses(estimate_usd=0.06) != ""
    assert governor.spent_on("turn") == 0.01


@requirement("ledger:governor:stops")
def test_a_session_stops_at_its_own_limit() -> None:
    governor = Governor(BudgetSettings(session_usd=1.0), lambda: NOON)
    governor.note(booking("turn", 0.9))
    assert governor.session_is_spent() == ""
    governor.note(booking("turn", 0.1))
    assert "budget.session_usd" in governor.session_is_spent()
    assert "budget.session_usd" in governor.refuses()


@requirement("ledger:command:adds-up")
def test_lines_add_up() -> None:
    made = [booking("turn", 1.0), booking("notes", 0.25), booking("turn", 2.0)]

    lines = {line.key: line for line in by(made, lambda one: one.purpose)}

    assert lines["turn"].cost_usd == 3.0
    assert lines["turn"].calls == 2
    assert lines["turn"].usage == Usage(20, 10, 60, 20)
    assert lines["notes"].cache_share == 0.6
    assert total(made).cost_usd == 3.25
