from __future__ import annotations

import asyncio
import json
from pathlib import Path

from reverie.agent.mailbox import Letter, append_letter
from reverie.agent.team import write_member
from reverie.api.teammate import serve
from reverie.messages.blocks import Json
from tests.api.session_desk import desk
from tests.requirements import requirement


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
            post = session.parts.staff.post
            write_member(post.team_folder, "main", "", "some-session", at.time)
            append_letter(
                session.parts.folder.mailbox("lake", "tess"), Letter("1", "main", "tess", "count the geese", at.time)
            )
            async with asyncio.timeout(30):
                await serve(session, leader="main", role=None, poll_seconds=0.01)

        told = json.loads(said.read_text(encoding="utf-8"))
        assert (told["teammate_name"], told["team_name"]) == ("tess", "lake")
        assert len(at.bodies) == 2
        assert "count the herons too" in json.dumps(at.bodies[1]["messages"][-1])
