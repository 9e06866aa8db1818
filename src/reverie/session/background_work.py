"""Notes and extraction of a session as tasks: one for each kind, brought up to date by every run, so the list is short.

Whoever does the work opens `Chore.run` around it; anybody else sees it among the tasks and may ask for its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from reverie.errors import Error
from reverie.files.background_tasks import (
    BackgroundTask,
    State,
    Stop,
    cancel_on_stop_request,
    remove_stop_request,
    start_task,
    write_stop_request,
    write_task,
)


@dataclass(slots=True)
class Chore:
    """One kind of background work of one session."""

    folder: Path
    """Where tasks are written."""
    id: str
    kind: str
    title: str
    now: Callable[[], datetime]
    task: BackgroundTask | None = None
    """As it was last written; None before the first run."""
    is_stopped: bool = False
    """Whether somebody asked for the end of the last run."""

    @property
    def is_running(self) -> bool:
        return self.task is not None and self.task.state == "running"

    @property
    def row(self) -> tuple[tuple[str, str], ...]:
        """A line for people; none before the first run."""
        task = self.task
        if task is None:
            return ()
        last = f": {task.log[-1]}" if task.log else ""
        return ((task.id, f"{task.kind}, {task.state}, ${task.cost_usd:.4f}{last}"),)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Work as a task that anybody can see and stop.

        A stop that somebody asked for ends the block quietly (`is_stopped`). What the block raises is passed on.
        """
        self.is_stopped = False
        begun = start_task(self.id, self.kind, self.title, self.now())
        self.task = begun if self.task is None else replace(begun, log=self.task.log, cost_usd=self.task.cost_usd)
        # A request that came too late for the last run is none for this one.
        with suppress(Error):
            remove_stop_request(self.folder, self.id)
        self._write()
        stop = Stop()
        try:
            async with cancel_on_stop_request(self.folder, self.id) as stop:
                yield
        except asyncio.CancelledError:
            self._end("killed", "stopped")
            if not stop.is_asked:
                raise
            self.is_stopped = True
            present = asyncio.current_task()
            assert present is not None
            present.uncancel()
        except BaseException as problem:
            self._end("failed", f"{type(problem).__name__}: {problem}")
            raise
        else:
            self._end("completed")

    def log_line(self, line: str, cost_usd: float) -> None:
        """One more line of its log, and what it has cost so far."""
        if self.task is not None:
            self.task = replace(self.task.with_line(line), cost_usd=cost_usd)
            self._write()

    def stop(self) -> bool:
        """Ask for its end, as another process would; whether it runs."""
        if self.is_running:
            write_stop_request(self.folder, self.id)
        return self.is_running

    def _end(self, state: State, line: str = "") -> None:
        assert self.task is not None
        task = self.task.with_line(line) if line else self.task
        self.task = task.finished(state, self.now())
        self._write()

    def _write(self) -> None:
        # A task that cannot be shown is no reason not to work.
        with suppress(Error):
            if self.task is not None:
                write_task(self.folder, self.task)
