"""An eye on the child agents of a session: progress lines, the list of background work, stops that others ask for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reverie.errors import Error
from reverie.files.background_tasks import BackgroundTask, has_stop_request, started_task, write_task
from reverie.models.ledger import Governor
from reverie.models.ports import Model
from reverie.session.options import SessionOptions
from reverie.session.subagents.children import Child, Children
from reverie.session.subagents.messaging import Messaging
from reverie.session.subagents.progress import worded_line

_LOOK_SECONDS = 1.0


@dataclass(slots=True)
class AgentMonitor:
    """Looks at the agents of one session every so often, from the first on until it is closed."""

    options: SessionOptions
    children: Children
    post: Messaging
    governor: Governor
    make_model: Callable[[str], Model]
    _tasks: dict[str, BackgroundTask] = field(default_factory=dict)
    _looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, where nobody does yet."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    def enlist(self, child: Child) -> None:
        """List a child as background work."""
        title = f"{child.name}: {child.title}"
        self._tasks[child.id] = started_task(child.id, "agent", title, self.options.now())
        self.write(child)

    def write(self, child: Child) -> None:
        """Bring the list of background work up to date; a full disk costs only the list."""
        task = self._tasks.get(child.id)
        if task is None or task.state != "running":
            return
        task = replace(task, cost_usd=child.cost_usd)
        if child.is_running:
            task = task.with_line(child.line)
        else:
            task = task.with_line(child.result or child.state.value).finished(child.state.value, self.options.now())
        self._tasks[child.id] = task
        with contextlib.suppress(Error):
            write_task(self.options.places.tasks, task)

    async def close(self) -> None:
        """Look no more; the list says how everything ended."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for child in self.children.all:
            self.write(child)

    async def _look(self) -> None:
        interval = self.options.settings.agent.summary_interval_seconds
        due = time.monotonic() + interval
        while True:
            await asyncio.sleep(min(_LOOK_SECONDS, interval))
            for child in self.children.all:
                if child.id not in self._tasks:
                    continue
                if child.is_running and has_stop_request(self.options.places.tasks, child.id):
                    await self.children.kill(child.id)
                if not child.is_running:
                    self.write(child)
            self.post.look()
            if time.monotonic() >= due:
                due = time.monotonic() + interval
                await self._word()
                self.children.report()
                for child in self.children.running:
                    self.write(child)

    async def _word(self) -> None:
        """Let the background model word what agents do, where there is one and the budget allows it."""
        settings = self.options.settings
        name = settings.model.background
        if not name or self.governor.refuses():
            return
        words = (settings.agent.summary_words_min, settings.agent.summary_words_max)
        for child in self.children.running:
            if child.calls and not child.worded:
                with contextlib.suppress(Error):
                    child.worded = await worded_line(self.make_model(name), tuple(child.calls), words=words)
