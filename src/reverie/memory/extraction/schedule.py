"""When extraction runs: gates, throttle, coalescing with one trailing run, retries, the last run at exit.

A pure state machine. The agent loop tells it what happened and does what it answers; the cursor lies in the transcript
(`cursor.py`) and every answer that moves it says where to.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TypeAlias

from reverie.values import value


class SkipReason(StrEnum):
    """Why a turn starts no run."""

    sub_agent = "a sub-agent's turn"
    off = "extraction is off"
    memory_off = "memory is off"
    remote = "remote mode"
    overlap = "a run is under way; this turn follows it"
    throttled = "not every turn is looked at"
    no_news = "no new messages"


@value
class ExtractionGates:
    """What must hold for a turn to be looked at, in this order."""

    is_main: bool = True
    is_on: bool = True
    """The switch, and in non-interactive mode the further one (`settings.features`)."""
    memory_on: bool = True
    is_remote: bool = False

    def find_skip_reason(self) -> SkipReason | None:
        """The first gate that does not hold."""
        checks = (
            (self.is_main, SkipReason.sub_agent),
            (self.is_on, SkipReason.off),
            (self.memory_on, SkipReason.memory_off),
            (not self.is_remote, SkipReason.remote),
        )
        return next((why for holds, why in checks if not holds), None)


@value
class TurnEnd:
    """The end of a turn, as the transcript tells it."""

    newest: str
    """The id of the newest message."""
    messages: int
    """How many user and assistant messages lie after the cursor."""


@value
class ScheduleState:
    """Between two calls; a fresh one for each session."""

    running: TurnEnd | None = None
    pending: TurnEnd | None = None
    """The newest turn that ended during a run."""
    turns: int = 0
    """Eligible turns since the last run."""
    failures: int = 0
    """How often the messages after the cursor have failed; on resume taken from the cursor."""


@value
class Run:
    """Start a run over the messages after the cursor up to this turn's end."""

    turn: TurnEnd
    is_trailing: bool = False


@value
class Rest:
    """Start nothing."""

    why: SkipReason


@value
class RunFinished:
    """A run succeeded: the cursor moves."""

    covers: str


@value
class Failed:
    """A run failed and its messages will be tried again; the cursor keeps its place and this count."""

    failures: int


@value
class GivenUp:
    """A run failed for the last time: the cursor moves over its messages, and the user is told."""

    covers: str
    failures: int


Step: TypeAlias = Run | Rest
Ended: TypeAlias = RunFinished | Failed | GivenUp


def turn_ended(
    state: ScheduleState, turn: TurnEnd, gates: ExtractionGates, *, every_n_turns: int = 1
) -> tuple[ScheduleState, Step]:
    """What to do at the end of a turn; nobody waits for it."""
    closed = gates.find_skip_reason()
    if closed is not None:
        return state, Rest(closed)
    if state.running is not None:
        return replace(state, pending=turn), Rest(SkipReason.overlap)
    if turn.messages == 0:
        return state, Rest(SkipReason.no_news)
    state = replace(state, turns=state.turns + 1)
    if state.turns < every_n_turns:
        return state, Rest(SkipReason.throttled)
    return _start_run(replace(state, turns=0), turn, is_trailing=False)


def run_ended(
    state: ScheduleState, *, succeeded: bool, max_retries: int = 2
) -> tuple[ScheduleState, Ended, Run | None]:
    """What became of the run, and the one trailing run over what was said meanwhile; the throttle does not hold it."""
    assert state.running is not None, "a run ends that was never started"
    ended: Ended
    failures = 0 if succeeded else state.failures + 1
    if succeeded:
        ended = RunFinished(state.running.newest)
    elif failures > max_retries:
        ended, failures = GivenUp(state.running.newest, failures), 0
    else:
        ended = Failed(failures)
    idle = replace(state, running=None, pending=None, failures=failures)
    if state.pending is None:
        return idle, ended, None
    after, step = _start_run(idle, state.pending, is_trailing=True)
    return after, ended, step if isinstance(step, Run) else None


def start_trailing_run(state: ScheduleState, turn: TurnEnd | None) -> tuple[ScheduleState, Step]:
    """The trailing run over what lies after the cursor now that it has moved; None and it has nothing to do."""
    idle = replace(state, running=None)
    if turn is None or turn.messages == 0:
        return idle, Rest(SkipReason.no_news)
    return _start_run(idle, turn, is_trailing=True)


def leaving(state: ScheduleState, turn: TurnEnd | None, gates: ExtractionGates) -> tuple[ScheduleState, Step]:
    """What to do before the process ends: one run that no throttle holds, over whatever is left."""
    closed = gates.find_skip_reason()
    if closed is not None:
        return state, Rest(closed)
    if state.running is not None:
        return replace(state, pending=turn or state.pending), Rest(SkipReason.overlap)
    if turn is None or turn.messages == 0:
        return state, Rest(SkipReason.no_news)
    return _start_run(replace(state, turns=0), turn, is_trailing=True)


def _start_run(state: ScheduleState, turn: TurnEnd, *, is_trailing: bool) -> tuple[ScheduleState, Step]:
    return replace(state, running=turn), Run(turn, is_trailing)
