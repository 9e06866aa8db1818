from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.files.trust import TrustKind, write_answers
from reverie.messages.blocks import Json
from reverie.session.events import Notice
from reverie.session.project_trust import list_parts
from reverie.settings import InstructionsSettings
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, told

FINE: list[Json] = [{"then": "fine {request}"}]


@requirement("session:instructions:outside")
async def test_a_file_from_outside_is_asked_about_and_joins_once_it_is_allowed(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        outside = tmp_path / "house.md"
        outside.write_text("Tabs, never spaces. @further.md", encoding="utf-8")
        (tmp_path / "further.md").write_text("Say please.", encoding="utf-8")
        at.file("CLAUDE.md", "Be kind. @../house.md")
        async with at.start() as session:
            await told(session, "one")
            (waiting,) = session.waiting_for_trust
            session.answer_trust([waiting], accepted=True)
            await told(session, "two")
            (further,) = session.waiting_for_trust
            session.answer_trust([further], accepted=False)
            await told(session, "three")

            assert session.waiting_for_trust == ()
        assert (waiting.kind, waiting.text) == (TrustKind.INCLUDE, str(outside.resolve()))
        assert "Tabs, never spaces." not in json.dumps(at.bodies[0])
        assert json.dumps(at.bodies[-1]["messages"]).count("Tabs, never spaces.") == 1
        assert "Say please." not in json.dumps(at.bodies[-1])

        async with at.start() as again:
            await told(again, "four")

            assert again.waiting_for_trust == ()
        assert "Tabs, never spaces." in json.dumps(at.bodies[-1]["messages"][0])
        assert "Say please." not in json.dumps(at.bodies[-1])


@requirement("session:instructions:outside")
async def test_a_file_that_a_nested_one_wants_is_asked_about_when_it_is_found(tmp_path: Path) -> None:
    inner = str(tmp_path / "project" / "db" / "schema.sql")
    script: list[Json] = [
        {"when": {"last_user": "look", "has_tool_results": False}, "then": calls(("Read", {"file_path": inner}))},
        {"then": "seen"},
    ]
    with desk(tmp_path, script) as at:
        (tmp_path / "house.md").write_text("Never drop a column.", encoding="utf-8")
        at.file("db/schema.sql", "create table a;")
        at.file("db/CLAUDE.md", "Of the house: @../../house.md")
        async with at.start() as session:
            await told(session, "look at the schema")
            (waiting,) = session.waiting_for_trust
            session.answer_trust([waiting], accepted=True)
            await told(session, "and now?")

        assert json.dumps(at.bodies[-1]["messages"]).count("Never drop a column.") == 1


@requirement("session:instructions:outside")
@pytest.mark.parametrize("accepted", [True, False])
async def test_the_command_lists_files_from_outside_answered_or_not(tmp_path: Path, *, accepted: bool) -> None:
    with desk(tmp_path) as at:
        (tmp_path / "house.md").write_text("Tabs.", encoding="utf-8")
        at.file("CLAUDE.md", "@../house.md")
        before = list_parts(at.setup())
        write_answers(at.setup().places.trust, at.project, before, accepted=accepted, now=at.time)

        assert [part.kind for part in before] == [TrustKind.INCLUDE]
        assert list_parts(at.setup()) == before


@requirement("session:instructions:outside")
async def test_what_is_wrong_with_instruction_files_is_said_at_the_beginning(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        at.settings = replace(at.settings, instructions=InstructionsSettings(file_chars=10))
        at.file("CLAUDE.md", "More than ten characters.")
        async with at.start() as session:
            events = await told(session, "hello")

        assert any(isinstance(event, Notice) and "more than 10" in event.text for event in events)
