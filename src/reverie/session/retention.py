"""Sessions that nobody uses any more: once a day, after a turn, what the retention rules say has expired is removed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from reverie.amounts import format_count
from reverie.errors import Error
from reverie.files.places import ProjectFolder
from reverie.memory.memory import Memory
from reverie.memory.retention import RetentionRules, sweep_sessions
from reverie.session.events import Notice, TurnEvent
from reverie.session.options import SessionOptions


@dataclass(slots=True)
class RetentionSweep:
    """Looks after the files of one project's sessions."""

    options: SessionOptions
    folder: ProjectFolder
    memory: Memory
    emit: Callable[[TurnEvent], None]
    _task: asyncio.Task[None] | None = None

    def after_turn(self) -> None:
        """Look once in a session; nobody waits. Where memory is off nobody can tell what it cites."""
        if self._task is None and self.memory.off is None:
            self._task = asyncio.create_task(self._sweep())

    async def settle(self) -> None:
        """The session ends: what began is finished."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _sweep(self) -> None:
        rules = RetentionRules.of(self.options.settings)
        try:
            removed = await asyncio.to_thread(
                sweep_sessions, self.folder.directory, rules, now=self.options.now(), cited=self._find_cited_sessions
            )
        except Error as problem:
            self.emit(Notice(f"old session files were not deleted: {problem}", "warning"))
            return
        if removed:
            self.emit(Notice(f"{format_count(len(removed), 'file')} of unused sessions deleted (settings: retention)"))

    def _find_cited_sessions(self) -> frozenset[str]:
        """The sessions that memories name as their source; looked up beside the session's own index."""
        with Memory.at(
            self.options.places, self.options.settings, self.options.directory, now=self.options.now
        ) as memory:
            return frozenset(source.session for topic in memory.topics() for source in topic.sources if source.session)
