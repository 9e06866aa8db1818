"""A history processor for Pydantic AI: `Agent(…, capabilities=[ProcessHistory(MemoryProcessor(memory))])`.

What is remembered becomes a part of the user's request and stays in the history of the run, so that later requests
extend it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from reverie.adapters import OPENING, recall_once, refuse_missing
from reverie.memory.memory import Memory

try:
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
except ImportError as problem:
    refuse_missing("pydantic-ai", "pydantic-ai", problem)

__all__ = ["MemoryProcessor"]


class MemoryProcessor:
    """Adds to the newest request of the user what is remembered that matters for it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def __call__(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        last = messages[-1] if messages else None
        if not isinstance(last, ModelRequest):
            return messages
        prompts = [_text(part) for part in last.parts if isinstance(part, UserPromptPart)]
        if not prompts or any(OPENING in text for text in prompts):
            return messages
        recalled = await asyncio.to_thread(
            recall_once,
            self._memory,
            "\n".join(prompts),
            history="\n".join(_user_texts(messages[:-1])),
            reply_to=_last_reply(messages),
        )
        if not recalled:
            return messages
        return [*messages[:-1], replace(last, parts=[*last.parts, UserPromptPart(recalled)])]


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(piece for piece in part.content if isinstance(piece, str))


def _user_texts(messages: Iterable[ModelMessage]) -> list[str]:
    requests = (message for message in messages if isinstance(message, ModelRequest))
    return [_text(part) for request in requests for part in request.parts if isinstance(part, UserPromptPart)]


def _last_reply(messages: list[ModelMessage]) -> str:
    replies = (message for message in reversed(messages) if isinstance(message, ModelResponse))
    reply = next(replies, None)
    return "\n".join(part.content for part in reply.parts if isinstance(part, TextPart)) if reply is not None else ""
