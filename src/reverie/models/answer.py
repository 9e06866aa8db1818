"""Listen to a model until it has answered.

A stream holds a connection; leaving it half-read would close that connection at a moment nobody chose. `answer` always
reads to the end, and closes the stream when the listener fails or the task is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from reverie.ports import Event, Finished, Model, Reply, Request


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
