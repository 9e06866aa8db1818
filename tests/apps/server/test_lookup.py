"""One query for many requests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from reverie.apps.server.lookup import BatchedLookup
from tests.requirements import requirement


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as opened:
        yield opened


@requirement("server:pull:etag")
async def test_one_question_right_after_another_is_answered(executor: ThreadPoolExecutor) -> None:
    lookup = BatchedLookup[int, int](lambda keys: {key: key + 1 for key in keys}, executor)
    async with asyncio.timeout(30):
        assert [await lookup.load(number) for number in range(5)] == [1, 2, 3, 4, 5]


@requirement("server:pull:etag")
async def test_what_is_asked_meanwhile_shares_one_query_and_one_who_gives_up_disturbs_nobody(
    executor: ThreadPoolExecutor,
) -> None:
    asked, goes_on = list[list[int]](), Event()

    def read(keys: Sequence[int]) -> dict[int, int]:
        asked.append(sorted(keys))
        goes_on.wait(30)
        if 9 in keys:
            raise LookupError
        return {key: key + 1 for key in keys if key < 5}

    lookup = BatchedLookup[int, int](read, executor)
    first = asyncio.create_task(lookup.load(1))
    await asyncio.sleep(0)
    others = [asyncio.create_task(lookup.load(key)) for key in (2, 2, 7)]
    impatient = asyncio.create_task(lookup.load(2))
    await asyncio.sleep(0)
    impatient.cancel()
    goes_on.set()
    async with asyncio.timeout(30):
        assert await asyncio.gather(first, *others) == [2, 3, 3, None]
        with pytest.raises(LookupError):
            await lookup.load(9)
        assert await lookup.load(3) == 4

    assert asked == [[1], [2, 7], [9], [3]]
