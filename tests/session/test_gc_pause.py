from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from reverie.session.events import RequestSent, TurnStarted
from reverie.session.gc_pause import LONGEST_SECONDS
from tests.requirements import requirement
from tests.session.session_desk import desk


@requirement("tui:turn:quiet")
async def test_no_garbage_is_collected_until_the_request_has_left(tmp_path: Path) -> None:
    was_enabled = gc.isenabled()
    heard: dict[str, bool] = {}
    with desk(tmp_path, [{"then": "fine"}]) as place:
        async with place.start() as session:
            loop = session.parts.loop
            emit = loop.parts.emit

            def note(event: object) -> None:
                if isinstance(event, TurnStarted | RequestSent):
                    heard[type(event).__name__] = gc.isenabled()
                emit(event)  # type: ignore[arg-type]  # every event goes on

            async for _ in session.send("hello"):
                pass
            loop.parts.emit = note
            started = asyncio.get_running_loop().time()
            async for event in session.send("hello again"):
                if isinstance(event, RequestSent):
                    took_seconds = asyncio.get_running_loop().time() - started
            assert gc.isenabled() == was_enabled
    if took_seconds < LONGEST_SECONDS:
        assert heard == {"TurnStarted": False, "RequestSent": False}
