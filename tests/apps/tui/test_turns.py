from __future__ import annotations

import asyncio

import pytest

from reverie.apps.tui.draw_pause import LONGEST_SECONDS
from reverie.models.ports import TextDelta
from reverie.session.events import RequestSent
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import at
from tests.requirements import requirement


@requirement("tui:turn:quiet")
@pytest.mark.parametrize("is_sent", [True, False])
async def test_nothing_is_drawn_until_the_request_has_left_and_never_for_long(sit: MakeTable, is_sent: bool) -> None:
    gate = asyncio.Event()
    table = sit([gate, RequestSent(1, 10), TextDelta("working"), asyncio.Event()])
    async with at(table) as seat:
        started = asyncio.get_running_loop().time()
        seat.app.send("hello")
        await asyncio.sleep(LONGEST_SECONDS / 5)
        if asyncio.get_running_loop().time() - started < LONGEST_SECONDS:
            assert seat.app._batch_count == 1, "Textual says nowhere else that it rests"
        if is_sent:
            gate.set()
        await seat.until(lambda: not seat.app._batch_count)
        await seat.sees("hello")
        await seat.press("escape")
