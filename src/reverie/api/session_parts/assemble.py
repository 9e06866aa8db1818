"""How a session is put together from a `Setup` and an open transcript. Reads like a list of ingredients.

What the parts then do for one another, and in which order they begin and end, is told in `parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from reverie.agent.chores import Chore
from reverie.agent.compacting import Compactor
from reverie.agent.events import Ending, Notice, TurnEvent
from reverie.agent.file_history import FileHistory
from reverie.agent.ledger import Booked, Booking, Governor, append_booking
from reverie.agent.log import Log
from reverie.agent.loop import Loop, Parts
from reverie.agent.preparing import Preparer
from reverie.agent.tool_calls import Permits, ToolCalls
from reverie.api.memory import Memory
from reverie.api.own_keys import environment_for_others, keys_of
from reverie.api.session_parts.announcing import Announcing
from reverie.api.session_parts.briefing import Briefing
from reverie.api.session_parts.disk_changes import DiskChanges
from reverie.api.session_parts.extensions import extensions, hook_effects, new_connections, read_plugins
from reverie.api.session_parts.extracting import Extracting
from reverie.api.session_parts.going_back import noted
from reverie.api.session_parts.idling import Idling
from reverie.api.session_parts.noting import Noting
from reverie.api.session_parts.parts import SessionParts
from reverie.api.session_parts.recalling import Recalling
from reverie.api.session_parts.rule_keeping import keep_rule
from reverie.api.session_parts.sleeping import Sleeping
from reverie.api.session_setup import Setup
from reverie.api.staff.staff import staffed
from reverie.context.session_notes import read_notes_file
from reverie.context.spans import Span, read_span
from reverie.context.strategies import strategy
from reverie.errors import Error, UserMistake
from reverie.files import read_small
from reverie.hooks import Hooks, declared_hooks
from reverie.hooks import Surroundings as HookSurroundings
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import AssistantEntry, Entry, Envelope, OtherEntry, UserEntry
from reverie.messages.message import Usage
from reverie.messages.transcript import Transcript
from reverie.permissions.policy import Policy, policy_from
from reverie.permissions.rule import Kind as RuleKind
from reverie.permissions.rules_file import RuleScope
from reverie.permissions.shell.read_only import is_read_only
from reverie.places import find_checkout
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

    booked = _booked(setup, session, governor, emit)
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
    files = FileHistory(log, lambda of: folder.session(of).file_history, setup.now)
    desk = Desk(
        directory=setup.directory,
        project=setup.project,
        scratch=beside.directory / "scratch",
        settings=settings,
        now=setup.now,
        environment=environment_for_others(setup),
        keys=keys_of(setup),
        additional=_additional(setup),
        seen=SeenFiles(settings.tools.read_cache_files),
        changing=files.note,
    )

    env_file = beside.directory / "hook-env.sh"
    shells = Shells(env_file=env_file)
    standard = standard_tools(
        settings,
        shells,
        is_read_only=is_read_only,
        ripgrep=setup.ripgrep,
        memory=memory if memory.off is None else None,
        memory_store=memory.store if memory.off is None and settings.tools.provider_memory else None,
        read_span=_rereading(log, preparer),
        session=session,
    )
    tools = Registry(noted(standard, files, memory.directory))
    plan_file = beside.directory / "plan.md"
    policy = _policy(setup, plan_file, own_folders=(desk.scratch, beside.spills, memory.directory))

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
        around=HookSurroundings(setup.project, environment_for_others(setup), env_file=env_file),
        facts=facts_for_hooks,
        trust=trust,
        spills=beside.spills,
        effects=hook_effects(
            setup,
            extended=lambda: extended,
            model=booked,
            policy=lambda: permits.policy,
            agent=lambda prompt, name: staff.judged(prompt, name),  # noqa: PLW0108 - made below
        ),
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
        servers=lambda: extended.serving.connections,
        connections=lambda: new_connections(setup, beside.directory, emit),
        plugins=plugins.plugins,
        trust=lambda: trust,
    )

    def take(registry: Registry) -> None:
        loop.parts.calls.tools = registry

    def retune(name: str, effort: str) -> Callable[[], None]:
        return _retuned(setup, loop, booked(name) if name else loop.parts.model, effort)

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
        employ=staff.employ,
        retune=retune,
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
        chore=Chore(places.tasks, f"notes-{session[:8]}", "notes", f"notes on the session {session}", setup.now),
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
        chore=Chore(
            places.tasks, f"extraction-{session[:8]}", "extraction", f"what the session {session} taught", setup.now
        ),
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
            background=lambda: (*staff.lines, *parts.background),
            max_rounds=setup.max_rounds,
            max_output_tokens=setup.max_output_tokens,
        )
    )
    disk_changes = DiskChanges(setup, hooks, desk, emit)
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
        announcing=Announcing(setup, hooks, loop, extended, disk_changes, emit),
        disk_changes=disk_changes,
        idling=Idling(hooks, setup.is_interactive),
        files=files,
    )
    return parts


def _booked(
    setup: Setup, session: str, governor: Governor, emit: Callable[[TurnEvent], None]
) -> Callable[[str], Model]:
    """A maker of models whose every call is priced and written down."""
    agent = f"{setup.agent_name}@{setup.team}" if setup.agent_name else ""

    def book(purpose: str, model: str, usage: Usage) -> None:
        price = cost(usage, profile(model, setup.overrides))
        booking = Booking(setup.now(), session, str(setup.project), purpose, model, usage, price, agent)
        governor.note(booking)
        try:
            append_booking(setup.places.ledger, booking)
        except Error as problem:
            emit(Notice(f"a call could not be booked: {problem}", "warning"))

    return lambda name: Booked(setup.make_model(name), book)


def _retuned(setup: Setup, loop: Loop, model: Model, effort: str) -> Callable[[], None]:
    """Let another model answer for a while. Raises `UserMistake` when the conversation is too long for it."""
    parts = loop.parts
    if model.name == parts.model.name:
        return loop.retuned(parts.model, effort or parts.preparer.effort, parts.preparer.facts, parts.preparer.budget)
    budget = budget_by(setup.settings, model.name, overrides=setup.overrides)
    if budget.using(loop.status.used_tokens).must_compact:
        raise UserMistake(f"the conversation is too long for {model.name}; {parts.model.name} goes on")
    return loop.retuned(model, effort, profile(model.name, setup.overrides), budget)


def _rereading(log: Log, preparer: Preparer) -> Callable[..., Span]:
    """How the model reads again what a compaction left out."""
    return lambda **place: read_span(log.entries, weigh=preparer.scene(log).weigh_text, **place)


def _policy(setup: Setup, plan_file: Path, *, own_folders: tuple[Path, ...]) -> Policy:
    """What may be done unasked: settings first, then what the command line says."""
    policy = policy_from(
        setup.settings,
        project=setup.project,
        home=setup.user_home,
        additional=own_folders,
        origins=setup.origins,
        plan_file=plan_file,
    )
    for rule in setup.allowed_tools:
        policy = policy.with_rule(rule)
    for rule in setup.disallowed_tools:
        policy = policy.with_rule(rule, RuleKind.DENY)
    return policy.with_mode(setup.mode) if setup.mode else policy


def _additional(setup: Setup) -> tuple[Path, ...]:
    """Further folders that tools may enter, as the settings name them."""
    named = setup.settings.permissions.additional_directories
    homes = (setup.user_home / text[1:].lstrip("/") if text.startswith("~") else Path(text) for text in named)
    return tuple((setup.project / path).resolve() for path in homes)


def _is_said(entries: Sequence[Entry]) -> bool:
    """Whether somebody's words or what files held are among the entries: those outlive a power failure."""
    return any(
        isinstance(one, AssistantEntry | OtherEntry) or (isinstance(one, UserEntry) and one.source != "system")
        for one in entries
    )


def _common_facts(session: str, transcript: Path, desk: Desk, permits: Permits) -> JsonObject:
    """The fields that every hook is told (spec 8 §1.8)."""
    return {
        "session_id": session,
        "transcript_path": str(transcript),
        "cwd": str(desk.directory),
        "permission_mode": str(permits.policy.mode),
    }


def _git_branch(setup: Setup) -> str:
    """The branch, as git's own file says it."""
    checkout = find_checkout(setup.directory)
    if checkout is None:
        return ""
    head = read_small(checkout.top / ".git" / "HEAD") or b""
    return head.decode("utf-8", "replace").strip().removeprefix("ref: refs/heads/")
