"""The ground of a session: what stands before any of its parts knows another.

The conversation on disk, the models that answer and what they cost, memory, the desk with its tools, and what may be
done unasked. Everything that refers to one another is put together by `assemble`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.context.preparer import Preparer
from reverie.context.strategies import strategy
from reverie.errors import Error
from reverie.files import read_small
from reverie.files.places import ProjectFolder, SessionFolder, find_checkout
from reverie.memory.memory import Memory
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import AssistantEntry, Entry, Envelope, OtherEntry, UserEntry, envelope_of
from reverie.messages.message import Usage
from reverie.messages.transcript import Transcript
from reverie.models.ledger import Booked, Booking, Governor, append_booking, read_bookings
from reverie.models.ports import Model
from reverie.models.profiles import cost, profile
from reverie.models.tokens.window import budget_by, narrower_budget
from reverie.permissions.policy import Policy, policy_from
from reverie.permissions.rule import RuleKind
from reverie.permissions.rules_file import RuleScope
from reverie.permissions.shell.read_only import is_read_only
from reverie.session.events import Notice, TurnEvent
from reverie.session.file_history import FileHistory
from reverie.session.granted_rules import keep_rule
from reverie.session.memory_writes import MemoryWrites, watched
from reverie.session.options import SessionOptions
from reverie.session.own_keys import environment_for_others, keys_of
from reverie.session.tool_calls import Permits
from reverie.session.web_search import searching
from reverie.tools.desk import Desk
from reverie.tools.registry import Registry
from reverie.tools.seen_files import SeenFiles
from reverie.tools.shells import Shells
from reverie.tools.standard import standard_tools
from reverie.values import value


@value
class Ground:
    """What the parts of a session stand on."""

    setup: SessionOptions
    session: str
    transcript: Path
    folder: ProjectFolder
    beside: SessionFolder
    """The files of this session besides its transcript."""
    log: Conversation
    governor: Governor
    booked: Callable[[str], Model]
    """A model by its name, whose every call is priced and written down."""
    model: Model
    """The one that answers."""
    preparer: Preparer
    memory: Memory
    writes: MemoryWrites
    files: FileHistory
    desk: Desk
    shells: Shells
    tools: Registry
    """The session's own, without those that reach agents, skills and servers."""
    permits: Permits
    emit: Callable[[TurnEvent], None]

    @property
    def env_file(self) -> Path:
        """Where hooks leave variables for later commands."""
        return _env_file(self.beside)

    @property
    def plan_file(self) -> Path:
        """Where the plan of plan mode lies."""
        return _plan_file(self.beside)

    def hook_facts(self) -> JsonObject:
        """The fields that every hook is told."""
        facts: JsonObject = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.desk.directory),
            "permission_mode": str(self.permits.policy.mode),
        }
        return {**facts, "effort": {"level": self.preparer.effort}} if self.preparer.effort else facts


def laid_ground(setup: SessionOptions, transcript: Transcript, emit: Callable[[TurnEvent], None]) -> Ground:
    """Lay the ground of a session."""
    settings, session = setup.settings, transcript.session
    folder = setup.places.project(setup.directory)
    beside = folder.session(session)
    branch = _git_branch(setup)

    def stamp(envelope: Envelope) -> Envelope:
        return replace(envelope, cwd=str(desk.directory), git_branch=branch, version=setup.version)

    log = Conversation(
        session=session,
        now=setup.now,
        new_id=setup.new_id,
        entries=transcript.entries,
        write=lambda entries: transcript.append(*entries, durable=_is_said(entries)) if entries else None,
        stamp=stamp,
    )
    governor = Governor(settings.budget, setup.now)
    _note_earlier_calls(governor, setup, transcript)
    booked = _booked(setup, session, governor, emit)
    model = booked(setup.model)
    preparer = Preparer(
        model=model.name,
        facts=profile(setup.model, setup.overrides),
        budget=budget_by(settings, setup.model, window=setup.window_tokens, overrides=setup.overrides),
        settings=settings,
        strategy=strategy("default"),
        now=setup.now,
        spill_path=beside.spill,
        narrower=narrower_budget(settings, setup.model, window=setup.window_tokens, overrides=setup.overrides),
        overrides=setup.overrides,
    )
    memory = Memory.at(setup.places, settings, setup.directory, now=setup.now)
    files = FileHistory(log, lambda of: folder.session(of).file_history, setup.now)
    desk = Desk(
        directory=setup.directory,
        project=setup.project,
        scratch=beside.directory / "scratch",
        spill_path=beside.spill,
        settings=settings,
        now=setup.now,
        environment=environment_for_others(setup),
        keys=keys_of(setup),
        additional=_additional(setup),
        seen=SeenFiles(settings.tools.read_cache_files),
        changing=files.note,
    )
    shells = Shells(env_file=_env_file(beside))
    standard = standard_tools(
        settings,
        shells,
        is_read_only=is_read_only,
        ripgrep=setup.ripgrep,
        memory=memory if memory.off is None else None,
        session=log.session,
        memory_store=memory.store if memory.off is None and settings.tools.provider_memory else None,
        read_span=partial(preparer.read_span, log),
        search=searching(model) if settings.tools.web_search and preparer.facts.abilities.web_search else None,
    )
    writes = MemoryWrites(memory, log, files)
    if memory.off is None:
        desk.memories = writes
    policy = _policy(setup, _plan_file(beside), own_folders=(desk.scratch, beside.spills, memory.directory))
    if memory.off is None:
        # What is written there goes through the store, which checks it and lets everything be undone.
        policy = policy.with_rule(f"Edit(/{memory.directory}/**)", source="its memory")

    def remember(rule: str, scope: str) -> None:
        try:
            keep_rule(rule, RuleScope(scope), setup)
        except Error as problem:
            emit(Notice(f"the rule holds for this session only: {problem}", "warning"))

    return Ground(
        setup=setup,
        session=session,
        transcript=transcript.path,
        folder=folder,
        beside=beside,
        log=log,
        governor=governor,
        booked=booked,
        model=model,
        preparer=preparer,
        memory=memory,
        writes=writes,
        files=files,
        desk=desk,
        shells=shells,
        tools=Registry(watched(standard, writes, emit)),
        permits=Permits(policy, remember),
        emit=emit,
    )


def _env_file(beside: SessionFolder) -> Path:
    return beside.directory / "hook-env.sh"


def _plan_file(beside: SessionFolder) -> Path:
    return beside.directory / "plan.md"


def _note_earlier_calls(governor: Governor, setup: SessionOptions, transcript: Transcript) -> None:
    """A session that goes on has cost what it cost before: its limit and its figures count from its beginning."""
    began = next((found.timestamp for entry in transcript.entries if (found := envelope_of(entry)) is not None), "")
    if not began:
        return
    with suppress(OSError, ValueError):
        since = datetime.fromisoformat(began)
        for booking in read_bookings(setup.places.ledger, since=since if since.tzinfo else since.astimezone()):
            if booking.session == transcript.session:
                governor.note(booking)


def _booked(
    setup: SessionOptions, session: str, governor: Governor, emit: Callable[[TurnEvent], None]
) -> Callable[[str], Model]:
    """A maker of models whose every call is priced and written down."""
    agent = f"{setup.agent_name}@{setup.team}" if setup.agent_name else ""

    def book(purpose: str, model: str, usage: Usage, *, is_estimate: bool = False) -> None:
        price = cost(usage, profile(model, setup.overrides))
        booking = Booking(setup.now(), session, str(setup.project), purpose, model, usage, price, agent, is_estimate)
        governor.note(booking)
        try:
            append_booking(setup.places.ledger, booking)
        except Error as problem:
            emit(Notice(f"a call could not be booked: {problem}", "warning"))

    return lambda name: Booked(setup.make_model(name), book)


def _policy(setup: SessionOptions, plan_file: Path, *, own_folders: tuple[Path, ...]) -> Policy:
    """What may be done unasked: settings first, then what the command line says."""
    policy = policy_from(
        setup.settings,
        project=setup.project,
        home=setup.user_home,
        additional=own_folders,
        origins=setup.origins,
        plan_file=plan_file,
        steering=(setup.places.home, setup.places.config_home),
    )
    for rule in setup.allowed_tools:
        policy = policy.with_rule(rule)
    for rule in setup.disallowed_tools:
        policy = policy.with_rule(rule, RuleKind.DENY)
    return policy.with_mode(setup.mode) if setup.mode else policy


def _additional(setup: SessionOptions) -> tuple[Path, ...]:
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


def _git_branch(setup: SessionOptions) -> str:
    """The branch, as git's own file says it."""
    checkout = find_checkout(setup.directory)
    if checkout is None:
        return ""
    head = read_small(checkout.top / ".git" / "HEAD") or b""
    return head.decode("utf-8", "replace").strip().removeprefix("ref: refs/heads/")
