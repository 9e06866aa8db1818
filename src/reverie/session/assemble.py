"""How a session is put together from a `SessionOptions` and an open transcript. Reads like a list of ingredients.

What stands by itself is laid by `ground`. The parts above it know one another in circles, so each is made when it is
first asked for. What they then do for one another, and in which order they begin and end, is told in `parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from reverie.context.restore import RestoreContext
from reverie.context.session_notes import NotesFile, read_notes_file
from reverie.errors import UserMistake
from reverie.extensions.hooks import HookContext as HookSurroundings
from reverie.extensions.hooks import Hooks, declared_hooks
from reverie.extensions.skills import Skill
from reverie.files.trust import read_trust
from reverie.messages.transcript import Transcript
from reverie.models.ports import Ending, Model
from reverie.models.profiles import profile
from reverie.models.tokens.window import budget_by
from reverie.session.background_work import Chore
from reverie.session.compaction import Compactor
from reverie.session.disk_changes import DiskChanges
from reverie.session.dream import Sleeping
from reverie.session.events import TurnEvent
from reverie.session.extensions import Extensions, extensions, hook_effects, new_connections, read_plugins
from reverie.session.extraction import Extracting
from reverie.session.ground import Ground, laid_ground
from reverie.session.idle import Idling
from reverie.session.lifecycle_hooks import Announcing
from reverie.session.loop import JoinedAttachment, Loop, Parts
from reverie.session.mentions import attach_mentions
from reverie.session.notes import Noting
from reverie.session.offline_answer import answer_offline
from reverie.session.opening_prompt import Briefing
from reverie.session.options import SessionOptions
from reverie.session.own_keys import environment_for_others
from reverie.session.parts import SessionParts
from reverie.session.recall import SessionRecall
from reverie.session.retention import Sweeping
from reverie.session.subagents.subagents import Subagents, staffed
from reverie.session.tool_calls import FinishedCall, ToolCalls
from reverie.settings.features import features
from reverie.tools.registry import Registry


def assembled(setup: SessionOptions, transcript: Transcript, *, emit: Callable[[TurnEvent], None]) -> SessionParts:
    """Put a session together."""
    return _Assembly(laid_ground(setup, transcript, emit)).parts


class _Assembly:
    """The parts of one session, each made once."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.setup = ground.setup
        self.settings = ground.setup.settings
        self.emit = ground.emit
        self.on = features(self.settings, interactive=self.setup.is_interactive)
        self.plugins = read_plugins(self.setup)
        self.trust = read_trust(self.setup.places.trust, self.setup.project)

    @cached_property
    def parts(self) -> SessionParts:
        ground = self.ground
        disk_changes = DiskChanges(self.setup, self.hooks, ground.desk, self.emit)
        return SessionParts(
            setup=self.setup,
            log=ground.log,
            loop=self.loop,
            memory=ground.memory,
            hooks=self.hooks,
            desk=ground.desk,
            permits=ground.permits,
            briefing=self.briefing,
            recalling=self.recalling,
            noting=self.noting,
            extracting=self.extracting,
            sleeping=self.sleeping,
            sweeping=self.sweeping,
            governor=ground.governor,
            folder=ground.folder,
            shells=ground.shells,
            emit=self.emit,
            extensions=self.extensions,
            staff=self.staff,
            announcing=Announcing(self.setup, self.hooks, self.loop, self.extensions, disk_changes, self.emit),
            disk_changes=disk_changes,
            idling=Idling(self.hooks, self.setup.is_interactive),
            files=ground.files,
        )

    @cached_property
    def loop(self) -> Loop:
        ground, setup = self.ground, self.setup
        registry = self.extensions.serving.registry()
        return Loop(
            Parts(
                log=ground.log,
                preparer=ground.preparer,
                model=ground.model,
                calls=ToolCalls(registry, ground.desk, ground.permits, setup.approver, self.hooks, self.emit),
                compactor=self.compactor,
                hooks=self.hooks,
                governor=ground.governor,
                settings=self.settings,
                now=setup.now,
                emit=self.emit,
                opening=self.briefing.opening,
                fallbacks=tuple(partial(ground.booked, name) for name in self.settings.model.fallback),
                recall=self.recalling.recall,
                touched=self._touched,
                at_boundary=self._at_boundary,
                expand=self.extensions.expand,
                attach=self._attach_mentions,
                answer_offline=lambda: answer_offline(ground.log, ground.memory),
                before_prompt=self.briefing.before_prompt,
                after_reply=self.noting.after_reply,
                after_turn=self._after_turn,
                background=lambda: (*self.staff.lines, *self.parts.background),
                max_rounds=setup.max_rounds,
                max_output_tokens=setup.max_output_tokens,
            )
        )

    async def _attach_mentions(self, text: str) -> Sequence[JoinedAttachment]:
        """Files that the user's words name."""
        calls, window = self.loop.parts.calls, self.loop.status.window_tokens
        return await attach_mentions(text, calls.desk, calls.permits.policy, room_tokens=window)

    @cached_property
    def hooks(self) -> Hooks:
        ground, setup = self.ground, self.setup
        return Hooks(
            declared_hooks(self.settings.hooks, self.plugins.plugins) if self.on.hooks else (),
            limits=self.settings.hook,
            around=HookSurroundings(setup.project, environment_for_others(setup), env_file=ground.env_file),
            facts=ground.hook_facts,
            trust=self.trust,
            spills=ground.beside.spills,
            effects=hook_effects(
                setup,
                extended=lambda: self.extensions,
                model=ground.booked,
                policy=lambda: ground.permits.policy,
                agent=self._judged,
            ),
        )

    @cached_property
    def staff(self) -> Subagents:
        ground, setup = self.ground, self.setup
        return staffed(
            setup,
            log=ground.log,
            folder=ground.folder,
            hooks=self.hooks,
            facts=ground.hook_facts,
            governor=ground.governor,
            emit=self.emit,
            make_model=ground.booked,
            main=lambda: self.loop,
            find_skill=self._find_skill,
            servers=lambda: self.extensions.serving.connections,
            connections=lambda: new_connections(setup, ground.beside.directory, self.emit),
            instructions=lambda: self.briefing.for_agents(),  # noqa: PLW0108 - made later
            plugins=self.plugins.plugins,
            trust=lambda: self.trust,
        )

    @cached_property
    def extensions(self) -> Extensions:
        made = extensions(
            self.setup,
            self.plugins,
            log=self.ground.log,
            hooks=self.hooks,
            own=self.ground.tools.with_tools(self.staff.tools),
            calls=lambda: self.loop.parts.calls,
            taken=self._take,
            beside=self.ground.beside.directory,
            trust=self.trust,
            employ=self.staff.employ,
            retune=self._retune,
            further=lambda: (*self.staff.waiting, *self.briefing.waiting),
            emit=self.emit,
        )
        # From here on the user's answers of this session count.
        self.staff.trust = lambda: made.trust
        return made

    @cached_property
    def briefing(self) -> Briefing:
        ground = self.ground
        return Briefing(
            setup=self.setup,
            log=ground.log,
            memory=ground.memory,
            desk=ground.desk,
            permits=ground.permits,
            hooks=self.hooks,
            tools=lambda: self.loop.parts.calls.tools,
            extensions=self.extensions,
            plan_file=ground.plan_file,
            transcripts=ground.folder.directory,
            emit=self.emit,
        )

    @cached_property
    def compactor(self) -> Compactor:
        return Compactor(
            log=self.ground.log,
            preparer=self.ground.preparer,
            settings=self.settings,
            hooks=self.hooks,
            surroundings=self._surroundings,
            notes=lambda: self._read_notes() if self.on.notes_compaction else None,
            reopened=self.briefing.reopened,
            attach=self._attach,
            emit=self.emit,
        )

    @cached_property
    def noting(self) -> Noting:
        ground = self.ground
        return Noting(
            log=ground.log,
            preparer=ground.preparer,
            settings=self.settings,
            governor=ground.governor,
            loop=lambda: self.loop,
            file=self._read_notes,
            chore=self._chore("notes", f"notes on the session {ground.session}"),
            is_on=self.on.notes,
            waits_for_need=not self.setup.is_interactive,
        )

    @cached_property
    def extracting(self) -> Extracting:
        ground, setup = self.ground, self.setup
        return Extracting(
            loop=lambda: self.loop,
            log=ground.log,
            memory=ground.memory,
            writes=ground.writes,
            settings=self.settings,
            governor=ground.governor,
            now=setup.now,
            emit=self.emit,
            is_interactive=setup.is_interactive,
            model_name=setup.model,
            chore=self._chore("extraction", f"what the session {ground.session} taught"),
        )

    @cached_property
    def sleeping(self) -> Sleeping:
        return Sleeping(
            memory=self.ground.memory,
            loop=lambda: self.loop,
            governor=self.ground.governor,
            settings=self.settings,
            session=self.ground.session,
            model_name=self.setup.model,
            is_interactive=self.setup.is_interactive,
            emit=self.emit,
        )

    @cached_property
    def sweeping(self) -> Sweeping:
        return Sweeping(self.setup, self.ground.folder, self.ground.memory, self.emit)

    @cached_property
    def recalling(self) -> SessionRecall:
        ground, selector = self.ground, self.settings.model.background
        return SessionRecall(
            memory=ground.memory,
            log=ground.log,
            desk=ground.desk,
            used_tokens=lambda: self.loop.status.used_tokens,
            model=ground.booked(selector) if selector else None,
        )

    async def _touched(self, done: Sequence[FinishedCall]) -> Sequence[JoinedAttachment]:
        joined = (*self.briefing.touched(done), *self.extensions.touched(done))
        await self.briefing.announce_loaded()
        return joined

    def _surroundings(self) -> RestoreContext:
        around = self.briefing.surroundings()
        return replace(around, returning=(*around.returning, *self.staff.returning()))

    async def _judged(self, prompt: str, model: str) -> str:
        return await self.staff.judged(prompt, model)

    def _find_skill(self, name: str) -> Skill | None:
        return self.extensions.invoking.find(name)

    def _attach(self, kind: str, text: str) -> None:
        self.parts.attach(kind, text)

    def _chore(self, kind: str, title: str) -> Chore:
        return Chore(self.setup.places.tasks, f"{kind}-{self.ground.session[:8]}", kind, title, self.setup.now)

    def _read_notes(self) -> NotesFile:
        return read_notes_file(self.ground.beside.notes, self.setup.places)

    def _at_boundary(self) -> tuple[JoinedAttachment, ...]:
        return (*self.recalling.late(), *self.extensions.at_boundary(), *self.staff.at_boundary())

    def _after_turn(self, ending: Ending) -> None:
        self.extracting.after_turn(ending)
        self.sleeping.after_turn(ending)
        self.sweeping.after_turn()

    def _take(self, registry: Registry) -> None:
        self.loop.parts.calls.tools = registry

    def _retune(self, name: str, effort: str) -> Callable[[], None]:
        return _retuned(self.setup, self.loop, self.ground.booked(name) if name else self.loop.parts.model, effort)


def _retuned(setup: SessionOptions, loop: Loop, model: Model, effort: str) -> Callable[[], None]:
    """Let another model answer for a while. Raises `UserMistake` when the conversation is too long for it."""
    parts = loop.parts
    if model.name == parts.model.name:
        return loop.retuned(parts.model, effort or parts.preparer.effort, parts.preparer.facts, parts.preparer.budget)
    budget = budget_by(setup.settings, model.name, window=setup.window_tokens, overrides=setup.overrides)
    if budget.using(loop.status.used_tokens).must_compact:
        raise UserMistake(f"the conversation is too long for {model.name}; {parts.model.name} goes on")
    return loop.retuned(model, effort, profile(model.name, setup.overrides), budget)
