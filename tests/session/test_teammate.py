from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from reverie import Session
from reverie.messages.blocks import Json
from reverie.session.subagents.mailbox import AgentMessage, append_letter
from reverie.session.subagents.team import write_member
from reverie.session.teammate import serve
from tests.requirements import requirement
from tests.session.session_desk import calls, desk


def _mailbox(session: Session) -> Path:
    options = session.parts.options
    return options.places.project(options.directory).mailbox("lake", "tess")


@requirement("session:hooks:team")
async def test_a_hook_may_want_more_of_a_teammate_and_then_let_it_go(tmp_path: Path) -> None:
    said = tmp_path / "said"
    enough = json.dumps({"continue": False, "stopReason": "enough"})
    script = f"[ -e {said} ] && echo '{enough}' && exit 0; cat > {said}; echo 'count the herons too' >&2; exit 2"
    idle: Json = [{"hooks": [{"type": "command", "command": script}]}]
    with desk(tmp_path, [{"then": "done {request}"}]) as at:
        at.hooks(TeammateIdle=idle)
        at.options |= {"team": "lake", "agent_name": "tess"}
        async with at.start() as session:
            post = session.parts.subagents.post
            write_member(post.team_folder, "main", "", "some-session", at.time)
            append_letter(
                _mailbox(session),
                AgentMessage("1", "main", "tess", "count the geese", at.time),
            )
            async with asyncio.timeout(120):
                await serve(session, leader="main", role=None, poll_seconds=0.01)

        told = json.loads(said.read_text(encoding="utf-8"))
        assert (told["teammate_name"], told["team_name"]) == ("tess", "lake")
        assert len(at.bodies) == 2
        assert "count the herons too" in json.dumps(at.bodies[1]["messages"][-1])


@requirement("agents:team:plan")
@pytest.mark.parametrize(
    ("sender", "approve", "is_written"), [("main", True, True), ("main", False, False), ("someone", True, False)]
)
async def test_a_teammate_begins_with_its_plan_when_its_leader_accepts_it(
    tmp_path: Path, sender: str, approve: bool, is_written: bool
) -> None:
    project = tmp_path / "project"
    write: dict[str, Json] = {"file_path": str(project / "geese.txt"), "content": "12"}
    script: list[Json] = [
        {"when": {"last_user": "your plan"}, "times": 1, "then": calls(("Write", write))},
        {"then": "I would write it down."},
    ]
    enough = json.dumps({"continue": False, "stopReason": "enough"})
    with desk(tmp_path, script) as at:
        at.hooks(TeammateIdle=[{"hooks": [{"type": "command", "command": f"echo '{enough}'"}]}])
        at.options |= {"team": "lake", "agent_name": "tess"}
        async with at.start() as session:
            session.parts.permits.policy = session.parts.permits.policy.with_mode("plan").with_rule("Write")
            post = session.parts.subagents.post
            write_member(post.team_folder, "main", "", "some-session", at.time)
            answer = AgentMessage("1", sender, "tess", "", at.time, kind="plan_approval_response", approve=approve)
            append_letter(_mailbox(session), answer)
            async with asyncio.timeout(120):
                await serve(session, leader="main", role=None, poll_seconds=0.01)

    assert (project / "geese.txt").exists() is is_written
