"""Memories for a turn: what the user's words call up joins the conversation, once each, within the limits (spec 2 §7).

What was shown is told by the attachments that stand in the view, so it survives resuming and ends with a compaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.agent.log import Log
from reverie.agent.loop import Joined
from reverie.api.memory import Memory
from reverie.errors import Error
from reverie.memory.recall.recall import is_worth_recalling
from reverie.memory.recall.recalled import Hit, Shown, attachment, still_shown
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import AttachmentEntry
from reverie.messages.reminder import reminder
from reverie.messages.view import Kind, View
from reverie.ports import Model
from reverie.tools.desk import Desk

KIND = "relevant_memories"
"""The attachment that holds recalled memories (spec 2 §7.5)."""
_RECENT_ITEMS = 12
"""Of so many newest items, files and tools count as in use."""


@dataclass(slots=True)
class Recalling:
    """Looks for memories on behalf of one session."""

    memory: Memory
    log: Log
    desk: Desk
    used_tokens: Callable[[], int]
    now: Callable[[], datetime]
    model: Model | None = None
    """Chooses among the best; None leaves the embedded choice."""

    def start(self, text: str) -> asyncio.Task[Sequence[Joined]] | None:
        """Begin to look; None when a rule says that there is nothing to look for."""
        settings = self.memory.settings.recall
        is_worth = is_worth_recalling(
            text, min_words=settings.min_words, min_unspaced_chars=settings.min_unspaced_chars
        )
        if self.memory.off is not None or not settings.enabled or not is_worth:
            return None
        shown = self._shown()
        if sum(one.size_bytes for one in shown) > settings.session_bytes:
            return None
        held = still_shown(shown, self.used_tokens(), self.memory.limits)
        view = self.log.view
        exclude = [*(one.path for one in held), *map(str, self.desk.seen.paths)]
        return asyncio.create_task(self._recalled(text, view, exclude))

    async def _recalled(self, text: str, view: View, exclude: Sequence[str]) -> Sequence[Joined]:
        files, tools = _in_use(view, self.desk.project)
        try:
            hits = await self.memory.recall_async(
                text, model=self.model, exclude=exclude, context=_said_before(view), files=files, tools=tools
            )
        except (Error, OSError):
            return ()
        return (self._joined(hits),) if hits else ()

    def _joined(self, hits: Sequence[Hit]) -> Joined:
        names = ", ".join(hit.topic.name for hit in hits)
        data: JsonObject = {
            "memories": [
                {"path": hit.path, "header": hit.header, "bytes": hit.size_bytes, "why": hit.why, "score": hit.score}
                for hit in hits
            ],
            "tokens": self.used_tokens(),
        }
        text = reminder(attachment(hits))
        return Joined(KIND, text, f"recalled {names}", data)

    def _shown(self) -> tuple[Shown, ...]:
        in_view = {item.uuid for item in self.log.view.items if item.label == KIND}
        found = []
        for entry in reversed(self.log.entries):
            if len(in_view) == 0:
                break
            if isinstance(entry, AttachmentEntry) and entry.envelope.uuid in in_view:
                in_view.discard(entry.envelope.uuid)
                found += _shown_by(entry.data)
        return tuple(found)


def _shown_by(data: JsonObject) -> list[Shown]:
    rows, at = data.get("memories"), data.get("tokens")
    if not isinstance(rows, list):
        return []
    tokens = at if isinstance(at, int) else 0
    return [
        Shown(
            path=str(row["path"]), size_bytes=size if isinstance(size := row.get("bytes"), int) else 0, at_tokens=tokens
        )
        for row in rows
        if isinstance(row, dict) and "path" in row
    ]


def _in_use(view: View, project: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files, relative to the project, and tools of the newest rounds."""
    files: dict[str, None] = {}
    tools: dict[str, None] = {}
    for item in view.items[-_RECENT_ITEMS:]:
        for call in item.message.tool_uses:
            tools[call.name] = None
            path = call.input.get("file_path") or call.input.get("path")
            if isinstance(path, str):
                files[path.removeprefix(f"{project}/")] = None
    return tuple(files), tuple(tools)


def _said_before(view: View) -> str:
    """What the model said last; its words count little beside the user's."""
    replies = (item for item in reversed(view.items) if item.kind is Kind.REPLY and item.message.text)
    last = next(replies, None)
    return last.message.text[-1_000:] if last else ""
