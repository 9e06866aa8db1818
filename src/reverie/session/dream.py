"""A dream beside a session: after each turn the gates are asked, and mostly they end it at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from reverie.errors import Error, UserMistake
from reverie.memory.dream.dreams import Dreamt, Reach
from reverie.memory.dream.lock import last_dream
from reverie.memory.fork_runner import ForkRunner
from reverie.memory.memory import Memory
from reverie.models.ledger import Booking, Governor, read_bookings
from reverie.models.offline import OFFLINE
from reverie.models.ports import Ending
from reverie.session.events import Notice, TurnEvent
from reverie.session.loop import Loop
from reverie.session.subagents.fork import ForkModel, LoopForks
from reverie.settings import Settings

_LOOK_BACK_DAYS = 30
"""Where no dream was yet, so much of the past counts."""


@dataclass(slots=True)
class SessionDream:
    """Lets the memory of one session's project be put in order now and then."""

    memory: Memory
    loop: Loop
    governor: Governor
    settings: Settings
    session: str
    model_name: str
    is_interactive: bool
    is_on: bool
    """Whether it dreams by itself."""
    emit: Callable[[TurnEvent], None]
    open_memory_model: Callable[[], ForkModel] | None = None
    """The model for memory work (`model.memory`), where the session has none of its own."""
    _task: asyncio.Task[None] | None = None
    _night: date | None = None
    """The day on which the logs of earlier days were last looked at."""

    @property
    def is_dreaming(self) -> bool:
        return self._task is not None and not self._task.done()

    def after_turn(self, ending: Ending) -> None:
        """Dream if it is time; nobody waits."""
        if ending is not Ending.COMPLETED or self.memory.off is not None or self.is_dreaming:
            return
        if self.is_on:
            self._task = asyncio.create_task(self._if_due())
        elif self._keeps_logs and self._night != self.memory.dreams.now().date():
            self._night = self.memory.dreams.now().date()
            self._task = asyncio.create_task(self._if_logs_wait())

    async def dream(self, *, review: bool = False) -> Dreamt:
        """Dream now, because the user said so; with `review` nothing is applied."""
        forks, refusal = await self._dreamer()
        reach: Reach = "nothing" if review else "limits"
        return await self.memory.dreams.run(reach, forks=forks, session=self.session, refusal=refusal)

    async def settle(self) -> None:
        """The session ends: a dream that still runs is stopped, and nothing of it stays."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _if_due(self) -> None:
        try:
            verdict = await asyncio.to_thread(self.memory.dreams.due, self.session)
            if verdict.is_open:
                forks, refusal = await self._dreamer()
                done = await self.memory.dreams.run(forks=forks, session=self.session, automatic=True, refusal=refusal)
                self._tell(done)
        except (Error, OSError) as problem:
            self.emit(Notice(f"no dream: {problem}", "warning"))

    @property
    def _keeps_logs(self) -> bool:
        settings = self.settings
        return settings.memory.daily_log and settings.dream.enabled and not settings.remote.mode and self.is_interactive

    async def _if_logs_wait(self) -> None:
        """With the first turn of a day, make topics of what the logs of earlier days say."""
        try:
            if await asyncio.to_thread(self.memory.dreams.logs_wait):
                forks, refusal = await self._dreamer()
                self._tell(await self.memory.dreams.run(forks=forks, session=self.session, refusal=refusal))
        except (Error, OSError) as problem:
            self.emit(Notice(f"no dream: {problem}", "warning"))

    async def _dreamer(self) -> tuple[ForkRunner | None, str]:
        """Whose fork dreams; None leaves it to the rules, with the reason where a model could have been asked."""
        other = None
        if self.model_name == OFFLINE:
            if self.open_memory_model is None:
                return None, ""
            try:
                other = self.open_memory_model()
            except UserMistake as problem:
                return None, f"dream ran by rules, without the model: {problem}"
        self.governor.carry(await asyncio.to_thread(self._earlier))
        rounds = self.settings.dream.max_rounds // 3
        refused = self.governor.refuses(rounds * self.loop.fork_estimate_usd(other.facts if other else None))
        if refused:
            return None, f"dream ran by rules, without the model: {refused}"
        return LoopForks(self.loop, other), ""

    def _earlier(self) -> list[Booking]:
        """What the other sessions of the project have cost since the last dream, which is work for all of them."""
        dreams = self.memory.dreams
        since = last_dream(dreams.folder) or dreams.now() - timedelta(days=_LOOK_BACK_DAYS)
        project = str(dreams.root)
        booked = read_bookings(dreams.places.ledger, since=since)
        return [one for one in booked if one.project == project and one.session != self.session]

    def _tell(self, done: Dreamt) -> None:
        if done.detail and done.state in {"completed", "proposed", "unchanged"}:
            self.emit(Notice(f"dream: {done.detail}", "warning"))
        match done.state:
            case "completed":
                sentence = f"dream completed: {done.merged} merged, {done.retired} archived, "
                self.emit(
                    Notice(f"{sentence}{done.changed} changed (undo with `reverie undo {(done.commit or '')[:8]}`)")
                )
            case "proposed":
                self.emit(Notice("dream proposed changes: review them with `reverie dream --review`"))
            case "killed":
                self.emit(Notice("dream stopped; nothing was changed"))
            case "failed":
                self.emit(Notice(f"dream failed, nothing was changed: {done.detail}", "warning"))
            case _:
                pass
