"""Session notes while the session runs: written beside the conversation, never in its way (spec 1 §11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from reverie.agent.chores import Chore
from reverie.agent.flow import run_flow
from reverie.agent.ledger import Governor
from reverie.agent.log import Log
from reverie.agent.preparing import Prepared, Preparer
from reverie.context.embedded import answered
from reverie.context.session_notes import NotesFile, cursor, is_due, update_notes
from reverie.context.stage import Outcome
from reverie.errors import Error
from reverie.ports import Flow, Model, Reply
from reverie.settings import Settings

PURPOSE = "notes"
"""What its questions are booked as."""


@dataclass(slots=True)
class Noting:
    """Keeps the notes of one session."""

    log: Log
    preparer: Preparer
    settings: Settings
    governor: Governor
    model: Callable[[], Model]
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

    def after_reply(self, prepared: Prepared, reply: Reply) -> None:  # noqa: ARG002 - the shape of the loop's call
        """Begin an update when one is due and none runs."""
        notes = self.settings.notes
        used = self.preparer.measure(self.log)
        # Where the conversation has grown too little since the last look, the whole of it need not be read.
        grown = used - self._looked_at_tokens
        if not self.is_on or self.is_running or used < notes.init_tokens or 0 <= grown < notes.growth_tokens // 5:
            return
        if self.waits_for_need and used < self.preparer.budget.compact_at_tokens // 2:
            return
        self._looked_at_tokens = used
        if is_due(cursor(self.log.chain()), used, notes):
            self._task = asyncio.create_task(self._update(prepared))

    async def _update(self, prepared: Prepared) -> None:
        try:
            async with self.chore.run():
                await self._write(prepared)
        except Error:
            # The next reply asks again; a conversation without fresh notes is compacted in full.
            return

    async def _write(self, prepared: Prepared) -> None:
        flow = self._flow()
        refused = self.governor.refuses()
        if refused:
            outcome = answered(flow)
        else:
            outcome = await run_flow(flow, self.model(), prepared.request)
        self.preparer.add(self.log, outcome)
        words = f"written from structure: {refused}" if refused else "brought up to date"
        self.chore.said(words, self.governor.spent_on(PURPOSE))

    def _flow(self) -> Flow[Outcome]:
        scene = self.preparer.scene(self.log)
        return update_notes(self.log.view, self.log.entries, scene, self.settings.notes, self.file())

    async def settle(self, *, cancel: bool = False) -> None:
        """Wait for a running update, or end it."""
        task = self._task
        if task is None or task.done():
            return
        if cancel:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
