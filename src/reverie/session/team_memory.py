"""Team memory in a session: a pull before the first request, then pulls and pushes beside the turns.

The first request waits a bounded time for the pull; a remote that is slow or away costs that time and nothing else. The
work is done in a thread that nobody waits for at the end: what was not sent is sent by the next session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread

from reverie.errors import Error
from reverie.memory.memory import Memory
from reverie.session.events import Notice, TurnEvent
from reverie.session.options import SessionOptions


@dataclass(slots=True)
class TeamMemory:
    """Keeps the shared part of one session's memory up to date."""

    options: SessionOptions
    memory: Memory
    emit: Callable[[TurnEvent], None]
    _stop: Event = field(default_factory=Event)

    async def begin(self) -> None:
        """Pull what colleagues share, and go on beside the session; does nothing where no remote was joined."""
        if self.memory.off is not None or not self._is_joined():
            return
        loop = asyncio.get_running_loop()
        first = asyncio.Event()

        def call(act: Callable[[], object]) -> None:
            with suppress(RuntimeError):  # the session is over
                loop.call_soon_threadsafe(act)

        def tell(message: str) -> None:
            call(lambda: self.emit(Notice(message)))

        Thread(target=self._work, args=(tell, lambda: call(first.set)), name="team memory", daemon=True).start()
        with suppress(TimeoutError):
            await asyncio.wait_for(first.wait(), self.options.settings.team.first_pull_seconds)

    def close(self) -> None:
        """Stop looking; what is under way may end or not, nothing is lost."""
        self._stop.set()

    def _is_joined(self) -> bool:
        try:
            return self.memory.team.joined is not None
        except Error as problem:
            self.emit(Notice(str(problem), "warning"))
            return False

    def _work(self, tell: Callable[[str], None], done: Callable[[], None]) -> None:
        from reverie.memory.team.watch import TeamWatcher, run_watcher

        options = self.options
        try:
            # An index of its own: that of the session belongs to another thread.
            with Memory.at(options.places, options.settings, options.directory, now=options.now) as memory:
                watcher = TeamWatcher(memory.team, tell)
                watcher.exchange()
                done()
                run_watcher(watcher, self._stop)
        except Error as problem:
            tell(f"team memory is not in sync: {problem}")
        finally:
            done()
