from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.api.session_desk import desk, told
from tests.requirements import requirement


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
