"""Sends a request to a model and waits for the whole reply.

A stream holds a connection; leaving it half-read would close that connection at a moment nobody chose. `answer` always
reads to the end, and closes the stream when the listener fails or the task is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import cast

from reverie.errors import Unavailable
from reverie.models.ports import CountsTokens, Event, Finished, Model, Reply, Request


def _ignore(_: Event) -> None:
    return


async def answer(model: Model, request: Request, listen: Callable[[Event], None] = _ignore) -> Reply:
    """Ask, pass every event on, and return the complete reply. Raises the `Unavailable` family."""
    reply: Reply | None = None
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            listen(event)
            if isinstance(event, Finished):
                reply = event.reply
    assert reply is not None, "a stream ends with Finished"
    return reply


async def exact_tokens(model: Model, request: Request) -> int | None:
    """How many input tokens the provider counts for a request; None where it does not count, or not now."""
    asked: object = model
    while not hasattr(asked, "count_tokens"):
        # What books or names calls stands around the model that makes them.
        asked = getattr(asked, "inner", None)
        if asked is None:
            return None
    try:
        return await cast("CountsTokens", asked).count_tokens(request)
    except Unavailable:
        return None
