"""How a session is put together, and what its parts do for one another. Reads like a list of ingredients.

`assembled` makes everything from a `Setup` and an open transcript. `SessionParts` holds it and knows the order in which
things begin and end; the loop itself knows none of this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from reverie.agent.compacting import Compactor
from reverie.agent.events import Ending, Notice, TurnEvent
from reverie.agent.ledger import Booked, Booking, Governor, append_booking, by, total
from reverie.agent.log import Log
from reverie.agent.loop import Joined, Loop, Parts
from reverie.agent.preparing import Preparer
from reverie.agent.tool_calls import Permits, ToolCalls, interrupted
from reverie.api.briefing import Briefing
from reverie.api.disk_changes import DiskChanges
from reverie.api.extensions import Extensions, extensions, hook_effects, keys_of, read_plugins
from reverie.api.extracting import Extracting
from reverie.api.idling import Idling
from reverie.api.memory import Memory
from reverie.api.noting import Noting
from reverie.api.recalling import Recalling
from reverie.api.rule_keeping import keep_rule
from reverie.api.session_setup import Setup
from reverie.api.sleeping import Sleeping
from reverie.api.staff import Staff, staffed
from reverie.context.session_notes import read_notes_file
from reverie.context.spans import Span, read_span
from reverie.context.strategies import strategy
from reverie.errors import Error
from reverie.files import read_small
from reverie.hooks import Hooks, declared_hooks
from reverie.hooks import Surroundings as HookSurroundings
from reverie.messages.blocks import JsonObject, ToolResult
from reverie.messages.entries import AssistantEntry, Entry, Envelope, UserEntry
from reverie.messages.message import Usage, user
from reverie.messages.transcript import Transcript
from reverie.permissions.policy import Policy, policy_from
from reverie.permissions.rule import Kind as RuleKind
from reverie.permissions.rules_file import RuleScope
from reverie.permissions.shell.read_only import is_read_only
from reverie.places import ProjectFolder, find_checkout
from reverie.ports import Model
from reverie.settings.features import features
from reverie.tokens.profiles import cost, profile
from reverie.tokens.window import budget_by
from reverie.tools.desk import Desk
from reverie.tools.registry import Registry
from reverie.tools.seen_files import SeenFiles
from reverie.tools.shells import Shells
from reverie.tools.standard import standard_tools
from reverie.trust import read_trust


@dataclass(slots=True)
class SessionParts:
    """Everything that a session consists of."""

    setup: Setup
    log: Log
    loop: Loop
    memory: Memory
    hooks: Hooks
    desk: Desk
    permits: Permits
    briefing: Briefing
    noting: Noting
    extracting: Extracting
    sleeping: Sleeping
    governor: Governor
    folder: ProjectFolder
    shells: Shells
    emit: Callable[[TurnEvent], None]
    extensions: Extensions
    staff: Staff
    disk_changes: DiskChanges
    idling: Idling

    @property
    def tools(self) -> Registry:
        """The tools that may be called now; those of servers join behind the others."""
        return self.loop.parts.calls.tools

    async def begin(self, source: str) -> None:
        """Before the first turn: what was interrupted is closed, hooks hear that the session starts."""
        self.disk_changes.begin()
        self.extensions.begin()
        await self.staff.begin()
        await self.briefing.prepare()
        self._close_open_calls()
        self.loop.open()
        if len(self.log.entries) > 2:
            self.loop.measure()
        for problem in (*self.hooks.problems, *self.briefing.warnings):
            self.emit(Notice(problem, "warning"))
        said = await self.hooks.fire("SessionStart", {"source": source, "model": self.setup.model}, subject=source)
        for message in said.messages:
            self.emit(Notice(message, "warning"))
        for text in said.context:
            self.attach("hook_additional_context", text)
        await self.briefing.announce_loaded()

    def attach(self, kind: str, text: str) -> None:
        """Add words for the model that nobody typed."""
        self.loop.join([Joined(kind, f"<system-reminder>\n{text}\n</system-reminder>")])

    def set_mode(self, mode: str) -> None:
        """Change the permission mode."""
        self.permits.policy = self.permits.policy.with_mode(mode)

    def forget(self) -> None:
        """Nothing was read or said any more."""
        self.desk.seen.forget()
        self.briefing.forget()
        self.extensions.forget()

    def describe(self, subject: str) -> tuple[tuple[str, str], ...] | None:
        """Rows of a name and a sentence on a part of the session."""
        match subject:
            case "permissions":
                return _rules(self.permits.policy)
            case "hooks":
                return tuple((f"{hook.event} {hook.matcher or '*'}", str(hook.handler)) for hook in self.hooks.hooks)
            case "mcp":
                return self.extensions.serving.connections.rows
            case "skills":
                return tuple((name, about) for name, about, _ in self.extensions.commands)
            case "plugins":
                return tuple((one.name, one.description or str(one.root)) for one in self.extensions.plugins.plugins)
            case "trust":
                return tuple((part.kind, f"{part.place}: {part.text}") for part in self.extensions.waiting_for_trust)
            case "cost":
                return _costs(self.governor)
            case "agents":
                return self.staff.roles
            case "tasks":
                others = _background(self.noting, self.extracting, self.sleeping, self.shells)
                return (*self.staff.rows, *((str(number), line) for number, line in enumerate(others, 1)))
            case _:
                return None

    async def close(self, reason: str, *, has_begun: bool) -> None:
        """End in order: background work within its time, then the hooks' last word, then files."""
        self.idling.end()
        await self.staff.close()
        try:
            await asyncio.wait_for(self.noting.settle(), self.setup.settings.extraction.drain_seconds)
        except TimeoutError:
            await self.noting.settle(cancel=True)
        if has_begun:
            await self.extracting.drain()
            await self.sleeping.settle()
            await self.hooks.fire("SessionEnd", {"reason": reason}, subject=reason)
        await self.hooks.close(grace_seconds=self.setup.settings.hook.session_end_timeout_seconds)
        await self.extensions.close()
        await self.shells.close()
        self.memory.close()

    def _close_open_calls(self) -> None:
        """A session that was killed in the middle of a call goes on with an answer to it."""
        items = self.log.view.items
        answered = {result.tool_use_id for item in items for result in item.message.tool_results}
        waiting = [call for item in items for call in item.message.tool_uses if call.id not in answered]
        entries: list[Entry] = []
        for call in waiting:
            result = ToolResult(call.id, str(interrupted(call).answer.content), is_error=True)
            entries.append(UserEntry(self.log.envelope(), user(result), source="system"))
        if entries:
            self.log.append(*entries)
            self.emit(
                Notice(f"{len(entries)} call(s) had no answer when this session stopped; they count as interrupted")
            )


def assembled(setup: Setup, transcript: Transcript, *, emit: Callable[[TurnEvent], None]) -> SessionParts:
    """Put a session together."""
    settings, places = setup.settings, setup.places
    folder = places.project(setup.directory)
    session = transcript.session
    beside = folder.session(session)
    branch = _git_branch(setup)

    def stamp(envelope: Envelope) -> Envelope:
        return replace(envelope, cwd=str(desk.directory), git_branch=branch, version=setup.version)

    log = Log(
        session=session,
        now=setup.now,
        new_id=setup.new_id,
        entries=transcript.entries,
        write=lambda entries: transcript.append(*entries, durable=_is_said(entries)) if entries else None,
        stamp=stamp,
    )
    governor = Governor(settings.budget, setup.now)
    facts = profile(setup.model, setup.overrides)

    def book(purpose: str, model: str, usage: Usage) -> None:
        price = cost(usage, profile(model, setup.overrides))
        booking = Booking(setup.now(), session, str(setup.project), purpose, model, usage, price)
        governor.note(booking)
        try:
            append_booking(places.ledger, booking)
        except Error as problem:
            emit(Notice(f"a call could not be booked: {problem}", "warning"))

    def booked(name: str) -> Model:
        return Booked(setup.make_model(name), book)

    model = booked(setup.model)
    preparer = Preparer(
        model=model.name,
        facts=facts,
        budget=budget_by(settings, setup.model, window=setup.window_tokens, overrides=setup.overrides),
        settings=settings,
        strategy=strategy("default"),
        now=setup.now,
        spill_path=beside.spill,
    )
    memory = Memory.at(places, settings, setup.directory, now=setup.now)
    desk = Desk(
        directory=setup.directory,
        project=setup.project,
        scratch=beside.directory / "scratch",
        settings=settings,
        now=setup.now,
        environment=setup.environment,
        keys=keys_of(setup),
        additional=_additional(setup),
        seen=SeenFiles(settings.tools.read_cache_files),
    )

    def reread(
        *,
        first: str | None = None,
        last: str | None = None,
        subject: str | None = None,
        limit_tokens: int = 4_000,
        offset_chars: int = 0,
    ) -> Span:
        weigh = preparer.scene(log).weigh_text
        return read_span(
            log.entries,
            weigh=weigh,
            first=first,
            last=last,
            subject=subject,
            limit_tokens=limit_tokens,
            offset_chars=offset_chars,
        )

    env_file = beside.directory / "hook-env.sh"
    shells = Shells(env_file=env_file)
    tools = Registry(
        standard_tools(
            settings,
            shells,
            is_read_only=is_read_only,
            ripgrep=setup.ripgrep,
            memory=memory if memory.off is None else None,
            memory_store=memory.store if memory.off is None and settings.tools.provider_memory else None,
            read_span=reread,
            session=session,
        )
    )
    plan_file = beside.directory / "plan.md"
    policy = policy_from(
        settings,
        project=setup.project,
        home=setup.user_home,
        additional=(desk.scratch, beside.spills, memory.directory),
        origins=setup.origins,
        plan_file=plan_file,
    )
    for rule in setup.allowed_tools:
        policy = policy.with_rule(rule)
    for rule in setup.disallowed_tools:
        policy = policy.with_rule(rule, RuleKind.DENY)
    if setup.mode:
        policy = policy.with_mode(setup.mode)

    def remember(rule: str, scope: str) -> None:
        try:
            keep_rule(rule, RuleScope(scope), setup)
        except Error as problem:
            emit(Notice(f"the rule holds for this session only: {problem}", "warning"))

    permits = Permits(policy, remember)

    def facts_for_hooks() -> JsonObject:
        return _common_facts(session, transcript.path, desk, permits)

    plugins = read_plugins(setup)
    on = features(settings, interactive=setup.is_interactive)
    trust = read_trust(places.trust, setup.project)
    hooks = Hooks(
        declared_hooks(settings.hooks, plugins.plugins) if on.hooks else (),
        limits=settings.hook,
        around=HookSurroundings(setup.project, setup.environment, env_file=env_file),
        facts=facts_for_hooks,
        trust=trust,
        spills=beside.spills,
        effects=hook_effects(setup, extended=lambda: extended, model=booked, policy=lambda: permits.policy),
    )

    staff = staffed(
        setup,
        log=log,
        folder=folder,
        hooks=hooks,
        facts=facts_for_hooks,
        governor=governor,
        emit=emit,
        make_model=booked,
        main=lambda: loop,
        find_skill=lambda name: extended.invoking.find(name),  # noqa: PLW0108 - made below
        plugins=plugins.plugins,
        trust=lambda: trust,
    )

    def take(registry: Registry) -> None:
        loop.parts.calls.tools = registry

    extended = extensions(
        setup,
        plugins,
        log=log,
        hooks=hooks,
        own=tools.with_tools(staff.tools),
        calls=lambda: loop.parts.calls,
        taken=take,
        beside=beside.directory,
        trust=trust,
        further=lambda: (*staff.waiting, *briefing.waiting),
        emit=emit,
    )
    staff.trust = lambda: extended.trust
    briefing = Briefing(
        setup=setup,
        log=log,
        memory=memory,
        desk=desk,
        permits=permits,
        hooks=hooks,
        tools=lambda: loop.parts.calls.tools,
        extensions=extended,
        plan_file=plan_file,
        transcripts=folder.directory,
    )
    compactor = Compactor(
        log=log,
        preparer=preparer,
        settings=settings,
        hooks=hooks,
        surroundings=briefing.surroundings,
        notes=lambda: read_notes_file(beside.notes, places) if on.notes_compaction else None,
        reopened=briefing.reopened,
        attach=lambda kind, text: parts.attach(kind, text),  # noqa: PLW0108 - the parts are made below
        emit=emit,
    )
    noting = Noting(
        log=log,
        preparer=preparer,
        settings=settings,
        governor=governor,
        model=lambda: booked(settings.model.background or setup.model),
        file=lambda: read_notes_file(beside.notes, places),
        is_on=on.notes,
        waits_for_need=not setup.is_interactive,
    )
    extracting = Extracting(
        loop=lambda: loop,
        log=log,
        memory=memory,
        settings=settings,
        governor=governor,
        now=setup.now,
        emit=emit,
        is_interactive=setup.is_interactive,
        model_name=setup.model,
    )
    sleeping = Sleeping(
        memory=memory,
        loop=lambda: loop,
        governor=governor,
        settings=settings,
        session=session,
        model_name=setup.model,
        is_interactive=setup.is_interactive,
        emit=emit,
    )
    recalling = Recalling(
        memory=memory,
        log=log,
        desk=desk,
        used_tokens=lambda: loop.status.used_tokens,
        now=setup.now,
        model=booked(settings.model.background) if settings.model.background else None,
    )

    def after_turn(ending: Ending) -> None:
        extracting.after_turn(ending)
        sleeping.after_turn(ending)

    loop = Loop(
        Parts(
            log=log,
            preparer=preparer,
            model=model,
            calls=ToolCalls(extended.serving.registry(), desk, permits, setup.approver, hooks, emit),
            compactor=compactor,
            hooks=hooks,
            governor=governor,
            settings=settings,
            now=setup.now,
            emit=emit,
            opening=briefing.opening,
            fallbacks=tuple(partial(booked, name) for name in settings.model.fallback),
            recall=recalling.start,
            touched=lambda done: (*briefing.touched(done), *extended.touched(done)),
            at_boundary=lambda: (*extended.at_boundary(), *staff.at_boundary()),
            expand=extended.expand,
            before_prompt=briefing.before_prompt,
            after_reply=noting.after_reply,
            after_turn=after_turn,
            background=lambda: (*staff.lines, *_background(noting, extracting, sleeping, shells)),
            max_rounds=setup.max_rounds,
            max_output_tokens=setup.max_output_tokens,
        )
    )
    parts = SessionParts(
        setup=setup,
        log=log,
        loop=loop,
        memory=memory,
        hooks=hooks,
        desk=desk,
        permits=permits,
        briefing=briefing,
        noting=noting,
        extracting=extracting,
        sleeping=sleeping,
        governor=governor,
        folder=folder,
        shells=shells,
        emit=emit,
        extensions=extended,
        staff=staff,
        disk_changes=DiskChanges(setup, hooks, lambda: desk.directory, emit),
        idling=Idling(hooks, setup.is_interactive),
    )
    return parts


def _additional(setup: Setup) -> tuple[Path, ...]:
    """Further folders that tools may enter, as the settings name them."""
    named = setup.settings.permissions.additional_directories
    homes = (setup.user_home / text[1:].lstrip("/") if text.startswith("~") else Path(text) for text in named)
    return tuple((setup.project / path).resolve() for path in homes)


def _is_said(entries: Sequence[Entry]) -> bool:
    """Whether somebody's words are among the entries: those outlive a power failure, bookkeeping need not."""
    return any(
        isinstance(one, AssistantEntry) or (isinstance(one, UserEntry) and one.source != "system") for one in entries
    )


def _common_facts(session: str, transcript: Path, desk: Desk, permits: Permits) -> JsonObject:
    """The fields that every hook is told (spec 8 §1.8)."""
    return {
        "session_id": session,
        "transcript_path": str(transcript),
        "cwd": str(desk.directory),
        "permission_mode": str(permits.policy.mode),
    }


def _background(noting: Noting, extracting: Extracting, sleeping: Sleeping, shells: Shells) -> tuple[str, ...]:
    running = {"notes": noting.is_running, "extraction": extracting.is_running, "dream": sleeping.is_dreaming}
    lines = [name for name, is_running in running.items() if is_running]
    lines += [f"{shell.id}: {shell.command}" for shell in shells.background if shell.is_running]
    return tuple(lines)


def _git_branch(setup: Setup) -> str:
    """The branch, as git's own file says it."""
    checkout = find_checkout(setup.directory)
    if checkout is None:
        return ""
    head = read_small(checkout.top / ".git" / "HEAD") or b""
    return head.decode("utf-8", "replace").strip().removeprefix("ref: refs/heads/")


def _rules(policy: Policy) -> tuple[tuple[str, str], ...]:
    rows = [("mode", str(policy.mode))]
    rows += [(kind.value, str(rule)) for kind in RuleKind for rule in policy.rules(kind)]
    rows += [("folder", str(root)) for root in policy.roots]
    return tuple(rows)


def _costs(governor: Governor) -> tuple[tuple[str, str], ...]:
    rows = []
    for line in [*by(governor.bookings, lambda one: one.purpose), total(governor.bookings)]:
        share = "" if line.cache_share is None else f", {line.cache_share:.0%} of the input from the cache"
        price = "price unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}"
        rows.append((line.key, f"{line.calls} call(s), {price}{share}"))
    refused = governor.refuses()
    return (*rows, *((("background work", refused),) if refused else ()))
