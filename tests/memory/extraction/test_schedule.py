from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.extraction.schedule import (
    ExtractionGates,
    Failed,
    GivenUp,
    Rest,
    Run,
    RunFinished,
    ScheduleState,
    SkipReason,
    TurnEnd,
    leaving,
    run_ended,
    start_trailing_run,
    turn_ended,
)
from tests.requirements import requirement

OPEN = ExtractionGates()


def turn(number: int, *, messages: int = 2) -> TurnEnd:
    return TurnEnd(f"m{number}", messages)


@requirement("extraction:gates")
@pytest.mark.parametrize(
    ("gates", "why"),
    [
        (ExtractionGates(is_main=False, is_on=False), SkipReason.sub_agent),
        (ExtractionGates(is_on=False, memory_on=False), SkipReason.off),
        (ExtractionGates(memory_on=False), SkipReason.memory_off),
        (ExtractionGates(is_remote=True), SkipReason.remote),
    ],
)
def test_the_first_closed_gate_stops_everything(gates: ExtractionGates, why: SkipReason) -> None:
    assert turn_ended(ScheduleState(), turn(1), gates) == (ScheduleState(), Rest(why))
    assert leaving(ScheduleState(), turn(1), gates) == (ScheduleState(), Rest(why))


def test_a_turn_starts_a_run_and_its_success_moves_the_cursor() -> None:
    state, step = turn_ended(ScheduleState(), turn(1), OPEN)

    assert step == Run(turn(1))
    assert run_ended(state, succeeded=True) == (ScheduleState(), RunFinished("m1"), None)


@requirement("extraction:coalesce", "extraction:throttle")
def test_turns_during_a_run_become_one_trailing_run_over_the_newest() -> None:
    state, _ = turn_ended(ScheduleState(turns=2), turn(1), OPEN, every_n_turns=3)
    for number in (2, 3):
        state, step = turn_ended(state, turn(number), OPEN, every_n_turns=3)
        assert step == Rest(SkipReason.overlap)

    state, ended, trailing = run_ended(state, succeeded=False)

    assert (ended, trailing) == (Failed(1), Run(turn(3), is_trailing=True))
    assert state.pending is None


@requirement("extraction:throttle")
def test_only_every_nth_turn_runs_and_the_last_run_takes_the_rest() -> None:
    state = ScheduleState()
    started = []
    for number in range(1, 6):
        state, step = turn_ended(state, turn(number), OPEN, every_n_turns=3)
        if isinstance(step, Run):
            started.append(number)
            state, _, _ = run_ended(state, succeeded=True)

    assert started == [3]
    assert leaving(state, turn(5), OPEN)[1] == Run(turn(5), is_trailing=True)
    assert leaving(state, turn(5, messages=0), OPEN)[1] == Rest(SkipReason.no_news)


@requirement("extraction:retries")
def test_messages_that_fail_are_tried_twice_more_and_then_given_up() -> None:
    state, endings = ScheduleState(), []
    for number in (1, 2, 3):
        state, step = turn_ended(state, turn(number), OPEN)
        assert isinstance(step, Run)
        state, ended, _ = run_ended(state, succeeded=False, max_retries=2)
        endings.append(ended)

    assert endings == [Failed(1), Failed(2), GivenUp("m3", 3)]
    assert state.failures == 0


@requirement("extraction:coalesce", "extraction:retries", "extraction:gates")
@given(st.lists(st.sampled_from(["turn", "good", "bad"]), max_size=40), st.integers(1, 4))
def test_there_is_never_more_than_one_run_and_no_message_is_lost(events: list[str], every_n_turns: int) -> None:
    state, cursor, failures, running = ScheduleState(), 0, 0, False
    told = 0
    for event in events:
        if event == "turn":
            told += 1
            state, step = turn_ended(state, turn(told), OPEN, every_n_turns=every_n_turns)
            assert not (running and isinstance(step, Run))
            running = running or isinstance(step, Run)
        elif running:
            state, ended, trailing = run_ended(state, succeeded=event == "good")
            if isinstance(ended, RunFinished | GivenUp):
                assert int(ended.covers[1:]) > cursor
                cursor, failures = int(ended.covers[1:]), 0
            else:
                failures += 1
                assert ended == Failed(failures)
                assert failures <= 2
            running = trailing is not None
    assert (state.running is not None) == running
    if not running:
        _, step = leaving(state, turn(told, messages=told - cursor), OPEN)
        assert isinstance(step, Run) == (told > cursor)


@requirement("extraction:coalesce")
def test_a_trailing_run_looks_at_what_lies_after_the_cursor_now() -> None:
    state, _ = turn_ended(ScheduleState(), TurnEnd("m1", 2), ExtractionGates())
    state, _ = turn_ended(state, TurnEnd("m3", 4), ExtractionGates())
    state, _, trailing = run_ended(state, succeeded=True)
    assert trailing is not None

    counted, step = start_trailing_run(state, TurnEnd("m3", 2))
    assert step == Run(TurnEnd("m3", 2), is_trailing=True)
    assert counted.running == TurnEnd("m3", 2)
    assert start_trailing_run(state, None) == (ScheduleState(), Rest(SkipReason.no_news))
