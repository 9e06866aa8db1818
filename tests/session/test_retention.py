"""What nobody used for long is removed while a session runs; what a memory cites stays."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from reverie.memory.topics.value import Source
from reverie.session.events import Notice
from reverie.settings import RetentionSettings
from tests.requirements import requirement
from tests.session.session_desk import desk, told


@requirement("store:retention:rules")
async def test_a_session_that_nobody_used_goes_and_a_cited_one_stays(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.model = "offline"
        at.settings = replace(at.settings, retention=RetentionSettings(transcript_days=30))
        session = at.start()
        folder = session.parts.options.places.project(session.parts.options.directory)
        long_ago = (session.parts.options.now() - timedelta(days=40)).timestamp()
        for name in ("old", "cited"):
            folder.directory.mkdir(parents=True, exist_ok=True)
            path = folder.directory / f"{name}.jsonl"
            path.write_text("", encoding="utf-8")
            os.utime(path, (long_ago, long_ago))
        session.memory.save(
            name="Cited", description="Rests on a session", type="user", body="x", source=Source(session="cited")
        )
        heard: list[str] = []
        session.listen(lambda event: heard.append(event.text) if isinstance(event, Notice) else None)
        await told(session, "hello")
        await session.close()

        left = {path.name for path in folder.directory.glob("*.jsonl")} - {f"{session.id}.jsonl"}
        assert left == {"cited.jsonl"}
        assert any("1 file of unused sessions" in text for text in heard)
