"""Which failures are retried, and after how long.

The vendor SDKs' own retries are switched off: ours are seen as `Retrying` events, and whoever reads the stream drops
what came before one. Sleep and randomness are arguments.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from reverie.errors import BadRequest, ContextTooLong, MediaTooLarge, Unauthenticated, Unavailable
from reverie.models.ports import Event, Retrying
from reverie.values import value

Sleep = Callable[[float], Awaitable[None]]
Random = Callable[[], float]
"""A number from 0 up to 1."""
Answer = TypeVar("Answer")

_HOPELESS = (ContextTooLong, MediaTooLarge, Unauthenticated, BadRequest)
"""Sending the same request again gives the same refusal."""


@value
class Retries:
    """How often and how patiently a failed request is sent again."""

    attempts: int = 4
    """Tries in all; 1 means none again."""
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 16.0
    """Where doubling ends."""
    patience_seconds: float = 90.0
    """A provider that asks to wait longer than this is not waited for."""

    def wait_seconds(self, failure: Unavailable, attempt: int, random: Random) -> float | None:
        """How long to wait after failed attempt number `attempt`, counted from 1; None to give up."""
        if attempt >= self.attempts or isinstance(failure, _HOPELESS):
            return None
        retry_after = failure.retry_after_seconds
        if retry_after is not None:
            return retry_after if retry_after <= self.patience_seconds else None
        doubled = min(self.first_wait_seconds * 2.0 ** (attempt - 1), self.longest_wait_seconds)
        # Between half and whole: clients that failed together do not come back together.
        return doubled * (1 + random()) / 2


async def stream_with_retries(
    attempt_once: Callable[[], AsyncGenerator[Event, None]], retries: Retries, *, sleep: Sleep, random: Random
) -> AsyncGenerator[Event, None]:
    """Pass on the events of one attempt after another until one ends well; the last failure is raised."""
    attempt = 1
    while True:
        try:
            async with aclosing(attempt_once()) as events:
                async for event in events:
                    yield event
                return
        except Unavailable as failure:
            wait = retries.wait_seconds(failure, attempt, random)
            if wait is None:
                raise
            yield Retrying(str(failure), wait, attempt)
        await sleep(wait)
        attempt += 1


async def call_with_retries(
    call_once: Callable[[], Awaitable[Answer]], retries: Retries, *, sleep: Sleep, random: Random
) -> Answer:
    """The same for a call that gives one value; nobody sees the waits."""
    attempt = 1
    while True:
        try:
            return await call_once()
        except Unavailable as failure:
            wait = retries.wait_seconds(failure, attempt, random)
            if wait is None:
                raise
        await sleep(wait)
        attempt += 1
