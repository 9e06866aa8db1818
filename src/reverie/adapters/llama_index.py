"""A memory block for LlamaIndex: `Memory.from_defaults(memory_blocks=[ReverieMemoryBlock(memory=…)])`.

The block gives what is remembered that matters for the newest message of the user, and learns from the messages that
LlamaIndex moves out of its short-term memory.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field, PrivateAttr

from reverie.adapters import refuse_missing
from reverie.memory.memory import Memory

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as problem:
    refuse_missing("llama-index-core", "llama-index", problem)

__all__ = ["ReverieMemoryBlock"]


class ReverieMemoryBlock(BaseMemoryBlock[str]):
    """Recalls from a `Memory` and learns into it."""

    name: str = Field(default="reverie", description="The name of the memory block.")
    _memory: Memory = PrivateAttr()

    def __init__(self, memory: Memory, **fields: Any) -> None:
        super().__init__(**fields)
        self._memory = memory

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = [message.content or "" for message in messages or () if message.role is MessageRole.USER]
        if not asked:
            return ""
        return await asyncio.to_thread(self._memory.follow_conversation().recall, asked[-1])

    async def _aput(self, messages: list[ChatMessage]) -> None:
        conversation = self._memory.follow_conversation()
        for message in messages:
            if message.role is MessageRole.USER and message.content:
                conversation.learn(message.content)
