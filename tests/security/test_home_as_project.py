"""Somebody works in the home folder itself, where the files lie that say what programs do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reverie.permissions.approval import Approval
from reverie.session.session import Session
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, results, told


@requirement("permissions:files:protected")
async def test_accepted_edits_do_not_reach_what_is_trusted_or_started(tmp_path: Path) -> None:
    home = tmp_path / "home"
    names = (".reverie/trust.json", ".reverie/mcp.json", ".claude.json", ".claude/agents/helper.md")
    steering = [home / name for name in names]
    writes = [("Write", {"file_path": str(path), "content": "{}"}) for path in (*steering, home / "notes.txt")]
    with desk(
        tmp_path, [{"when": {"last_user": "set it up"}, "times": 1, "then": calls(*writes)}, {"then": "done"}]
    ) as at:
        at.person.answer = lambda _: Approval(False)
        setup = replace(at.setup(), directory=home, project=home, mode="acceptEdits")
        async with Session.open(setup) as session:
            await told(session, "set it up")
        given = [result for body in at.bodies for result in results(body)][: len(writes)]

        assert [failed for failed, _ in given] == [True] * len(steering) + [False]
        assert not any(path.exists() and path.read_text(encoding="utf-8") == "{}" for path in steering)
