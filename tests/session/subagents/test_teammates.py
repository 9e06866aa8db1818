from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.models.ledger import read_bookings
from reverie.session.session import Session
from reverie.session.subagents.team import Member, list_members
from reverie.settings import BudgetSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, told
from tests.session.subagents.definitions.roles import write_role
from tests.session.subagents.test_messaging import received, sent
from tests.session.subagents.test_subagents import until
from tests.tools.mcp.servers import is_alive

pytestmark = pytest.mark.program

SCRIPT: list[Json] = [
    {
        "when": {"system": "Tester by trade", "last_user": "long work"},
        "then": {"text": "word " * 900, "event_delay_ms": 50},
    },
    {"when": {"system": "Tester by trade"}, "then": "all 12 tests pass"},
    {
        "when": {"last_user": "kick-off"},
        "times": 1,
        "then": calls(
            (
                "Agent",
                {
                    "description": "run tests",
                    "prompt": "run the tests",
                    "subagent_type": "tester",
                    "name": "tess",
                    "own_process": True,
                },
            )
        ),
    },
    {"then": "fine"},
]


def leader(at: Desk, **more: Any) -> Session:
    write_role(at.home / ".claude", "tester", "tools: Read, Bash(read-only)", "Tester by trade.")
    setup = at.setup()
    environment = {
        **setup.environment,
        "ANTHROPIC_API_KEY": at.provider.api_key,
        "ANTHROPIC_BASE_URL": at.provider.base_url,
    }
    program = (sys.executable, "-m", "reverie")
    return Session.open(replace(setup, environment=environment, program=program, **more))


def kick_off(**more: Json) -> Json:
    given: dict[str, Json] = {"description": "d", "prompt": "run the tests", "name": "tess", "own_process": True}
    return {"when": {"last_user": "kick-off"}, "times": 1, "then": calls(("Agent", {**given, **more}))}


def tess(session: Session, at: Desk) -> Member:
    """The teammate as its team knows it."""
    members = list_members(session.parts.subagents.post.team_folder, now=at.time)
    (found,) = (one for one in members if one.name == "tess")
    return found


@requirement("mailbox:team:inherits")
async def test_a_teammate_has_what_its_leader_was_started_with(tmp_path: Path) -> None:
    """It plays the role of a plugin and asks one that came with a flag."""
    plugin = tmp_path / "helper"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "helper"}', encoding="utf-8")
    write_role(plugin, "plugged", "", "Plays a role.")
    flagged = json.dumps({"flagged": {"description": "d", "prompt": "Came with a flag."}})
    works = calls(
        ("Write", {"file_path": str(tmp_path / "project" / "new.txt"), "content": "x"}),
        ("Agent", {"description": "d", "prompt": "look", "subagent_type": "flagged"}),
    )
    script: list[Json] = [
        {"when": {"system": "Came with a flag"}, "then": "looked"},
        {"when": {"system": "Plays a role", "has_tool_results": True}, "then": "not allowed"},
        {"when": {"system": "Plays a role"}, "then": works},
        kick_off(subagent_type="helper:plugged"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        said = {"agents": flagged, "plugin_dirs": (plugin,), "appended_prompt": "Speak softly.", "mode": "acceptEdits"}
        async with leader(at, disallowed_tools=("Write",), **said) as session:
            await told(session, "kick-off")
            await until(lambda: session.parts.subagents.post.peek())
        asked = next((body for body in at.bodies if "Plays a role" in json.dumps(body["system"])), None)
        assert asked is not None, at.bodies[-1]["messages"][-1]
        assert asked["model"] == at.model
        assert "Speak softly." in json.dumps(asked["system"])
        assert not (tmp_path / "project" / "new.txt").exists()
        assert any("Came with a flag" in json.dumps(body["system"]) for body in at.bodies)


@requirement("mailbox:team:costs", "mailbox:team:process")
async def test_what_a_teammate_spends_is_seen_by_its_leader_and_it_goes_when_the_session_closes(tmp_path: Path) -> None:
    script: list[Json] = [SCRIPT[1], kick_off(subagent_type="tester"), {"then": "fine"}]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_fraction=1.0, session_usd=50.0))
        async with leader(at) as session:
            await told(session, "kick-off")
            await until(lambda: session.parts.subagents.post.peek())
            governor = session.parts.governor
            await until(lambda: governor.spent_on("teammate") > 0)
            assert dict(session.describe("cost") or ())["teammate"].startswith("1 call, $")
            assert "$0.0000" not in dict(session.describe("tasks") or ())["tess"]
            assert governor.background_usd == pytest.approx(
                governor.spent_on("notes") + governor.spent_on("extraction")
            )
            spent = governor.spent_on("teammate")
            member = tess(session, at)
        assert not is_alive(member.process.pid)
        booked = [one for one in read_bookings(at.setup().places.ledger) if one.agent]
        assert {one.agent for one in booked} == {f"tess@session-{session.id[:8]}"}
        assert sum(one.cost_usd or 0.0 for one in booked) == pytest.approx(spent)
        assert session.id not in {one.session for one in booked}


@requirement("mailbox:team:process")
async def test_a_teammate_is_started_listed_written_to_and_stopped(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            post = session.parts.subagents.post
            assert "tess: teammate" in session.status.background, at.bodies[-1]["messages"][-1]
            about = dict(session.describe("tasks") or ())["tess"]
            assert "teammate (tester), process" in about
            await until(lambda: post.peek())
            await told(session, "news?")
            assert received(session) == ["tess"]
            await sent(session, "tess", "and once more")
            await until(lambda: post.peek())
            await told(session, "news?")
            assert received(session) == ["tess", "tess"]
            assert await session.kill("tess")
            assert "tess: teammate" not in session.status.background
            assert [one.kind for one in post.peek()] == ["shutdown_response"]
        assert not any(one.is_alive for one in list_members(post.team_folder, now=at.time))


@requirement("mailbox:team:process")
async def test_closing_the_session_lets_teammates_go_also_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            post = session.parts.subagents.post
            await until(lambda: post.peek())
            before = len(at.bodies)
            await sent(session, "tess", "long work")
            await until(lambda: len(at.bodies) > before)
            member = tess(session, at)
        assert not is_alive(member.process.pid)


@requirement("mailbox:team:process")
async def test_a_teammate_leaves_when_its_leader_is_gone(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            staff = session.parts.subagents
            await until(lambda: staff.post.peek())
            # As if the leader's process had been killed: nobody says good-bye, and its file names nobody who lives.
            (staff.post.team_folder / "main.member.json").unlink()
            await until(lambda: not staff.teammates.running)


@requirement("mailbox:team:process")
async def test_a_killed_teammate_counts_no_longer(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            os.kill(tess(session, at).process.pid, signal.SIGKILL)
            await until(lambda: "tess: teammate" not in session.status.background)
            assert "tess" not in dict(session.describe("tasks") or ())
