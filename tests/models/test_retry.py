"""Which failures are worth another try, and when."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    Interrupted,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.models.ports import Event, Finished, Retrying, TextDelta
from reverie.models.retry import Retries, call_with_retries, stream_with_retries
from reverie.testing.build import reply
from reverie.testing.clock import SettableClock
from tests.requirements import requirement

END = Finished(reply("ok"))


def failing(*failures: Exception) -> tuple[list[int], AsyncGenerator[Event, None]]:
    """A count of attempts, and a stream whose attempts fail so one after the other before one ends well."""
    attempts: list[int] = []
    clock = SettableClock()

    async def attempt_once() -> AsyncGenerator[Event, None]:
        attempts.append(1)
        yield TextDelta("half")
        if len(attempts) <= len(failures):
            raise failures[len(attempts) - 1]
        yield END

    return attempts, stream_with_retries(attempt_once, Retries(), sleep=clock.sleep, random=lambda: 1.0)


@requirement("models:retry:waits")
@pytest.mark.parametrize("kind", [ContextTooLong, MediaTooLarge, Unauthenticated, BadRequest])
async def test_what_cannot_get_better_is_raised_at_once(kind: type[Unavailable]) -> None:
    attempts, events = failing(kind("no"))
    with pytest.raises(kind):
        [event async for event in events]

    assert len(attempts) == 1


@requirement("models:retry:waits")
@pytest.mark.parametrize("kind", [RateLimited, Overloaded, Interrupted, Unavailable])
async def test_what_may_pass_is_tried_again(kind: type[Unavailable]) -> None:
    _, events = failing(kind("busy"), kind("busy"))

    assert [event async for event in events] == [
        TextDelta("half"),
        Retrying("busy", 0.5, 1),
        TextDelta("half"),
        Retrying("busy", 1.0, 2),
        TextDelta("half"),
        END,
    ]


@requirement("models:retry:waits")
async def test_the_last_failure_is_raised_when_patience_ends() -> None:
    attempts, events = failing(*(Overloaded(f"busy {number}") for number in range(9)))
    with pytest.raises(Overloaded, match="busy 3"):
        [event async for event in events]

    assert len(attempts) == Retries().attempts == 4


@requirement("models:retry:waits")
async def test_a_foreign_error_passes_through() -> None:
    attempts, events = failing(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        [event async for event in events]

    assert len(attempts) == 1


@requirement("models:retry:waits")
@given(st.integers(1, 30), st.floats(0, 1, exclude_max=True))
def test_waits_grow_within_their_bounds(attempt: int, chance: float) -> None:
    retries = Retries(attempts=100)
    wait = retries.wait_seconds(Overloaded("busy"), attempt, lambda: chance)
    whole = min(retries.longest_wait_seconds, retries.first_wait_seconds * 2.0 ** (attempt - 1))

    assert wait is not None
    assert whole / 2 <= wait <= whole


@requirement("models:retry:waits")
def test_the_providers_own_time_is_kept_up_to_a_limit() -> None:
    retries = Retries(patience_seconds=60)

    assert retries.wait_seconds(RateLimited("slow", retry_after_seconds=60), 1, lambda: 0) == 60
    assert retries.wait_seconds(Overloaded("slow", retry_after_seconds=0), 1, lambda: 0) == 0
    assert retries.wait_seconds(RateLimited("slow", retry_after_seconds=61), 1, lambda: 0) is None


@requirement("models:retry:waits")
async def test_a_call_is_tried_again_in_the_same_way() -> None:
    clock, left = SettableClock(), [Overloaded("busy"), Interrupted("cut")]

    async def call_once() -> str:
        if left:
            raise left.pop()
        return "done"

    assert await call_with_retries(call_once, Retries(), sleep=clock.sleep, random=lambda: 0.0) == "done"
    assert clock.slept == [0.25, 0.5]


@requirement("models:retry:waits")
async def test_a_hopeless_call_is_not_tried_again() -> None:
    clock = SettableClock()

    async def call_once() -> str:
        raise BadRequest("no")

    with pytest.raises(BadRequest):
        await call_with_retries(call_once, Retries(), sleep=clock.sleep, random=lambda: 0.0)

    assert clock.slept == []
