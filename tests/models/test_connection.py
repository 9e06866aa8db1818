"""Clients, addresses and time limits around the vendor SDKs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from reverie.errors import Unavailable
from reverie.models.connection import is_loopback, place_of, within
from reverie.models.faults import ProviderName
from reverie.models.ports import Event, TextDelta
from tests.requirements import requirement


@requirement("models:errors:no-key")
@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com"),
        ("https://me:s3cret@host.test:8443/v1/?token=s3cret", "https://host.test:8443/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, place: str) -> None:
    assert place_of(url) == place


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:9", True),
        ("https://localhost.example.test", False),
        ("https://api.anthropic.com", False),
    ],
)
def test_servers_on_this_machine_are_known(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


@requirement("models:time-outs")
async def test_time_that_is_over_ends_the_stream_and_closes_it() -> None:
    closed: list[bool] = []

    async def events() -> AsyncGenerator[Event, None]:
        try:
            yield TextDelta("first")
            await asyncio.sleep(30)
        finally:
            closed.append(True)

    stream = within(0.05, events(), ProviderName("https://example.test"))
    assert await anext(stream) == TextDelta("first")
    with pytest.raises(Unavailable, match=r"example\.test within 0\.05 s"):
        await anext(stream)
    assert closed == [True]


@requirement("models:time-outs")
async def test_a_cancelled_reader_is_cancelled_and_not_timed_out() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        await asyncio.sleep(30)
        yield TextDelta("never")

    async def read() -> None:
        async for _ in within(30, events(), ProviderName("https://example.test")):
            pass

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
