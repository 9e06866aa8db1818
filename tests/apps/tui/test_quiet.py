from __future__ import annotations

import asyncio
import gc

import pytest

from reverie.agent.events import RequestSent
from reverie.apps.tui import quiet
from reverie.ports import TextDelta
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import at
from tests.requirements import requirement


@requirement("tui:turn:quiet")
@pytest.mark.parametrize("is_sent", [True, False])
async def test_it_is_quiet_until_the_request_has_left_and_never_for_long(sit: MakeTable, is_sent: bool) -> None:
    gate = asyncio.Event()
    table = sit([gate, RequestSent(1, 10), TextDelta("working"), asyncio.Event()])
    async with at(table) as seat:
        was_enabled = gc.isenabled()
        started = asyncio.get_running_loop().time()
        seat.app.send("hello")
        await asyncio.sleep(quiet.LONGEST_SECONDS / 5)
        if asyncio.get_running_loop().time() - started < quiet.LONGEST_SECONDS:
            assert not gc.isenabled()
            assert seat.app._batch_count == 1, "Textual says nowhere else that it rests"
        if is_sent:
            gate.set()
        await seat.until(lambda: gc.isenabled() == was_enabled and not seat.app._batch_count)
        await seat.sees("hello")
        await seat.press("escape")
