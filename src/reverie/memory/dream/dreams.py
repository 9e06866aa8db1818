"""Runs dreams of one memory directory; shows, applies or discards proposals; reports the state.

The order of a dream: gates (only of an automatic one), lock, a copy of the topics, the work (rules here, or a model's
fork in `model_dream.py`), the limits, one commit. Until that commit nothing in the directory changes; after any
other end nothing has. The result is recorded last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from reverie.amounts import format_count
from reverie.errors import Conflict, Error, UserMistake
from reverie.files.background_tasks import BackgroundTask, cancel_on_stop_request
from reverie.files.secret_scan import scan
from reverie.memory.dream.apply import Applied, apply_steps
from reverie.memory.dream.daily_logs import list_daily_logs, read_log_lines
from reverie.memory.dream.gates import DreamGates, GateVerdict, list_sessions_since
from reverie.memory.dream.hunks import diff_of
from reverie.memory.dream.lock import (
    DreamLock,
    DreamState,
    dreaming,
    last_dream,
    read_dreamer,
    read_state,
    recover_state,
    write_host_time,
    write_state,
)
from reverie.memory.dream.proposal import (
    Contradiction,
    DreamStep,
    Proposal,
    StepKind,
    over_limits,
    read_proposal,
    remove_proposal,
    write_proposal,
)
from reverie.memory.dream.task import DreamTask, DreamView
from reverie.memory.dream.tidy import TidyContext, has_relative_date, tidy, tidy_after
from reverie.memory.store.past import log
from reverie.memory.store.worktree import is_topic_path, list_tracked, read_tracked
from reverie.memory.topics.anchors import Anchor, AnchorState, read_anchor_state
from reverie.memory.topics.topic import Topic
from reverie.settings.features import features
from reverie.values import value

if TYPE_CHECKING:
    from reverie.files.places import Places
    from reverie.files.places.paths import MemoryFolder
    from reverie.memory.dream.estimate import DreamEstimate
    from reverie.memory.dream.model_dream import BudgetUsed, DreamSetup
    from reverie.memory.fork_runner import ForkRunner
    from reverie.memory.store.topic_store import Store
    from reverie.settings import Settings

State: TypeAlias = Literal[
    "completed", "unchanged", "proposed", "previewed", "discarded", "busy", "skipped", "failed", "killed"
]
Reach: TypeAlias = Literal["limits", "all", "nothing"]
"""How far a dream goes by itself: within its limits, all the way, or only as far as a proposal."""
EMBEDDED = "embedded"
_DREAMS_LOOKED_AT = 50
_TEAM = "team/"


@value
class Dreamt:
    """What came of a dream."""

    state: State
    merged: int = 0
    """Topics that were merged into others."""
    retired: int = 0
    changed: int = 0
    """Topics that were edited or added."""
    commit: str | None = None
    diff: str = ""
    steps: tuple[DreamStep, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    over: tuple[str, ...] = ()
    """Why it waits for a person."""
    refused: tuple[str, ...] = ()
    """What of a model's work was thrown away."""
    left: tuple[str, ...] = ()
    """What was left out, because somebody changed it meanwhile."""
    detail: str = ""
    """Why there was no dream, how it failed, or why a model's dream was finished by the rules."""
    cost_usd: float = 0.0
    task: str = ""


@value
class DreamStatus:
    """How things stand with dreams on a directory."""

    last: datetime | None
    gates: GateVerdict
    dreamer: str
    """Who dreams at this moment."""
    proposal: Proposal | None
    state: DreamState
    tasks: tuple[BackgroundTask, ...] = ()


@dataclass(slots=True)
class Dreams:
    """The dreams of one memory."""

    folder: MemoryFolder
    open_store: Callable[[], Store]
    """The store of the directory; opened when it is first needed."""
    settings: Settings
    places: Places
    now: Callable[[], datetime]
    root: Path | None = None
    """The project, where anchors and sessions are looked for."""
    off: str | None = None
    """Why there is no memory at all."""
    _running: DreamTask | None = field(default=None, init=False)
    _gates: DreamGates | None = field(default=None, init=False)
    _current: str | None = field(default=None, init=False)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The last dream of this process as a line for people; none before the first."""
        return () if self._running is None else (self._running.row,)

    async def stop(self, name: str) -> bool:
        """Stop the dream of this process that has this name (`dream`, or its id); whether one runs.

        Nothing of it stays: until its one commit nothing in the directory changes.
        """
        run = self._running
        if run is None or not run.is_running or name not in ("dream", run.id):
            return False
        await run.stop()
        return True

    def due(self, session: str | None = None) -> GateVerdict:
        """Whether the gates are open; to be asked after every turn of this session."""
        self._current = session
        if self._gates is None:
            dream_settings = self.settings.dream
            self._gates = DreamGates(
                self.folder,
                lambda since: list_sessions_since(self._transcript_folders(), since, current=self._current),
                off=self._off(),
                min_hours=dream_settings.min_hours,
                min_sessions=dream_settings.min_sessions,
                scan_interval_minutes=dream_settings.scan_interval_minutes,
                lock_stale_minutes=dream_settings.lock_stale_minutes,
            )
        return self._gates.ask(self.now())

    def logs_wait(self) -> bool:
        """Whether the daily log of a day that is over says what no dream has read, and nothing else waits."""
        done, today = read_state(self.folder).logs, self.now().date()
        past = (log for log in list_daily_logs(self.folder) if log[0] < today)
        fresh = any(read_log_lines(path, done.get(day.isoformat(), 0))[0] for day, path in past)
        return fresh and self.proposal() is None

    def status(self) -> DreamStatus:
        """How things stand; changes nothing."""
        from reverie.files.background_tasks import list_tasks

        now = self.now()
        state = self._recover_state(read_state(self.folder))
        times = [time for time in (last_dream(self.folder), state.last_success) if time is not None]
        dreamer = read_dreamer(self.folder, now=now, stale_minutes=self._stale_minutes)
        running = [task for task in list_tasks(self.places.tasks, now=now) if task.kind == "dream"]
        here = [task for task in running if str(self.folder.directory) in task.title]
        return DreamStatus(max(times, default=None), self.due(), dreamer, self.proposal(), state, tuple(here[:5]))

    def proposal(self) -> Proposal | None:
        """What waits for a person's word."""
        return read_proposal(self.folder)

    def preview(self) -> Dreamt:
        """What an embedded dream would do now; takes no lock and writes nothing."""
        texts = self._read_texts()
        proposal = self._propose_by_rules(texts, read_state(self.folder))
        return report_proposal(
            "previewed" if proposal.steps else "unchanged",
            replace(proposal, over=over_limits(proposal.steps, len(texts), today=self.now().date())),
        )

    def estimate(self, forks: ForkRunner) -> DreamEstimate:
        """What it would cost to let the model of this conversation dream now; asks and writes nothing."""
        from reverie.memory.dream.estimate import estimate_dream
        from reverie.memory.dream.model_dream import spec_of

        texts = self._read_texts()
        spec = spec_of(self.folder, self._bedside(), texts, read_state(self.folder))
        return estimate_dream(spec, forks, texts.values())

    async def run(
        self,
        reach: Reach = "limits",
        *,
        forks: ForkRunner | None = None,
        session: str | None = None,
        automatic: bool = False,
        refusal: str = "",
        watch: Callable[[DreamView], None] = lambda _view: None,
    ) -> Dreamt:
        """Dream once. With `forks` a model dreams, as a fork of that conversation; else the rules do.

        `refusal` says why no model was asked, and is told with the result. An automatic dream asks the gates first and
        stays within the limits. It never raises for what may happen to a dream; its state says so.
        """
        if automatic:
            verdict = self.due(session)
            if not verdict.is_open:
                return Dreamt("skipped", detail=verdict.detail)
        try:
            with dreaming(self.folder, now=self.now(), stale_minutes=self._stale_minutes) as lock:
                done = await self._run_as_task(lock, reach, forks, session, watch)
                return replace(done, detail="; ".join(filter(None, (refusal, done.detail))))
        except Conflict as busy:
            return Dreamt("busy", detail=str(busy))

    def settle(
        self, steps: Sequence[DreamStep], *, rest: Sequence[DreamStep] = (), session: str | None = None
    ) -> Dreamt:
        """Apply these steps of the proposal that waits; `rest` is kept for later, all else is dropped.

        Raises:
            UserMistake: nothing waits.
            Conflict: somebody dreams at this moment.
        """
        proposal = self._waiting()
        with dreaming(self.folder, now=self.now(), stale_minutes=self._stale_minutes) as lock:
            applied = apply_steps(self.open_store(), steps, session=session, check=lambda: lock.check(self.now()))
            if rest:
                write_proposal(self.folder, replace(proposal, steps=tuple(rest)))
            else:
                remove_proposal(self.folder)
            self._record_success(read_state(self.folder), proposal)
        return report_proposal("completed" if applied.steps else "unchanged", proposal, applied)

    def discard(self) -> Dreamt:
        """Drop the proposal that waits."""
        proposal = self._waiting()
        remove_proposal(self.folder)
        state = read_state(self.folder)
        logs, offered = {**state.logs, **proposal.logs}, {**state.offered, **proposal.offered}
        write_state(self.folder, replace(state, settled=self.now(), logs=logs, offered=offered))
        return replace(report_proposal("discarded", proposal), merged=0, retired=0, changed=0)

    async def _run_as_task(
        self,
        lock: DreamLock,
        reach: Reach,
        forks: ForkRunner | None,
        session: str | None,
        watch: Callable[[DreamView], None],
    ) -> Dreamt:
        """A dream as a task that anybody can see and stop."""
        from reverie.settings.load import fresh_marker

        run = DreamTask(self.places.tasks, f"dream-{fresh_marker()[:8]}", self.now, watch)
        run.begin(f"dream on {self.folder.directory}", self.settings.dream.view_messages)
        self._running = run
        try:
            async with cancel_on_stop_request(self.places.tasks, run.id) as stop:
                done = await self._dreamt(lock, reach, forks, session, run)
        except asyncio.CancelledError:
            self._record_failure()
            run.end("killed", "stopped; nothing was changed")
            if not stop.is_asked:
                raise
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            return Dreamt("killed", detail="stopped on request; nothing was changed", task=run.id)
        except Conflict:
            run.end("failed", "another dream took over")
            raise
        except (Error, OSError) as problem:
            self._record_failure()
            run.end("failed", str(problem))
            return Dreamt("failed", detail=str(problem), task=run.id)
        except BaseException:
            run.end("failed", "broke off")
            raise
        run.end("failed" if done.state == "failed" else "completed", _sentence(done))
        return replace(done, task=run.id, cost_usd=run.task.cost_usd)

    async def _dreamt(
        self, lock: DreamLock, reach: Reach, forks: ForkRunner | None, session: str | None, run: DreamTask
    ) -> Dreamt:
        state = self._recover_state(read_state(self.folder))
        texts = await asyncio.to_thread(self._read_texts)
        detail = ""
        model_proposal = None if forks is None else await self._by_model(forks, texts, state, run)
        if isinstance(model_proposal, str):
            self._record_failure()
            return Dreamt("failed", detail=model_proposal)
        if isinstance(model_proposal, Proposal):
            proposal = await asyncio.to_thread(self._tidy_proposal, texts, model_proposal)
        else:
            detail = (
                f"the model stopped, continued by rules: {model_proposal.reason}" if model_proposal is not None else ""
            )
            proposal = await asyncio.to_thread(self._propose_by_rules, texts, state)
        proposal = replace(
            proposal, over=(*proposal.over, *over_limits(proposal.steps, len(texts), today=self.now().date()))
        )
        if reach == "nothing" or (reach == "limits" and proposal.over):
            if not proposal.steps:
                remove_proposal(self.folder)
                self._record_success(state, proposal)
                return replace(report_proposal("unchanged", proposal), detail=detail)
            write_proposal(self.folder, proposal)
            return replace(report_proposal("proposed", proposal), detail=detail)
        applied = apply_steps(self.open_store(), proposal.steps, session=session, check=lambda: lock.check(self.now()))
        remove_proposal(self.folder)
        self._record_success(state, proposal)
        is_done = bool(applied.steps)
        return replace(report_proposal("completed" if is_done else "unchanged", proposal, applied), detail=detail)

    def _tidy_proposal(self, texts: Mapping[str, str], proposal: Proposal) -> Proposal:
        """A model's proposal with what the rules have to tidy after it."""
        tidied = tidy_after(texts, proposal.steps, self._world())
        return replace(proposal, steps=tidied.steps, contradictions=tidied.contradictions)

    def _propose_by_rules(self, texts: Mapping[str, str], state: DreamState) -> Proposal:
        now = self.now()
        if not list_daily_logs(self.folder):
            tidied = tidy(texts, self._world())
            return Proposal(now, EMBEDDED, tidied.steps, tidied.contradictions)
        from reverie.memory.dream.from_logs import read_from_logs

        logs = read_from_logs(self.folder, state.logs, texts, now.tzinfo)
        tidied = tidy(texts, self._world(), logs.drafts)
        return Proposal(now, EMBEDDED, tidied.steps, tidied.contradictions, logs=logs.read)

    async def _by_model(
        self, forks: ForkRunner, texts: Mapping[str, str], state: DreamState, run: DreamTask
    ) -> Proposal | BudgetUsed | str:
        from reverie.memory.dream.model_dream import dream_by_model

        return await dream_by_model(self.open_store(), self._bedside(), forks, texts, state, run)

    def _bedside(self) -> DreamSetup:
        from reverie.memory.dream.model_dream import DreamSetup

        return DreamSetup(
            staging=self.places.caches / "dream" / self.places.slug(self.folder.directory),
            transcripts=self._transcript_folders(),
            root=self.root,
            settings=self.settings.dream,
            now=self.now(),
            current=self._current,
        )

    def _read_texts(self) -> dict[str, str]:
        """The topics that a dream may touch: not the team's, none that holds a secret or is no text."""
        texts: dict[str, str] = {}
        for path in sorted(filter(is_topic_path, list_tracked(self.folder))):
            if path.startswith((_TEAM, ".")):
                continue
            with suppress(UnicodeDecodeError):
                text = (read_tracked(self.folder, path) or b"").decode()
                if not scan(text):
                    texts[path] = text
        return texts

    def _world(self) -> TidyContext:
        root, states = self.root, dict[Anchor, bool]()

        def is_broken(anchor: Anchor) -> bool:
            if root is None or not root.is_dir():
                return False
            if anchor not in states:
                state = read_anchor_state(anchor, root, has_commit=self._has_commit)
                states[anchor] = state is AnchorState.broken
            return states[anchor]

        return TidyContext(self._day_of, is_broken, self.now().date())

    def _has_commit(self, commit: str) -> bool:
        from reverie.memory.project_repository import has_commit

        return self.root is not None and has_commit(self.root, commit)

    def _day_of(self, topic: Topic) -> date | None:
        """The day a topic is from: what it says, else the earlier of its file's time and its first commit."""
        if topic.observed is not None or not has_relative_date(topic):
            return topic.observed
        times: list[datetime] = []
        with suppress(OSError):
            stat = (self.folder.directory / topic.path).stat()
            times.append(datetime.fromtimestamp(stat.st_mtime, tz=UTC))
        if self.open_store().history.is_on:
            times += [commit.when for commit in log(self.open_store().history, topic.path)[-1:]]
        return min(times).astimezone(self.now().tzinfo).date() if times else None

    def _transcript_folders(self) -> tuple[Path, ...]:
        from reverie.memory.search.passages.listing import list_session_folders

        root = self.root
        folders = list_session_folders(self.places, root) if root is not None else ()
        return tuple(folder.directory for folder in folders if folder.directory.is_dir())

    def _recover_state(self, state: DreamState) -> DreamState:
        """The state, with a dream that was killed between its commit and its last note."""
        history = self.open_store().history
        if not history.is_on:
            return state
        return recover_state(state, lambda: self._last_dream_commit(state))

    def _last_dream_commit(self, state: DreamState) -> datetime | None:
        commits = log(self.open_store().history, limit=_DREAMS_LOOKED_AT)
        after = state.last_success
        dreams = (
            commit.when for commit in commits if commit.change.author == "dream" and (not after or commit.when > after)
        )
        return next(dreams, None)

    def _record_success(self, state: DreamState, proposal: Proposal) -> None:
        now = self.now()
        is_hosts = self.places.host_projects in self.folder.directory.parents
        write_state(self.folder, state.succeeded(now, proposal.logs, proposal.offered))
        write_host_time(self.folder, now, is_hosts=is_hosts, stale_minutes=self._stale_minutes)

    def _record_failure(self) -> None:
        with suppress(Error):
            write_state(self.folder, read_state(self.folder).failing(self.now()))

    def _waiting(self) -> Proposal:
        proposal = self.proposal()
        if proposal is None:
            raise UserMistake(
                f"no pending proposal for {self.folder.directory}; run `reverie dream --review` to create one"
            )
        return proposal

    @property
    def _stale_minutes(self) -> float:
        return self.settings.dream.lock_stale_minutes

    def _off(self) -> str:
        settings = self.settings
        if self.off is not None:
            return self.off
        if settings.memory.daily_log:
            return "daily logs are on; they are turned into topics once their day is over, and by `reverie dream`"
        if settings.remote.mode:
            return "remote mode does no background work"
        return "" if features(settings).dream else "dream.enabled is false"


def report_proposal(state: State, proposal: Proposal, applied: Applied | None = None) -> Dreamt:
    """What a proposal, or what was applied of it, comes to."""
    steps = proposal.steps if applied is None else applied.steps
    shown = replace(proposal, steps=steps)
    return Dreamt(
        state,
        merged=shown.count(StepKind.merge),
        retired=shown.count(StepKind.retire),
        changed=shown.count(StepKind.edit) + shown.count(StepKind.add),
        commit=applied.commit if applied is not None else None,
        diff=diff_of(steps),
        steps=steps,
        contradictions=proposal.contradictions,
        over=proposal.over,
        refused=proposal.refused,
        left=tuple(reason for _, reason in applied.left) if applied is not None else (),
    )


def _sentence(done: Dreamt) -> str:
    touched = done.merged + done.retired + done.changed
    match done.state:
        case "completed":
            return f"Improved {format_count(touched, 'memory file')}"
        case "proposed":
            return f"Proposes to change {format_count(touched, 'memory file')}: `reverie dream --review`"
        case "failed":
            return done.detail
        case _:
            return "Everything was in order"
