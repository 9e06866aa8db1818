from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from reverie.messages.blocks import Json
from reverie.messages.entries import NotesEntry
from reverie.messages.message import Usage
from reverie.models.ledger import Booking
from reverie.session.session import Session
from reverie.settings import NotesSettings
from reverie_simulator.script import Fault, Incoming, ScriptAction, ToolCall
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, told

ASKED = "Bring the notes on\\s+this session up to date"
OFTEN = NotesSettings(init_tokens=1_000, growth_tokens=500)


def notes_path(at: Desk, session: Session) -> Path:
    return session.path.with_suffix("") / "session-memory" / "summary.md"


def body_of(text: str, heading: str) -> str:
    """What stands below a heading and its italic line."""
    return text.partition(f"# {heading}\n")[2].partition("\n# ")[0].partition("\n")[2].strip()


class Writer:
    """Plays the provider: turns are answered at once, questions for notes by what a test says."""

    def __init__(self, *replies: ScriptAction | tuple[str, str] | str) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []

    def __call__(self, incoming: Incoming) -> ScriptAction | None:
        question = incoming.last_user
        if "<current_notes>" not in question:
            return None
        if incoming.tool_result:
            return ScriptAction(text="done")
        self.asked.append(question)
        reply = self.replies.pop(0) if self.replies else "nothing"
        if isinstance(reply, ScriptAction):
            return reply
        if isinstance(reply, str):
            return ScriptAction(text=reply)
        heading, words = reply
        path = question.partition("They lie in `")[2].partition("`")[0]
        frame = question.partition("<current_notes>\n")[2].partition("\n</current_notes>")[0]
        italic = frame.partition(f"# {heading}\n")[2].partition("\n")[0]
        old = f"# {heading}\n{italic}"
        given = {"file_path": path, "old_string": old, "new_string": f"{old}\n{words}"}
        return ScriptAction(tool_calls=(ToolCall("Edit", given),))


def spend(session: Session) -> None:
    """Let background work have cost more than it may."""
    booking = Booking(datetime.now(UTC), session.id, "", "dream", "claude-sonnet-4-5", Usage(), 500.0)
    session.parts.governor.note(booking)


async def grown(session: Session, turns: int = 1) -> None:
    for number in range(turns):
        await told(session, f"part {number} " + "word " * 1_500)
        await session.parts.notes_writer.settle()


@requirement("session:notes:improved")
async def test_what_a_fork_edits_is_kept_and_later_edits_join_it(tmp_path: Path) -> None:
    writer = Writer(("Current State", "Counting herons."), ("Worklog", "- counted five"))
    with desk(tmp_path) as at:
        at.provider.simulation.use_script(writer)
        at.settings = replace(at.settings, notes=OFTEN)
        async with at.start() as session:
            await grown(session, 2)
            text = notes_path(at, session).read_text(encoding="utf-8")

        assert body_of(text, "Current State") == "Counting herons."
        assert body_of(text, "Worklog") == "- counted five"
        entries = [entry for entry in session.entries if isinstance(entry, NotesEntry)]
        assert [entry.by for entry in entries] == ["claude-sonnet-4-5"] * 2
        assert {record.status for record in at.provider.requests} == {200}


@requirement("session:notes:improved")
async def test_a_spent_budget_a_failure_and_a_useless_reply_leave_a_models_notes_alone(tmp_path: Path) -> None:
    broken = ScriptAction(fault=Fault("invalid", message="no notes today"))
    breaks_the_frame = ("Current State", "x\n# Another heading\ny")
    writer = Writer(("Current State", "Counting herons."), broken, "I cannot do that.", breaks_the_frame)
    with desk(tmp_path) as at:
        at.provider.simulation.use_script(writer)
        at.settings = replace(at.settings, notes=OFTEN)
        async with at.start() as session:
            await grown(session, 4)
            assert len(writer.asked) == 4
            text = notes_path(at, session).read_text(encoding="utf-8")
        assert body_of(text, "Current State") == "Counting herons."

        async with at.resume(session.id) as resumed:
            spend(resumed)
            await grown(resumed, 2)
        assert notes_path(at, session).read_text(encoding="utf-8") == text
        assert len(writer.asked) == 4


@requirement("session:notes:improved")
async def test_without_a_budget_the_first_notes_are_written_from_structure_and_a_model_improves_them(
    tmp_path: Path,
) -> None:
    writer = Writer(("Learnings", "Herons are shy."))
    with desk(tmp_path) as at:
        at.provider.simulation.use_script(writer)
        at.settings = replace(at.settings, notes=OFTEN)
        async with at.start() as session:
            spend(session)
            await told(session, "please count the herons by the river")
            await grown(session, 2)
            first = notes_path(at, session).read_text(encoding="utf-8")
        assert not writer.asked
        async with at.resume(session.id) as resumed:
            await grown(resumed)
            text = notes_path(at, session).read_text(encoding="utf-8")

        assert "count the herons" in first
        assert body_of(text, "Learnings").startswith("Herons are shy.")


@requirement("context:notes:trigger")
async def test_a_greeting_is_not_worth_notes(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.file("CLAUDE.md", "Many rules. " * 6_000)
        async with at.start() as session:
            await told(session, "hello")
            await session.parts.notes_writer.settle()

        assert not at.questions_for_notes


@requirement("context:notes:cursor")
async def test_within_a_turn_pending_calls_are_no_interrupted_ones_and_the_cursor_moves(tmp_path: Path) -> None:
    reads: list[Json] = [
        {"when": {"last_user": "read"}, "times": 1, "then": calls(("Read", {"file_path": f"{number}.txt"}))}
        for number in range(6)
    ]
    script: list[Json] = [{"when": {"last_user": ASKED}, "then": "nothing new"}, *reads, {"then": "done"}]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, notes=replace(OFTEN, tool_calls=1))
        for number in range(6):
            at.file(f"{number}.txt", f"line {number} of many\n" * 400)
        async with at.start() as session:
            await told(session, "read them all, please")
            await session.parts.notes_writer.settle()

        asked = [json.dumps(record.body) for record in at.questions_for_notes]
        assert asked
        assert not any("interrupted" in body for body in asked)
        moved = [entry.covers for entry in session.entries if isinstance(entry, NotesEntry)]
        assert None not in moved
