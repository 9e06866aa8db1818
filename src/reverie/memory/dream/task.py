"""A dream as a background task: its progress, readable by any process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from reverie.errors import Error
from reverie.files.background_tasks import BackgroundTask, start_task, write_stop_request, write_task
from reverie.memory.dream.staging import inside
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.fork_runner import ForkListener
    from reverie.messages.blocks import JsonObject


Phase: TypeAlias = Literal["starting", "updating"]
MESSAGES = 30


@value
class DreamView:
    """What is shown while a dream runs."""

    phase: Phase = "starting"
    """`updating` from the first file that it writes."""
    messages: tuple[str, ...] = ()
    """The last ones, the newest last."""
    calls: int = 0
    touched: tuple[str, ...] = ()
    """Paths inside the directory, in the order in which they were first written."""
    limit: int = MESSAGES

    def with_message(self, text: str) -> DreamView:
        """The view after one more message."""
        line = " ".join(text.split())
        return replace(self, messages=(*self.messages, line)[-self.limit :]) if line else self

    def with_call(self, tool: str, path: str = "") -> DreamView:
        """The view after one more call; `path` is what it wrote, if it did."""
        touched = (*self.touched, path) if path and path not in self.touched else self.touched
        phase: Phase = "updating" if path else self.phase
        return replace(self.with_message(f"{tool} {path}".strip()), calls=self.calls + 1, touched=touched, phase=phase)


@dataclass(slots=True)
class DreamTask:
    """The task of one dream, and its live view."""

    folder: Path
    """Where tasks are written."""
    id: str
    now: Callable[[], datetime]
    watch: Callable[[DreamView], None] = lambda _view: None
    view: DreamView = field(default_factory=DreamView)
    task: BackgroundTask = field(init=False)
    _ended: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    @property
    def is_running(self) -> bool:
        return self.task.state == "running"

    @property
    def row(self) -> tuple[str, str]:
        """A line for people."""
        last = f": {self.task.log[-1]}" if self.task.log else ""
        return self.id, f"dream, {self.task.state}, ${self.task.cost_usd:.4f}{last}"

    async def stop(self) -> None:
        """Ask for its end, as another process would, and wait until it is over."""
        write_stop_request(self.folder, self.id)
        await self._ended.wait()

    def begin(self, title: str, view_messages: int) -> None:
        """The dream begins."""
        self.view = DreamView(limit=view_messages)
        self.task = start_task(self.id, "dream", title, self.now())
        self._write()

    def end(self, state: Literal["completed", "failed", "killed"], summary: str) -> None:
        """The dream is over."""
        self.task = self.task.with_line(summary).finished(state, self.now())
        self._write()
        self._ended.set()

    def cost(self, cost_usd: float) -> None:
        """What it cost."""
        self.task = replace(self.task, cost_usd=cost_usd)

    def listener(self, staging: Path) -> ForkListener:
        """Takes what a fork says and calls into the view; it works in `staging`."""
        return _Listener(self, staging)

    def show(self, view: DreamView) -> None:
        """The view has changed."""
        self.view = view
        self.task = replace(self.task, log=view.messages)
        self._write()
        self.watch(view)

    def _write(self) -> None:
        # A task that cannot be shown is no reason not to dream.
        with suppress(Error):
            write_task(self.folder, self.task)


@dataclass(slots=True)
class _Listener:
    task: DreamTask
    staging: Path

    def replied(self, text: str) -> None:
        self.task.show(self.task.view.with_message(text))

    def called(self, tool: str, arguments: JsonObject) -> None:
        path = arguments.get("file_path")
        is_write = tool in {"Write", "Edit"} and isinstance(path, str)
        written = (inside(Path(str(path)), self.staging) or "") if is_write else ""
        self.task.show(self.task.view.with_call(tool, written))
