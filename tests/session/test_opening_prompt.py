from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from reverie.settings import MemorySettings
from reverie.settings.features import features
from tests.memory.dream.kit import append_daily
from tests.requirements import requirement
from tests.session.session_desk import desk, told


@requirement("session:memory:daily-log")
async def test_in_daily_log_mode_the_model_is_told_where_the_logs_are(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.settings = replace(at.settings, memory=MemorySettings(daily_log=True))
        async with at.start() as session:
            folder = session.memory.scope.folder
            await told(session, "hello")
            at.time += timedelta(days=1)
            await told(session, "good morning")

        system = [json.dumps(body["system"]) for body in at.bodies]
        assert folder.daily_log_pattern in system[0]
        assert "2026-11" not in system[0]
        assert system[0] == system[1]


@requirement("session:memory:daily-log")
async def test_a_dream_of_the_user_makes_topics_of_the_logs_and_none_comes_by_itself(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.settings = replace(at.settings, memory=MemorySettings(daily_log=True))
        at.model = "offline"
        async with at.start() as session:
            folder = session.memory.scope.folder
            append_daily(folder, "remember that the deploy key of staging lives in the vault", now=at.time)
            at.time += timedelta(days=1)
            verdict = session.memory.dreams.due(session.id)
            await session.dream()

            assert not verdict.is_open
            assert any("vault" in topic.read_text() for topic in folder.directory.glob("*.md"))
    assert not features(at.settings).dream
