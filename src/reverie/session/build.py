"""`build_session`: every part of a session, built in order from `SessionOptions` and an open transcript.

The conversation and its model come first (`_Core`), then what the model works with (`_Workspace`), the loop, what
people bring, and what runs beside turns. A part takes those above it. Where two need each other, the upper one gets a
function that names the lower one, or is handed it at the end. How the parts begin, work for the loop and end is in
`parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path

from reverie.context.compaction import Compactor
from reverie.context.conversation import Conversation
from reverie.context.preparer import Preparer
from reverie.context.session_notes import read_notes_file
from reverie.errors import Error, UserMistake
from reverie.extensions.hooks import HookContext, Hooks, parse_hooks
from reverie.extensions.plugins.installed import Plugins
from reverie.extensions.skills import Skill
from reverie.files import read_small
from reverie.files.places import ProjectFolder, SessionFolder, find_checkout
from reverie.files.trust import TrustPart, read_trust
from reverie.memory.extraction.schedule import ExtractionGates
from reverie.memory.memory import Memory
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import Entry, Envelope, OtherEntry, envelope_of
from reverie.messages.message import Usage
from reverie.messages.transcript import Transcript
from reverie.models.ledger import Booked, Booking, Governor, append_booking, read_bookings
from reverie.models.offline import OFFLINE
from reverie.models.ports import Model
from reverie.models.profiles import cost, profile
from reverie.models.tokens.window import budget_by, narrower_budget
from reverie.permissions.policy import Policy, build_policy
from reverie.permissions.rule import RuleKind
from reverie.permissions.rules_file import RuleScope
from reverie.permissions.shell.read_only import is_read_only
from reverie.session.background_work import Chore
from reverie.session.compaction import CompactionHooks
from reverie.session.disk_changes import DiskChanges
from reverie.session.dream import SessionDream
from reverie.session.events import Notice, TurnEvent
from reverie.session.extensions import Extensions, build_extensions, build_hook_effects, new_connections, read_plugins
from reverie.session.extraction import SessionExtraction
from reverie.session.file_history import FileHistory
from reverie.session.lifecycle_hooks import IdleHooks, LifecycleHooks
from reverie.session.loop import JoinedAttachment, Loop, LoopHost, Parts
from reverie.session.memory_writes import MemoryWrites, watch_tools
from reverie.session.notes import NotesWriter
from reverie.session.opening_prompt import OpeningPrompt
from reverie.session.options import SessionOptions, environment_for_others, keys_of
from reverie.session.parts import SessionParts
from reverie.session.project_trust import keep_rule
from reverie.session.recall import SessionRecall
from reverie.session.retention import RetentionSweep
from reverie.session.subagents.fork import ForkModel
from reverie.session.subagents.subagents import Subagents, build_subagents
from reverie.session.team_memory import TeamMemory
from reverie.session.tool_calls import Permits, ToolCalls
from reverie.session.web_search import build_search
from reverie.settings.features import Features, features
from reverie.tools.desk import Desk
from reverie.tools.registry import Registry
from reverie.tools.seen_files import SeenFiles
from reverie.tools.shells import Shells
from reverie.tools.standard import standard_tools
from reverie.values import value


@value
class _Core:
    """The conversation on disk, the model that answers and what it costs, what of the conversation is sent."""

    options: SessionOptions
    enabled: Features
    emit: Callable[[TurnEvent], None]
    transcript: Transcript
    folder: ProjectFolder
    session_folder: SessionFolder
    log: Conversation
    governor: Governor
    make_model: Callable[[str], Model]
    model: Model
    preparer: Preparer


@value
class _Workspace:
    """Memory, the desk with the session's own tools, what may be done unasked, and the hooks that watch it."""

    memory: Memory
    files: FileHistory
    writes: MemoryWrites
    desk: Desk
    shells: Shells
    tools: Registry
    permits: Permits
    plan_file: Path
    plugins: Plugins
    hook_facts: Callable[[], JsonObject]
    hooks: Hooks


def build_session(
    options: SessionOptions, transcript: Transcript, *, emit: Callable[[TurnEvent], None]
) -> SessionParts:
    """Build the parts of a session; nothing runs before `SessionParts.begin`."""
    branch = _read_git_branch(options)

    def stamp(envelope: Envelope) -> Envelope:
        return replace(envelope, cwd=str(workspace.desk.directory), git_branch=branch, version=options.version)

    core = _build_core(options, transcript, stamp, emit)
    workspace = _build_workspace(core)
    loop = _build_loop(core, workspace)
    subagents, extensions, opening_prompt = _build_extensions(core, workspace, loop)
    recall, notes_writer, session_extraction, session_dream = _build_background(core, workspace, loop)
    hooks = workspace.hooks
    disk_changes = DiskChanges(options, hooks, workspace.desk, emit)
    parts = SessionParts(
        options=options,
        log=core.log,
        loop=loop,
        memory=workspace.memory,
        hooks=hooks,
        desk=workspace.desk,
        permits=workspace.permits,
        opening_prompt=opening_prompt,
        session_recall=recall,
        notes_writer=notes_writer,
        session_extraction=session_extraction,
        session_dream=session_dream,
        retention_sweep=RetentionSweep(options, core.folder, workspace.memory, emit),
        governor=core.governor,
        shells=workspace.shells,
        emit=emit,
        extensions=extensions,
        subagents=subagents,
        lifecycle_hooks=LifecycleHooks(options, hooks, loop, extensions, disk_changes, emit),
        disk_changes=disk_changes,
        idle_hooks=IdleHooks(hooks, options.is_interactive),
        files=workspace.files,
        team_memory=TeamMemory(options, workspace.memory, emit),
    )

    # What the upper parts were still missing.
    hooks.effects = build_hook_effects(options, extensions=extensions, model=core.make_model, agent=subagents.ask_judge)
    loop.parts.calls.tools = extensions.mcp_tools.registry()
    loop.parts.answer_offline = recall.answer_offline
    loop.parts.compactor.host = loop.parts.host = parts
    return parts


def _build_core(
    options: SessionOptions,
    transcript: Transcript,
    stamp: Callable[[Envelope], Envelope],
    emit: Callable[[TurnEvent], None],
) -> _Core:
    settings = options.settings
    enabled = features(settings, interactive=options.is_interactive)
    folder = options.places.project(options.directory)
    session_folder = folder.session(transcript.session)
    log = Conversation(
        session=transcript.session,
        now=options.now,
        new_id=options.new_id,
        entries=transcript.entries,
        write=partial(_write_entries, transcript),
        flush=transcript.flush,
        stamp=stamp,
    )
    governor = Governor(settings.budget, options.now)
    _note_earlier_calls(governor, options, transcript)
    make_model = _build_model_factory(options, log.session, governor, emit)
    model = make_model(options.model)
    preparer = Preparer(
        model=model.name,
        facts=profile(options.model, options.overrides),
        budget=budget_by(settings, options.model, window=options.window_tokens, overrides=options.overrides),
        settings=settings,
        now=options.now,
        spill_path=session_folder.spill,
        narrower=narrower_budget(settings, options.model, window=options.window_tokens, overrides=options.overrides),
        overrides=options.overrides,
    )
    return _Core(
        options=options,
        enabled=enabled,
        emit=emit,
        transcript=transcript,
        folder=folder,
        session_folder=session_folder,
        log=log,
        governor=governor,
        make_model=make_model,
        model=model,
        preparer=preparer,
    )


def _build_workspace(core: _Core) -> _Workspace:
    options, settings, log, preparer = core.options, core.options.settings, core.log, core.preparer
    beside = core.session_folder.directory
    env_file, plan_file = beside / "hook-env.sh", beside / "plan.md"
    memory = Memory.at(options.places, settings, options.directory, now=options.now)
    has_memory = memory.off is None
    files = FileHistory(log, lambda session: core.folder.session(session).file_history, options.now)
    writes = MemoryWrites(memory, log, files)
    desk = Desk(
        directory=options.directory,
        project=options.project,
        scratch=beside / "scratch",
        spill_path=core.session_folder.spill,
        settings=settings,
        now=options.now,
        environment=environment_for_others(options),
        keys=keys_of(options),
        additional=_additional_directories(options),
        seen=SeenFiles(settings.tools.read_cache_files),
        changing=files.note,
    )
    if has_memory:
        desk.memories = writes
    shells = Shells(env_file=env_file)
    own_tools = standard_tools(
        settings,
        shells,
        is_read_only=is_read_only,
        ripgrep=options.ripgrep,
        memory=memory if has_memory else None,
        session=log.session,
        memory_store=memory.store if has_memory and settings.tools.provider_memory else None,
        read_span=partial(preparer.read_span, log),
        search=build_search(core.model) if settings.tools.web_search and preparer.facts.abilities.web_search else None,
    )
    tools = Registry(watch_tools(own_tools, writes, core.emit))
    own_folders = (desk.scratch, core.session_folder.spills, memory.directory)
    policy = _build_policy(options, plan_file, own_folders=own_folders)
    if has_memory:
        # What is written there goes through the store, which checks it and lets everything be undone.
        policy = policy.with_rule(f"Edit(/{memory.directory}/**)", source="its memory")
    permits = Permits(policy, partial(_keep_rule, options, core.emit))
    plugins = read_plugins(options)
    hook_facts = partial(_hook_facts, core, desk, permits)
    hooks = Hooks(
        parse_hooks(settings.hooks, plugins.plugins) if core.enabled.hooks else (),
        limits=settings.hook,
        context=HookContext(options.project, environment_for_others(options), env_file=env_file),
        facts=hook_facts,
        trust=read_trust(options.places.trust, options.project),
        spills=core.session_folder.spills,
    )
    return _Workspace(
        memory=memory,
        files=files,
        writes=writes,
        desk=desk,
        shells=shells,
        tools=tools,
        permits=permits,
        plan_file=plan_file,
        plugins=plugins,
        hook_facts=hook_facts,
        hooks=hooks,
    )


def _build_loop(core: _Core, workspace: _Workspace) -> Loop:
    """The loop; all tools and what the session offers it are set at the end, as is what hooks may do."""
    options, settings, log, preparer, emit = core.options, core.options.settings, core.log, core.preparer, core.emit
    hooks = workspace.hooks
    return Loop(
        Parts(
            log=log,
            preparer=preparer,
            model=core.model,
            calls=ToolCalls(workspace.tools, workspace.desk, workspace.permits, options.approver, hooks, emit),
            compactor=Compactor(log, preparer, LoopHost(), CompactionHooks(hooks, emit)),
            hooks=hooks,
            governor=core.governor,
            settings=settings,
            now=options.now,
            emit=emit,
            host=LoopHost(),
            fallbacks=tuple(partial(core.make_model, name) for name in settings.model.fallback),
            max_rounds=options.max_rounds,
            max_output_tokens=options.max_output_tokens,
        )
    )


def _build_extensions(core: _Core, workspace: _Workspace, loop: Loop) -> tuple[Subagents, Extensions, OpeningPrompt]:
    """Child agents, what people bring, and what the model is told: these three know one another."""
    options, log, emit = core.options, core.log, core.emit
    hooks, plugins, calls = workspace.hooks, workspace.plugins, loop.parts.calls

    def find_skill(name: str) -> Skill | None:
        return extensions.skill_invoker.find(name)

    def read_instructions() -> Sequence[JoinedAttachment]:
        return opening_prompt.for_agents()

    def list_waiting() -> Sequence[TrustPart]:
        return (*subagents.waiting, *opening_prompt.waiting)

    connect = partial(new_connections, options, core.session_folder.directory, emit)
    connections = connect()
    subagents = build_subagents(
        options,
        log=log,
        folder=core.folder,
        hooks=hooks,
        facts=workspace.hook_facts,
        governor=core.governor,
        emit=emit,
        make_model=core.make_model,
        main=loop,
        find_skill=find_skill,
        servers=connections,
        connections=connect,
        instructions=read_instructions,
        plugins=plugins.plugins,
    )
    extensions = build_extensions(
        options,
        plugins,
        log=log,
        hooks=hooks,
        own=workspace.tools.with_tools(subagents.tools),
        calls=calls,
        connections=connections,
        start_agent=subagents.start_agent,
        retune=partial(_retune, options, loop, core.make_model),
        further=list_waiting,
        emit=emit,
    )
    opening_prompt = OpeningPrompt(
        options=options,
        log=log,
        memory=workspace.memory,
        desk=workspace.desk,
        permits=workspace.permits,
        hooks=hooks,
        calls=calls,
        extensions=extensions,
        plan_file=workspace.plan_file,
        transcripts=core.folder.directory,
        emit=emit,
    )
    return subagents, extensions, opening_prompt


def _build_background(
    core: _Core, workspace: _Workspace, loop: Loop
) -> tuple[SessionRecall, NotesWriter, SessionExtraction, SessionDream]:
    """What runs beside turns and after them."""
    options, settings, log, memory = core.options, core.options.settings, core.log, workspace.memory
    selector = settings.model.background
    memory_model = settings.model.memory if options.model == OFFLINE else None
    open_memory_model = partial(_open_memory_model, core, memory_model) if memory_model else None
    recall = SessionRecall(
        memory,
        log,
        workspace.desk,
        loop,
        is_on=core.enabled.recall,
        model=core.make_model(selector) if selector else None,
    )
    notes_writer = NotesWriter(
        log=log,
        preparer=core.preparer,
        settings=settings,
        governor=core.governor,
        loop=loop,
        file=partial(read_notes_file, core.session_folder.notes, options.places),
        chore=_build_chore(options, log.session, "notes", f"notes on the session {log.session}"),
        is_on=core.enabled.notes,
        waits_for_need=not options.is_interactive,
    )
    session_extraction = SessionExtraction(
        loop=loop,
        log=log,
        memory=memory,
        writes=workspace.writes,
        settings=settings,
        governor=core.governor,
        now=options.now,
        emit=core.emit,
        gates=ExtractionGates(
            is_on=core.enabled.extraction, memory_on=memory.off is None, is_remote=settings.remote.mode
        ),
        model_name=options.model,
        chore=_build_chore(options, log.session, "extraction", f"what the session {log.session} taught"),
        open_memory_model=open_memory_model,
    )
    session_dream = SessionDream(
        memory=memory,
        loop=loop,
        governor=core.governor,
        settings=settings,
        session=log.session,
        model_name=options.model,
        is_interactive=options.is_interactive,
        is_on=core.enabled.dream,
        emit=core.emit,
        open_memory_model=open_memory_model,
    )
    return recall, notes_writer, session_extraction, session_dream


def _open_memory_model(core: _Core, name: str) -> ForkModel:
    """The model for memory work of a session that has none of its own; raises `UserMistake` where there is none."""
    options, model = core.options, core.make_model(name)
    budget = budget_by(options.settings, model.name, overrides=options.overrides)
    return ForkModel(model, profile(model.name, options.overrides), budget)


def _hook_facts(core: _Core, desk: Desk, permits: Permits) -> JsonObject:
    """The fields that every hook is told."""
    facts: JsonObject = {
        "session_id": core.log.session,
        "transcript_path": str(core.transcript.path),
        "cwd": str(desk.directory),
        "permission_mode": str(permits.policy.mode),
    }
    return {**facts, "effort": {"level": core.preparer.effort}} if core.preparer.effort else facts


def _write_entries(transcript: Transcript, entries: Sequence[Entry]) -> None:
    """Append entries; what files held outlives a power failure at once, words after the loop's next `flush`."""
    if entries:
        transcript.append(*entries, durable=any(isinstance(entry, OtherEntry) for entry in entries))


def _read_git_branch(options: SessionOptions) -> str:
    """The branch, as git's own file says it."""
    checkout = find_checkout(options.directory)
    if checkout is None:
        return ""
    head = read_small(checkout.top / ".git" / "HEAD") or b""
    return head.decode("utf-8", "replace").strip().removeprefix("ref: refs/heads/")


def _note_earlier_calls(governor: Governor, options: SessionOptions, transcript: Transcript) -> None:
    """Count what a resumed session has cost before: its limit and its figures count from its beginning."""
    envelopes = (envelope_of(entry) for entry in transcript.entries)
    began = next((envelope.timestamp for envelope in envelopes if envelope is not None), "")
    if not began:
        return
    with suppress(OSError, ValueError):
        since = datetime.fromisoformat(began)
        for booking in read_bookings(options.places.ledger, since=since if since.tzinfo else since.astimezone()):
            if booking.session == transcript.session:
                governor.note(booking)


def _build_model_factory(
    options: SessionOptions, session: str, governor: Governor, emit: Callable[[TurnEvent], None]
) -> Callable[[str], Model]:
    """A maker of models whose every call is priced and written down."""
    agent = f"{options.agent_name}@{options.team}" if options.agent_name else ""
    find_profile = cache(partial(profile, overrides=options.overrides))

    def book(
        purpose: str, model: str, usage: Usage, *, is_estimate: bool = False, cost_usd: float | None = None
    ) -> None:
        price = cost(usage, find_profile(model)) if cost_usd is None else cost_usd
        project = str(options.project)
        booking = Booking(options.now(), session, project, purpose, model, usage, price, agent, is_estimate)
        governor.note(booking)
        try:
            append_booking(options.places.ledger, booking)
        except Error as problem:
            emit(Notice(f"the cost of a call could not be recorded: {problem}", "warning"))

    def make_model(name: str) -> Model:
        return Booked(options.make_model(name), book)

    return make_model


def _additional_directories(options: SessionOptions) -> tuple[Path, ...]:
    """Further folders that tools may enter, as the settings name them."""
    names = options.settings.permissions.additional_directories
    paths = (options.user_home / name[1:].lstrip("/") if name.startswith("~") else Path(name) for name in names)
    return tuple((options.project / path).resolve() for path in paths)


def _build_policy(options: SessionOptions, plan_file: Path, *, own_folders: tuple[Path, ...]) -> Policy:
    """What may be done unasked: settings first, then what the command line says."""
    policy = build_policy(
        options.settings,
        project=options.project,
        home=options.user_home,
        additional=own_folders,
        origins=options.origins,
        plan_file=plan_file,
        steering=(options.places.home, options.places.config_home),
    )
    for rule in options.allowed_tools:
        policy = policy.with_rule(rule)
    for rule in options.disallowed_tools:
        policy = policy.with_rule(rule, RuleKind.DENY)
    return policy.with_mode(options.mode) if options.mode else policy


def _keep_rule(options: SessionOptions, emit: Callable[[TurnEvent], None], rule: str, scope: str) -> None:
    """Write down a rule that the user granted for longer than this session."""
    try:
        keep_rule(rule, RuleScope(scope), options)
    except Error as problem:
        emit(Notice(f"the rule applies to this session only: {problem}", "warning"))


def _build_chore(options: SessionOptions, session: str, kind: str, title: str) -> Chore:
    return Chore(options.places.tasks, f"{kind}-{session[:8]}", kind, title, options.now)


def _retune(
    options: SessionOptions, loop: Loop, make_model: Callable[[str], Model], name: str, effort: str
) -> Callable[[], None]:
    """Let another model or effort answer for a while; returns what goes back.

    Raises `UserMistake` when the conversation is too long for the model.
    """
    parts = loop.parts
    model = make_model(name) if name else parts.model
    if model.name == parts.model.name:
        return loop.retune(parts.model, effort or parts.preparer.effort, parts.preparer.facts, parts.preparer.budget)
    budget = budget_by(options.settings, model.name, window=options.window_tokens, overrides=options.overrides)
    if budget.using(loop.status.used_tokens).must_compact:
        raise UserMistake(f"the conversation is too long for {model.name}; continuing with {parts.model.name}")
    return loop.retune(model, effort, profile(model.name, options.overrides), budget)
