"""Memories for a turn: what the user's words call up joins the conversation, once each, within the limits.

What was shown is told by the attachments that stand in the view, so it survives resuming and ends with a compaction.
Without a model they are the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reverie.context.conversation import Conversation
from reverie.memory.memory import Memory
from reverie.memory.search.document import Query
from reverie.memory.search.recall import is_worth_recalling
from reverie.memory.search.render import Hit, Shown, attachment, find_still_shown
from reverie.memory.topics.value import Topic
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import AttachmentEntry, UserEntry
from reverie.messages.reminder import reminder
from reverie.messages.view import ItemKind, View
from reverie.models.ports import Model
from reverie.session.loop import JoinedAttachment, Loop
from reverie.tools.desk import Desk

KIND = "relevant_memories"
"""The attachment that holds recalled memories."""
_NO_MODEL = "No model is configured to say more: set ANTHROPIC_API_KEY, or name one with --model (or /model)."
_RECENT_ITEMS = 12
"""Of so many newest items, files and tools count as in use."""


@dataclass(slots=True)
class SessionRecall:
    """Looks for memories on behalf of one session."""

    memory: Memory
    log: Conversation
    desk: Desk
    loop: Loop
    is_on: bool
    model: Model | None = None
    """Chooses among the best; None leaves the embedded choice."""
    _late: dict[asyncio.Task[Sequence[Hit]], str] = field(default_factory=dict)
    """Answers that missed the request they were for, each with the user's words."""
    topics: dict[str, Topic] = field(default_factory=dict)
    """What was shown in this session, by its path, as it was then."""

    async def recall(self, text: str) -> Sequence[JoinedAttachment]:
        """The memories for the request that is about to be sent; never fails.

        The answer by words is always waited for, within a limit against a disk that hangs. Vectors and the model's
        choice may replace it, each within its own time; what comes later is handed out by `late`.
        """
        settings = self.memory.settings.recall
        is_wanted = is_worth_recalling(
            text, min_words=settings.min_words, min_unspaced_chars=settings.min_unspaced_chars
        )
        if not self.is_on or self.memory.off is not None or not is_wanted:
            return ()
        shown = self._list_shown()
        if shown is None:
            return ()
        exclude, named = shown
        view = self.log.view
        files, tools = _in_use(view, self.desk.project)
        query = self.memory.build_query(
            text, exclude=exclude, named=named, context=_find_last_reply(view), files=files, tools=tools
        )
        by_words = replace(query, by_words=True)
        hits = await self._within(settings.words_timeout_seconds, self._search_memory(by_words), text)
        if hits is None:
            return ()
        if self.memory.has_vectors:
            nearest = await self._within(settings.vectors_timeout_seconds, self._search_memory(query), text)
            query, hits = (by_words, hits) if nearest is None else (query, nearest)
        if self.model is not None and settings.rerank:
            chosen = await self._within(settings.timeout_seconds, self.memory.select(query, hits, self.model), text)
            hits = hits if chosen is None else chosen
        return self._attach_hits(hits, text)

    def late(self) -> Sequence[JoinedAttachment]:
        """What came too late for its request and has not been shown since."""
        done = {task: text for task, text in self._late.items() if task.done()}
        shown = self._list_shown() if done else None
        for task in done:
            del self._late[task]
        if shown is None:
            return ()
        excluded = {"whole": {*shown[0]}, "line": {*shown[0], *shown[1]}}
        hits = {hit.path: hit for task in done for hit in _result(task) or () if hit.path not in excluded[hit.shown]}
        return self._attach_hits(tuple(hits.values()), " ".join(done.values()))

    def forget(self) -> None:
        """Stop what nobody will read: the conversation it was for is over."""
        for task in self._late:
            task.cancel()
        self._late.clear()

    async def close(self) -> None:
        """Stop what nobody will read, and wait until it has stopped."""
        late = tuple(self._late)
        self.forget()
        await asyncio.gather(*late, return_exceptions=True)

    def answer_offline(self) -> str:
        """What a turn without a model answers: the memories that were recalled for it, and the ways to a model."""
        lines = [f"- {_line(self.topics[path])}" for path in self._list_recalled() if path in self.topics]
        count = 0 if lines or self.memory.off is not None else len(self.memory.index)
        remembered = (
            ["This is remembered about it:", *lines] if lines else [f"No relevant memories ({count} searched)."]
        )
        return "\n".join([*remembered, "", _NO_MODEL])

    def _list_recalled(self) -> list[str]:
        """The paths of what was recalled for the newest message."""
        recalled: list[str] = []
        for entry in reversed(self.log.entries):
            if isinstance(entry, UserEntry) and entry.source != "system":
                break
            if isinstance(entry, AttachmentEntry) and entry.kind == KIND:
                recalled += [shown.path for shown in _parse_shown(entry.data)]
        return recalled

    async def _search_memory(self, query: Query) -> Sequence[Hit]:
        return (await asyncio.to_thread(self.memory.recall_report, query)).hits

    async def _within(
        self, seconds: float, answer: Coroutine[Any, Any, Sequence[Hit]], text: str
    ) -> Sequence[Hit] | None:
        """An answer; None when it failed or is not there in time, and then it may come late."""
        task = asyncio.create_task(answer)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                self._late[task] = text
        return _result(task) if task.done() else None

    def _list_shown(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """What stands in the conversation already, whole and as lines; None when there is no room for more."""
        still_shown = find_still_shown(self._find_shown(), self.loop.used_tokens, self.memory.limits)
        if sum(one.size_bytes for one in still_shown) > self.memory.settings.recall.session_bytes:
            return None
        whole = tuple(one.path for one in still_shown if not one.is_line)
        return (*whole, *map(str, self.desk.seen.paths)), tuple(one.path for one in still_shown if one.is_line)

    def _attach_hits(self, hits: Sequence[Hit], query: str) -> Sequence[JoinedAttachment]:
        if not hits:
            return ()
        names = ", ".join(hit.topic.name for hit in hits)
        data: JsonObject = {
            "memories": [
                {
                    "path": hit.path,
                    "header": hit.header,
                    "bytes": hit.size_bytes,
                    "why": hit.why,
                    "score": hit.score,
                    "shown": hit.shown,
                }
                for hit in hits
            ],
            "tokens": self.loop.used_tokens,
        }
        self.topics |= {hit.path: hit.topic for hit in hits}
        self.memory.note_recalled(hits, query, session=self.log.session)
        return (JoinedAttachment(KIND, reminder(attachment(hits)), f"recalled {names}", data),)

    def _find_shown(self) -> tuple[Shown, ...]:
        in_view = {item.uuid for item in self.log.view.items if item.label == KIND}
        shown_memories = []
        for entry in reversed(self.log.entries):
            if len(in_view) == 0:
                break
            if isinstance(entry, AttachmentEntry) and entry.envelope.uuid in in_view:
                in_view.discard(entry.envelope.uuid)
                shown_memories += _parse_shown(entry.data)
        return tuple(shown_memories)


def _result(task: asyncio.Task[Sequence[Hit]]) -> Sequence[Hit] | None:
    """What a search found; None when it failed, which costs the memories and never the turn."""
    return None if task.cancelled() or task.exception() is not None else task.result()


def _parse_shown(data: JsonObject) -> list[Shown]:
    rows, at = data.get("memories"), data.get("tokens")
    if not isinstance(rows, list):
        return []
    tokens = at if isinstance(at, int) else 0
    return [
        Shown(
            path=str(row["path"]),
            size_bytes=size if isinstance(size := row.get("bytes"), int) else 0,
            at_tokens=tokens,
            is_line=row.get("shown") == "line",
        )
        for row in rows
        if isinstance(row, dict) and "path" in row
    ]


def _line(topic: Topic) -> str:
    says = topic.description or topic.body.strip().partition("\n")[0]
    return topic.name if says in ("", topic.name) else f"{topic.name}: {says}"


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


def _find_last_reply(view: View) -> str:
    """What the model said last; its words count little beside the user's."""
    replies = (item for item in reversed(view.items) if item.kind is ItemKind.REPLY and item.message.text)
    last = next(replies, None)
    return last.message.text[-1_000:] if last else ""
