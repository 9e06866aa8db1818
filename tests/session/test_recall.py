"""What the user's words call up is in the request that they are sent with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.messages.message import Usage, assistant
from reverie.models.ports import Event, Finished, Model, Reply, Request
from reverie.session.events import TurnEnded
from reverie.session.session import Session
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, results, told

SELECTOR = "claude-haiku-4-5"
FACTS = {
    "harbour": "Crates from the harbour are weighed twice",
    "meadow": "Tractors for the meadow run on diesel only",
    "glacier": "Samples of the glacier stay frozen at night",
    "orchard": "Ladders in the orchard belong to Maren",
    "quarry": "Blasting at the quarry needs two signatures",
    "lagoon": "Kayaks near the lagoon carry flares",
}
SUBJECTS = tuple(FACTS)


def fill(session: Session) -> None:
    """One memory for each subject."""
    for subject, said in FACTS.items():
        session.memory.save(name=f"{subject} notes", description=said, type="project", body=said)


def fill_beside(session: Session) -> str:
    """A memory that shares an everyday word with every question, which is not enough; its path."""
    said = "What you must know first: zebra paint dries slowly"
    session.memory.save(name="zebra paint", description=said, type="reference", body=said)
    return "reference_zebra_paint.md"


def after_index(body: Mapping[str, Any]) -> str:
    """What was said behind the list of all memories, which stands in the first message."""
    return json.dumps(body["messages"]).partition(asked_about("harbour"))[2]


def asked_about(subject: str) -> str:
    return f"what must I know about the {subject}?"


def is_recalled(body: Mapping[str, Any], subject: str) -> bool:
    """Whether a request that asks about a subject has its memory, behind the list of all."""
    text = json.dumps(body["messages"])
    asked = text.find("what must I know about")
    return asked_about(subject) in text and f"project_{subject}_notes.md" in text[asked:]


class Gate:
    """A selector that answers when it is let go, with the memory it was told to choose."""

    name = SELECTOR

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.answered = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        del request
        self.asked.set()
        await self.go.wait()
        chosen = assistant(json.dumps({"selected_memories": [self.choice]}))
        yield Finished(Reply(chosen, Usage(10, 5), "end_turn", SELECTOR))
        self.answered.set()


def selected_by(at: Desk, selector: Model, seconds: float) -> None:
    """Let a model choose, for so long."""
    recall = replace(at.settings.recall, timeout_seconds=seconds)
    at.settings = replace(
        at.settings,
        recall=recall,
        model=replace(at.settings.model, background=SELECTOR),
        extraction=replace(at.settings.extraction, enabled=False),
        notes=replace(at.settings.notes, enabled=False),
    )
    at.models[SELECTOR] = selector


@requirement("recall:arrives")
@pytest.mark.parametrize("kind", ["words", "vectors", "selector"])
async def test_the_memory_that_ranks_first_is_in_the_first_request_of_a_turn(
    tmp_path: Path, kind: str, thorough: bool
) -> None:
    chosen: dict[str, Json] = {"text": json.dumps({"selected_memories": []}), "delay_ms": 150}
    with desk(tmp_path, [{"when": {"model": SELECTOR}, "then": chosen}, {"then": "fine"}]) as at:
        if kind == "vectors":
            pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")
            from tests.memory.search.by_lot import write_model

            write_model(at.home / ".reverie" / "models" / "all-MiniLM-L6-v2")
            at.settings = replace(at.settings, recall=replace(at.settings.recall, vectors_timeout_seconds=30.0))
        if kind == "selector":
            at.settings = replace(
                at.settings,
                model=replace(at.settings.model, background=SELECTOR),
                extraction=replace(at.settings.extraction, enabled=False),
                notes=replace(at.settings.notes, enabled=False),
            )
        async with at.start() as session:
            fill(session)
            for subject in SUBJECTS if thorough else SUBJECTS[:3]:
                await told(session, asked_about(subject))
        firsts = [body for body in at.bodies if body["model"] != SELECTOR]
        assert all(is_recalled(body, subject) for subject, body in zip(SUBJECTS, firsts, strict=False))
        assert (len(at.bodies) > len(firsts)) is (kind == "selector")


@requirement("recall:arrives")
async def test_without_a_model_the_answer_names_what_was_recalled_from_every_directory(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.model = "offline"
        async with at.start() as session:
            fill(session)
            said = "Ferries at the sluice leave on Mondays"
            session.memory.user.save(name="sluice notes", description=said, type="user", body=said)
            answers = [
                event.text
                for subject in ("harbour", "sluice")
                for event in await told(session, asked_about(subject))
                if isinstance(event, TurnEnded)
            ]

        assert f"- harbour notes: {FACTS['harbour']}" in answers[0]
        assert f"- sluice notes: {said}" in answers[1]


@requirement("recall:late")
async def test_a_choice_that_comes_too_late_joins_the_next_request(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        gate = Gate("reference_zebra_paint.md")
        selected_by(at, gate, 0.01)
        async with at.start() as session:
            fill(session)
            chosen = fill_beside(session)
            await told(session, asked_about("harbour"))
            assert is_recalled(at.bodies[0], "harbour"), "the embedded answer stands meanwhile"
            assert chosen not in after_index(at.bodies[0])
            gate.go.set()
            await asyncio.wait_for(gate.answered.wait(), 30)
            await told(session, "thanks")
        assert after_index(at.bodies[1]).count(chosen) == 1
        whole = after_index(at.bodies[1]).count("project_harbour_notes.md:\\n```")
        assert whole == 1, "what is shown is not repeated"


@requirement("recall:late")
async def test_a_conversation_that_was_cleared_gets_no_late_answer(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        gate = Gate("reference_zebra_paint.md")
        selected_by(at, gate, 0.01)
        async with at.start() as session:
            fill(session)
            chosen = fill_beside(session)
            await told(session, asked_about("harbour"))
            session.clear()
            gate.go.set()
            await told(session, "thanks")
        assert chosen not in json.dumps(at.bodies[-1]).rpartition("thanks")[2]


@requirement("recall:arrives")
async def test_what_is_typed_while_a_turn_runs_brings_its_memories_too(tmp_path: Path) -> None:
    call: Json = {"tool_calls": [{"name": "Bash", "input": {"command": "true"}}]}
    script: list[Json] = [{"when": {"last_user": "kick-off"}, "times": 1, "then": call}, {"then": "fine"}]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            fill(session)
            turn = asyncio.create_task(told(session, "kick-off now please"))
            session.queue(asked_about("lagoon"))
            await turn
        assert is_recalled(at.bodies[-1], "lagoon")


@requirement("recall:session-bytes")
@pytest.mark.parametrize(("limit", "is_shown"), [(1_000, False), (20_000, True)])
async def test_memories_join_until_the_session_was_shown_so_many_bytes(
    tmp_path: Path, limit: int, is_shown: bool
) -> None:
    with desk(tmp_path, [{"then": "noted"}]) as at:
        at.settings = replace(at.settings, recall=replace(at.settings.recall, session_bytes=limit))
        async with at.start() as session:
            for name, body in {
                "Kiwi server": "The kiwi server listens on port 8099. ",
                "Payroll": "Salaries are transferred on the last Friday. ",
            }.items():
                session.memory.save(name=name, description=body.strip(), type="project", body=body * 60)

            await told(session, "on which port does the kiwi server listen?")
            await told(session, "when are salaries transferred, on which Friday?")
            shown = json.dumps([one.data for one in session.attachments if one.kind == "relevant_memories"])

        assert "kiwi_server" in shown
        assert ("payroll" in shown) is is_shown


@requirement("tools:recall:past")
async def test_recall_of_the_past_does_not_return_the_question_itself(tmp_path: Path) -> None:
    ask = "Which port does the zebra cluster listen on?"
    script: list[Json] = [
        {
            "when": {"last_user": "Which port"},
            "times": 1,
            "then": calls(("RecallMemory", {"query": ask, "where": "past"})),
        },
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "The zebra cluster listens on port 7431.")
        async with at.start() as session:
            await told(session, ask)
        [(failed, text)] = next(found for body in at.bodies if (found := results(body)))
        assert not failed
        assert "7431" in text
        assert ask not in text
