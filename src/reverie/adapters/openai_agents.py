"""A session of the OpenAI Agents SDK that remembers beyond itself.

`ReverieSession` keeps the history of a conversation in another session of the SDK. `run_config` makes a run recall:
what is remembered stands behind the user's message and is kept in the history with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from reverie.adapters import OPENING, recall_once, refuse_missing
from reverie.memory.memory import Memory

try:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings

    from agents import RunConfig, Session, SQLiteSession
except ImportError as problem:
    refuse_missing("openai-agents", "openai-agents", problem)

__all__ = ["ReverieSession"]


class ReverieSession:
    """A session with a memory: `Runner.run(agent, text, session=session, run_config=session.run_config())`."""

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, memory: Memory, *, history: Session | None = None) -> None:
        """`history` keeps the conversation; without it that is a `SQLiteSession` of this process."""
        self.session_id = session_id
        self._memory = memory
        self._history: Session = history or SQLiteSession(session_id)

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """The configuration of a run that recalls."""
        return replace(config or RunConfig(), session_input_callback=self.add_memories)

    async def add_memories(
        self, history: list[TResponseInputItem], new: list[TResponseInputItem]
    ) -> list[TResponseInputItem]:
        """The history and the new input, with what is remembered behind the user's message."""
        place = next((place for place in reversed(range(len(new))) if _is_user(new[place])), None)
        if place is None or OPENING in _text(new[place]):
            return [*history, *new]
        reply = next((_text(item) for item in reversed(history) if item.get("role") == "assistant"), "")
        past = "\n".join(_text(item) for item in history if _is_user(item))
        text = _text(new[place])
        recalled = await asyncio.to_thread(
            recall_once, self._memory, text, history=past, reply_to=reply, session=self.session_id
        )
        if not recalled:
            return [*history, *new]
        return [*history, *new[:place], _append(new[place], recalled), *new[place + 1 :]]

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The conversation so far."""
        return await self._history.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Go on with it."""
        await self._history.add_items(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back the newest item."""
        return await self._history.pop_item()

    async def clear_session(self) -> None:
        """Forget the conversation; memories stay."""
        await self._history.clear_session()


def _is_user(item: TResponseInputItem) -> bool:
    return item.get("role") == "user"


def _text(item: TResponseInputItem) -> str:
    content: Any = item.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def _append(item: TResponseInputItem, text: str) -> TResponseInputItem:
    content: Any = item.get("content") or ""
    parts: Sequence[Any] = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    changed = {**item, "content": [*parts, {"type": "input_text", "text": text}]}
    return cast("TResponseInputItem", changed)
