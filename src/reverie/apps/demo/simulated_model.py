"""A model of this process: requests go to the simulated provider, which checks, counts, bills and answers by a script.

The same rules as over HTTP, without a server: a request that the provider would refuse is refused here too, and what
its prompt cache holds is what the bill says.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reverie.errors import BadRequest
from reverie.messages.blocks import Json, Text
from reverie.messages.codec import block_from_wire, usage_from_wire
from reverie.messages.message import Message, Role, Usage
from reverie.models.messages_stream import announce
from reverie.models.ports import Event, Finished, Reply, Request
from reverie.models.request_body import request_betas, request_body
from reverie_simulator.answers import ErrorAnswer
from reverie_simulator.provider import SimulatedProvider

_VERSION = "2023-06-01"


@dataclass(slots=True)
class SimulatedModel:
    """Answers as the provider's script says; what Reverie asks for itself is answered by its embedded engine."""

    name: str
    provider: SimulatedProvider
    now: Callable[[], datetime]
    bodies: list[dict[str, Json]] = field(default_factory=list)
    """Every request body so far, as it would be sent."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """The whole answer at once."""
        if request.embedded is not None and request.purpose != "turn":
            embedded = Message(Role.ASSISTANT, (Text(request.embedded()),))
            yield Finished(Reply(embedded, Usage(), "end_turn", self.name))
            return
        body: dict[str, Json] = request_body(request)
        self.bodies.append(body)
        headers = {"x-api-key": "simulated", "anthropic-version": _VERSION}
        if betas := request_betas(request):
            headers["anthropic-beta"] = ",".join(betas)
        answer = self.provider.answer(body, headers, self.now())
        if isinstance(answer, ErrorAnswer):
            raise BadRequest(answer.error.message)
        reply = read_reply(answer.message, self.name)
        for block in reply.message.content:
            for event in announce(block):
                yield event
        yield Finished(reply)


def read_reply(message: Mapping[str, Any], model: str) -> Reply:
    """A message as the provider sends it."""
    blocks = tuple(map(block_from_wire, message["content"]))
    usage = usage_from_wire(message["usage"])
    return Reply(Message(Role.ASSISTANT, blocks), usage, message["stop_reason"], model, message["id"])
