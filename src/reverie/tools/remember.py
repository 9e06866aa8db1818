"""SaveMemory and RecallMemory. What the model saves has the trust `inferred`, never `said`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.errors import Error
from reverie.messages.blocks import Json, JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import number, text, texts
from reverie.tools.tool import ToolAnswer, ToolMistake

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.search.passages import PastHit
    from reverie.memory.search.render import Hit

MOST = 20
TYPES = ("user", "feedback", "project", "reference")
"""The words of `memory.topics.value.MemoryType`, which costs more to import than this module."""

_TEXT: dict[str, Json] = {"type": "string"}
_OWN_HITS = 20
"""So many more are looked for, since those of the session that asks are left out."""


class SaveMemory:
    """Keeps a memory."""

    def __init__(self) -> None:
        self.spec = make_tool_spec(
            "SaveMemory",
            "save_memory",
            {
                "name": field("string", "A short name of the subject.", minLength=1),
                "description": field("string", "One line by which it is found again.", minLength=1),
                "type": field("string", "What kind of memory.", enum=[*TYPES]),
                "body": field("string", "The memory itself, in Markdown.", minLength=1),
                "when": field(
                    "array", "Situations in which it applies: a glob, a tool, a kind of task, words.", items=_TEXT
                ),
                "asks": field(
                    "array",
                    "Up to five requests for which it should come up, in other words than its own.",
                    items=_TEXT,
                    maxItems=5,
                ),
            },
            required=("name", "description", "type", "body"),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        name = text(arguments, "name")
        return Need("SaveMemory", Act.NONE, summary=f"Remember {name!r}", preview=text(arguments, "body"))

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        if desk.memories is None:
            raise ToolMistake("Memory is off; nothing was kept.")
        try:
            # In place: a commit takes milliseconds, and one that was begun is not to be left by a cancelled thread.
            topic = desk.memories.save(
                name=text(arguments, "name"),
                description=text(arguments, "description"),
                type=text(arguments, "type"),
                body=text(arguments, "body"),
                when=texts(arguments, "when"),
                asks=texts(arguments, "asks"),
            )
        except Error as problem:
            raise ToolMistake(f"It was not kept: {problem}") from problem
        return ToolAnswer(f"Kept as {topic.path}.", details={"path": topic.path, "name": topic.name})


class RecallMemory:
    """Looks up memories and past sessions."""

    def __init__(self, memory: Memory, session: str = "") -> None:
        self._memory = memory
        self._session = session
        """The session that asks: what is said in it is no past, and holds the very question."""
        self.spec = make_tool_spec(
            "RecallMemory",
            "recall_memory",
            {
                "query": field("string", "What to look for.", minLength=1),
                "where": field("string", "`memories` (default) or `past`.", enum=["memories", "past"]),
                "limit": field("integer", "How many to show at most; 5 when left out.", minimum=1, maximum=MOST),
            },
            required=("query",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        return Need("RecallMemory", Act.NONE, summary=f"Recall {text(arguments, 'query')[:80]!r}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        query, limit = text(arguments, "query"), number(arguments, "limit", 5)
        try:
            if text(arguments, "where") == "past":
                hits = await asyncio.to_thread(self._memory.search, query, limit=limit + _OWN_HITS)
                rows = [_passage(hit) for hit in hits if hit.session != self._session][:limit]
            else:
                rows = [_memory(hit) for hit in await asyncio.to_thread(self._memory.recall, query, limit=limit)]
        except Error as problem:
            raise ToolMistake(str(problem)) from problem
        if not rows:
            return ToolAnswer("Nothing that was kept fits; try other words, or look in the other place.")
        return ToolAnswer("\n\n".join(rows), details={"count": len(rows)})


def _memory(hit: Hit) -> str:
    return f"## {hit.topic.name}\n{hit.header}\n{hit.text}".strip()


def _passage(hit: PastHit) -> str:
    return f"## session {hit.session[:8]}, {hit.role}, {hit.when[:16]}\n{hit.text}"
