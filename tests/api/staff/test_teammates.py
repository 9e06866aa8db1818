from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.agent.team import list_members
from reverie.api.session import Session
from reverie.messages.blocks import Json
from tests.agents.roles import write_role
from tests.api.session_desk import Desk, calls, desk, told
from tests.api.staff.test_post import received, sent
from tests.api.staff.test_staff import until
from tests.requirements import requirement

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


def leader(at: Desk) -> Session:
    write_role(at.home / ".claude", "tester", "tools: Read, Bash(read-only)", "Tester by trade.")
    setup = at.setup()
    environment = {
        **setup.environment,
        "ANTHROPIC_API_KEY": at.provider.api_key,
        "ANTHROPIC_BASE_URL": at.provider.base_url,
    }
    return Session.made(replace(setup, environment=environment, program=(sys.executable, "-m", "reverie")))


@requirement("mailbox:team:process")
async def test_a_teammate_is_started_listed_written_to_and_stopped(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            post = session.parts.staff.post
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
@pytest.mark.parametrize("is_busy", [False, True])
async def test_closing_the_session_lets_teammates_go_also_in_the_middle_of_a_turn(
    tmp_path: Path, is_busy: bool
) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            post = session.parts.staff.post
            await until(lambda: post.peek())
            if is_busy:
                before = len(at.bodies)
                await sent(session, "tess", "long work")
                await until(lambda: len(at.bodies) > before)
            (member,) = (one for one in list_members(post.team_folder, now=at.time) if one.name == "tess")
        with pytest.raises(ProcessLookupError):
            os.kill(member.process.pid, 0)


@requirement("mailbox:team:process")
async def test_a_teammate_leaves_when_its_leader_is_gone(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            staff = session.parts.staff
            await until(lambda: staff.post.peek())
            # As if the leader's process had been killed: nobody says good-bye, and its file names nobody who lives.
            (staff.post.team_folder / "main.member.json").unlink()
            await until(lambda: not staff.teammates.running)


@requirement("mailbox:team:process")
async def test_a_killed_teammate_counts_no_longer(tmp_path: Path) -> None:
    with desk(tmp_path, SCRIPT) as at:
        async with leader(at) as session:
            await told(session, "kick-off")
            folder = session.parts.staff.post.team_folder
            (member,) = (one for one in list_members(folder, now=at.time) if one.name == "tess")
            os.kill(member.process.pid, signal.SIGKILL)
            await until(lambda: "tess: teammate" not in session.status.background)
            assert "tess" not in dict(session.describe("tasks") or ())
