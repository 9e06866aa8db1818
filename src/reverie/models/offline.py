"""The `offline` model: answers by embedded functions, without a network.

What the system itself asks (a summary, notes, a selection) carries its own way of being answered, `request.embedded`,
supplied by the package that asks; this module only calls it, in a thread where that may take long. A turn is answered
with the memories that fit it. Deterministic and free.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from reverie.messages.blocks import Text
from reverie.messages.message import Message, Role, Usage
from reverie.models.messages_stream import announce
from reverie.models.ports import Event, Finished, Reply, Request
from reverie.values import value

OFFLINE = "offline"
REFUSAL = """\
No model is configured. These work without one: recall, extraction, notes, compaction, dreams.
For a model, set ANTHROPIC_API_KEY, or use a local server: --model ollama/NAME, or OPENAI_BASE_URL.
`reverie models install` adds vectors, so that recall also finds memories in other words."""

LONG_ANSWERS = frozenset({"summary"})
"""Purposes whose embedded answers read the whole conversation, and nothing else."""


async def run_embedded_model(purpose: str, embedded: Callable[[], str]) -> str:
    """The embedded answer to a question; others may go on while a long one is found."""
    return await asyncio.to_thread(embedded) if purpose in LONG_ANSWERS else embedded()


@value
class OfflineModel:
    """Answers the system's own questions by algorithm."""

    name: str = OFFLINE

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Answer at once; never fails by itself."""
        text = REFUSAL if request.embedded is None else await run_embedded_model(request.purpose, request.embedded)
        blocks = (Text(text),) if text else ()
        for block in blocks:
            for event in announce(block):
                yield event
        yield Finished(Reply(Message(Role.ASSISTANT, blocks), Usage(), "end_turn", self.name))
