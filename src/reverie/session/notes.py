"""Session notes while the session runs: a fork of the conversation edits them beside it, never in its way.

Notes are only ever improved: what a model wrote stays when there is nothing to pay another update with, when an update
fails, and when its reply is of no use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from reverie.context.conversation import Conversation
from reverie.context.preparer import Preparer
from reverie.context.session_notes import (
    BY_STRUCTURE,
    NotesFile,
    build_notes_outcome,
    conversation_tokens,
    cursor,
    find_covered,
    is_due,
    keeps_frame,
    notes_by_structure,
    notes_fork,
    strip_fence,
)
from reverie.errors import Error, Unavailable
from reverie.messages.blocks import JsonObject
from reverie.models.ledger import Governor
from reverie.models.offline import OFFLINE
from reverie.models.ports import Ending
from reverie.permissions.need import Act, Need
from reverie.session.background_work import Chore
from reverie.session.loop import Loop
from reverie.session.subagents.fork import run_fork
from reverie.settings import Settings
from reverie.tools.desk import Desk
from reverie.tools.edit import Edit, replace_text
from reverie.tools.registry import Registry
from reverie.tools.schema import flag, text
from reverie.tools.tool import ToolAnswer, ToolMistake

PURPOSE = "notes"
"""What its questions are booked as."""


@dataclass(slots=True)
class NotesWriter:
    """Keeps the notes of one session."""

    log: Conversation
    preparer: Preparer
    settings: Settings
    governor: Governor
    loop: Loop
    file: Callable[[], NotesFile]
    chore: Chore
    is_on: bool = True
    waits_for_need: bool = False
    """Where one prompt is answered and the process ends, notes are only worth their price near a compaction."""
    _task: asyncio.Task[None] | None = field(default=None, repr=False)
    _looked_at_tokens: int = 0

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def after_reply(self) -> None:
        """Begin an update when one is due and none runs."""
        notes = self.settings.notes
        if not self.is_on or self.is_running:
            return
        spoken = conversation_tokens(self.log.view, self.preparer.weigh)
        # Where the conversation has grown too little since the last look, the whole of it need not be read.
        grown = spoken - self._looked_at_tokens
        if spoken < notes.init_tokens or 0 <= grown < notes.growth_tokens // 5:
            return
        used = self.preparer.measure(self.log)
        if self.waits_for_need and used < self.preparer.budget.compact_at_tokens // 2:
            return
        self._looked_at_tokens = spoken
        if is_due(cursor(self.log.chain(), beside_tokens=used - spoken), spoken, notes):
            self._task = asyncio.create_task(self._update())

    async def _update(self) -> None:
        try:
            async with self.chore.run():
                await self._write()
        except Error:
            # The next reply asks again; a conversation without fresh notes is compacted in full.
            return

    async def _write(self) -> None:
        file, view, scene = self.file(), self.log.view, self.preparer.scene(self.log)
        state = cursor(self.log.chain())
        spoken, covers = conversation_tokens(view, self.preparer.weigh), find_covered(view, state)
        is_models = not file.is_blank and state.by != BY_STRUCTURE
        refused = self.governor.refuses()
        if refused and is_models:
            self.chore.log_line(f"unchanged: {refused}", self.governor.spent_on(PURPOSE))
            return
        written, by = "", self.loop.parts.model.name
        if not refused and by != OFFLINE:
            written = await self._by_fork(file)
        if not written and not is_models:
            written, by = (
                notes_by_structure(self.log.entries, view.leaf, scene, self.settings.notes, file),
                BY_STRUCTURE,
            )
        elif not written:
            # Paid for and of no use: the next one is due when there is more to say.
            covers, by = state.covers, state.by
        self.preparer.add(self.log, build_notes_outcome(written, covers, spoken, by, scene, file))
        words = f"written without a model: {refused}" if refused else "updated" if written else "unchanged"
        self.chore.log_line(words, self.governor.spent_on(PURPOSE))

    async def _by_fork(self, file: NotesFile) -> str:
        """The notes as a fork left them; empty when it changed nothing. Raises `Unavailable` when it failed."""
        draft = DraftEdit(file)
        spec = notes_fork(file, self.settings.notes, self.preparer.scene(self.log).weigh_text)
        result = await run_fork(spec, self.loop, tools=Registry([draft]))
        if draft.is_changed:
            return draft.text
        if result.ending is Ending.FAILED:
            raise Unavailable(result.text)
        whole = strip_fence(result.text)
        return whole if keeps_frame(whole, file.frame) else ""

    async def settle(self, *, cancel: bool = False) -> None:
        """Wait for a running update, or end it."""
        task = self._task
        if task is None or task.done():
            return
        if cancel:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class DraftEdit(Edit):
    """The Edit tool of the notes' writer: it changes a draft, so that nobody ever reads half an update."""

    def __init__(self, file: NotesFile) -> None:
        super().__init__()
        self.text = self._frame = file.text if file.text.strip() else file.frame
        self.is_changed = False

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        path = desk.resolve(text(arguments, "file_path"))
        return Need("Edit", Act.EDIT, (path,), summary="Edit the session notes")

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        old, new = text(arguments, "old_string"), text(arguments, "new_string")
        after = replace_text(self.text, old, new, everywhere=flag(arguments, "replace_all"))
        if not keeps_frame(after, self._frame):
            raise ToolMistake("Every heading and the italic line under it must stay as they are, in their order.")
        self.text, self.is_changed = after, True
        return ToolAnswer("Changed.")
