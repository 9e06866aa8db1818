"""The clock one can set."""

from __future__ import annotations

from datetime import timedelta

from reverie.testing.clock import MORNING, SettableClock
from tests.requirements import requirement


@requirement("testing:clock")
async def test_time_stands_still_until_it_is_moved() -> None:
    clock = SettableClock()
    assert clock.now() == clock.now() == MORNING

    clock.advance(hours=1)
    await clock.sleep(30)

    assert clock.now() == MORNING + timedelta(hours=1, seconds=30)
    assert clock.slept == [30]
    assert clock.now().tzinfo is not None
