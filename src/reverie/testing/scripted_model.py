"""A model that replies from a script and records its requests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from reverie.messages.blocks import Block, Text
from reverie.messages.message import Message
from reverie.models.messages_stream import announce
from reverie.models.ports import BlockDone, Event, Finished, Reply, Request, TextDelta
from reverie.testing.build import reply

Answer: TypeAlias = str | Block | Message | Reply | Exception | tuple[Event, ...]
"""What the model does: say it, raise it, or give exactly these events; without a `Finished` the stream is cut off."""
Step: TypeAlias = Answer | Callable[[Request], "Answer"]
"""An answer, or a function that finds one in the request."""


@dataclass(slots=True)
class ScriptedModel:
    """`ScriptedModel(["hello", tool_call("read", path="a.py"), Overloaded("busy")])`."""

    steps: list[Step]
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)
    """Every request so far, the newest last."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Take the next step; an `AssertionError` tells that the script is over."""
        self.requests.append(request)
        if len(self.requests) > len(self.steps):
            raise AssertionError(f"the script has {len(self.steps)} steps, and here is one more request: {request}")
        step = self.steps[len(self.requests) - 1]
        answer = step(request) if callable(step) else step
        if isinstance(answer, Exception):
            raise answer
        for event in answer if isinstance(answer, tuple) else _events(_reply(answer)):
            yield event


def _reply(answer: str | Block | Message | Reply) -> Reply:
    match answer:
        case Reply():
            return answer
        case Message():
            return reply(*answer.content)
        case _:
            return reply(answer)


def _events(whole: Reply) -> list[Event]:
    events: list[Event] = []
    for block in whole.message.content:
        if isinstance(block, Text):
            # In words, so that readers of deltas have something to join.
            events.extend(TextDelta(piece) for piece in _words(block.text))
            events.append(BlockDone(block))
        else:
            events.extend(announce(block))
    return [*events, Finished(whole)]


def _words(text: str) -> list[str]:
    pieces = text.split(" ")
    return [piece + " " for piece in pieces[:-1]] + pieces[-1:]
