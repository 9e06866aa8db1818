"""A middleware for LangChain agents: `create_agent(model, tools, middleware=[MemoryMiddleware(memory)])`.

Before an agent starts, what is remembered for the newest message of the user is put behind it, in the state, so that it
stays there with a checkpointer and later requests extend this one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from reverie.adapters import OPENING, recall_once, refuse_missing
from reverie.memory.memory import Memory

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
except ImportError as problem:
    refuse_missing("langchain", "langchain", problem)

__all__ = ["MemoryMiddleware"]


class MemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Recalls for the newest message of the user and learns from it."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory

    def before_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Put what is remembered behind the newest message."""
        messages = list(state["messages"])
        last = messages[-1] if messages else None
        if not isinstance(last, HumanMessage) or OPENING in last.text:
            return None
        recalled = recall_once(
            self._memory,
            last.text,
            history="\n".join(message.text for message in messages[:-1] if isinstance(message, HumanMessage)),
            reply_to=next((message.text for message in reversed(messages) if isinstance(message, AIMessage)), ""),
        )
        return {"messages": [_append(last, recalled)]} if recalled else None

    async def abefore_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """The same, for agents that run asynchronously."""
        return await asyncio.to_thread(self.before_agent, state, runtime)


def _append(message: HumanMessage, text: str) -> BaseMessage:
    """The message, under its own id, which replaces it in the state."""
    content = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else [*message.content]
    return message.model_copy(update={"content": [*content, {"type": "text", "text": text}]})
