from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.files import exclusive
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.gates import DreamGates, Gate, list_sessions_since
from reverie.memory.dream.lock import DreamState, write_state
from reverie.memory.dream.proposal import Proposal, write_proposal
from tests.requirements import requirement

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
FIVE = ("s1", "s2", "s3", "s4", "s5")


class Counted:
    """Counts how often the costly question is asked."""

    def __init__(self, answer: tuple[str, ...] = FIVE) -> None:
        self.answer = answer
        self.asked: list[datetime | None] = []

    def __call__(self, since: datetime | None) -> tuple[str, ...]:
        self.asked.append(since)
        return self.answer


def folder_at(path: Path) -> MemoryFolder:
    path.mkdir(exist_ok=True)
    return MemoryFolder(path, path)


@requirement("dream:gates")
def test_a_directory_that_never_dreamt_is_due_with_enough_sessions(tmp_path: Path) -> None:
    verdict = DreamGates(folder_at(tmp_path), Counted()).ask(NOW)
    assert (verdict.is_open, verdict.sessions) == (True, FIVE)


@requirement("dream:gates")
@pytest.mark.parametrize("gate", list(Gate))
def test_each_gate_closes_before_anything_dearer_is_asked(tmp_path: Path, gate: Gate) -> None:
    """All later gates are closed too; the first one answers, and sessions are counted only from their gate on."""
    folder = folder_at(tmp_path)
    order = [Gate.enabled, Gate.time, Gate.proposal, Gate.throttle, Gate.sessions, Gate.lock]
    closed = order[order.index(gate) :]
    counted = Counted(("s1",) if Gate.sessions in closed else FIVE)
    gates = DreamGates(folder, counted, off="dream.enabled is false" if Gate.enabled in closed else "")
    if Gate.throttle in closed:
        few = DreamGates(folder, Counted(()))
        assert few.ask(NOW - timedelta(minutes=1)).closed is Gate.sessions
        gates = few
        gates.sessions_since = counted
        gates.off = "dream.enabled is false" if Gate.enabled in closed else ""
    if Gate.proposal in closed:
        write_proposal(folder, Proposal(NOW, "embedded"))
    if Gate.time in closed:
        write_state(folder, DreamState(last_success=NOW - timedelta(hours=23, minutes=59)))
    with exclusive(folder.dream_lock, label="dreaming", now=NOW):
        verdict = gates.ask(NOW)

    assert verdict.closed is gate
    assert verdict.detail
    assert len(counted.asked) == (gate in {Gate.sessions, Gate.lock})


@requirement("dream:gates")
def test_after_a_day_and_ten_minutes_the_gates_open_again(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    write_state(folder, DreamState(last_success=NOW - timedelta(hours=24)))
    counted = Counted(())
    gates = DreamGates(folder, counted)
    assert gates.ask(NOW).closed is Gate.sessions
    assert gates.ask(NOW + timedelta(minutes=9)).closed is Gate.throttle
    counted.answer = FIVE
    assert gates.ask(NOW + timedelta(minutes=10)).is_open
    assert counted.asked == [NOW - timedelta(hours=24)] * 2


@requirement("dream:gates")
def test_a_failure_is_tried_again_later_and_later(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    state = DreamState().failing(NOW)
    write_state(folder, state)
    gates = DreamGates(folder, Counted())
    assert gates.ask(NOW + timedelta(minutes=59)).closed is Gate.throttle
    assert gates.ask(NOW + timedelta(minutes=60)).is_open
    write_state(folder, state.failing(NOW).failing(NOW))
    assert gates.ask(NOW + timedelta(hours=3)).closed is Gate.throttle
    assert gates.ask(NOW + timedelta(hours=4)).is_open
    write_state(folder, state.succeeded(NOW - timedelta(days=2)))
    assert gates.ask(NOW).is_open


@requirement("dream:gates")
def test_a_discarded_proposal_is_not_made_again_at_once(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    write_state(folder, DreamState(settled=NOW - timedelta(hours=1)))
    assert DreamGates(folder, Counted()).ask(NOW).closed is Gate.time


@requirement("dream:gates")
def test_a_clock_that_was_far_ahead_does_not_close_the_gate_for_ever(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    write_state(folder, DreamState(last_success=NOW + timedelta(days=400)))
    assert DreamGates(folder, Counted()).ask(NOW).is_open


@requirement("dream:gates")
def test_sessions_count_when_somebody_spoke_in_them_since(tmp_path: Path) -> None:
    def transcript(name: str, content: str, day: int) -> None:
        path = tmp_path / f"{name}.jsonl"
        path.write_text(content, encoding="utf-8")
        moment = NOW.replace(day=day).timestamp()
        os.utime(path, (moment, moment))

    spoken = '{"type":"user","message":{"role":"user","content":"hi"}}\n'
    transcript("old", spoken, 1)
    transcript("new", spoken, 8)
    transcript("newer", spoken, 9)
    transcript("current", spoken, 9)
    transcript("empty", "", 9)
    transcript("silent", '{"type":"summary"}\n', 9)
    transcript("agent-7", spoken, 9)
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")

    found = list_sessions_since([tmp_path], NOW.replace(day=5), current="current")
    assert found == ("newer", "new")
    assert set(list_sessions_since([tmp_path], None)) == {"old", "new", "newer", "current"}
