"""A role becomes an agent: its loop, with its own prompt, tools, model, permissions and memory.

It begins with an empty context and may never do more than its parent: a role can narrow the rules of the session, and
loosen them only as its own permission mode says, which the user agreed to with the role.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from reverie.context.compaction import Compactor
from reverie.context.conversation import Conversation
from reverie.context.preparer import Preparer
from reverie.context.spans import RECALL_SPAN
from reverie.errors import UserMistake
from reverie.files import is_inside, read_small, write_atomic, write_folder
from reverie.files.places import AgentScope, SessionFolder, find_checkout, project_root
from reverie.memory.store.index.memory_md import IndexLimits
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import Entry, Envelope, SystemBlock
from reverie.models.ledger import FOREGROUND
from reverie.models.ports import Model
from reverie.models.profiles import profile
from reverie.models.tokens.window import budget_by, narrower_budget
from reverie.permissions.approval import Approver
from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.need import Need
from reverie.permissions.policy import Mode, Policy
from reverie.permissions.rule import RuleKind
from reverie.session.compaction import CompactionHooks
from reverie.session.events import TurnEvent
from reverie.session.loop import JoinedAttachment, Loop, Opening, Parts
from reverie.session.memory_prompt import agent_memory_prompt, with_memory
from reverie.session.options import SessionOptions
from reverie.session.subagents.definitions import Definition
from reverie.session.subagents.extensions import ENDED, ChildHooks, OwnServers
from reverie.session.subagents.fork import ChildHost, PurposedModel
from reverie.session.system_prompt import PromptFacts, sections, with_servers
from reverie.session.tool_calls import Permits, ToolCalls
from reverie.settings.features import features
from reverie.tools.plan import NAME as EXIT_PLAN_MODE
from reverie.tools.registry import Registry
from reverie.tools.seen_files import SeenFiles
from reverie.tools.skill import NAME as SKILL
from reverie.tools.tool import Tool
from reverie.tools.tool_search import NAME as TOOL_SEARCH
from reverie.values import value

OF_THE_SESSION = frozenset({SKILL, TOOL_SEARCH, RECALL_SPAN, EXIT_PLAN_MODE})
"""Tools that work on the main conversation and mean nothing in another."""
WITHOUT_INSTRUCTIONS = frozenset({"Explore", "Plan"})
"""Roles that only look around, quickly."""


@value
class Cast:
    """Everything that one agent of a role is made with."""

    definition: Definition
    options: SessionOptions
    parent: Loop
    agent_id: str
    name: str
    purpose: str
    """For the ledger: whether somebody waits."""
    beside: SessionFolder
    hooks: ChildHooks
    approver: Approver
    make_model: Callable[[str], Model]
    own_tools: Sequence[Tool]
    """Take the place of the parent's tools of the same names."""
    servers: OwnServers
    instructions: Callable[[], Sequence[JoinedAttachment]]
    """The instruction files that hold here, for roles that read them."""
    emit: Callable[[TurnEvent], None]
    write: Callable[[Sequence[Entry]], None]
    letters: Callable[[], Sequence[JoinedAttachment]]
    model: str = ""
    """Instead of the role's."""
    effort: str = ""
    """As above."""
    tree: Path | None = None
    """The work tree in which it is alone."""


def build_role_loop(cast: Cast) -> Loop:
    """The agent's loop, ready for its first turn. Raises `UserMistake` when its model cannot be asked."""
    definition, options, parts = cast.definition, cast.options, cast.parent.parts
    settings = options.settings
    named = cast.model or definition.model
    model: Model = PurposedModel(cast.make_model(named) if named else parts.model, cast.purpose)
    facts = profile(model.name, options.overrides)
    desk = replace(
        parts.calls.desk.copy(),
        seen=SeenFiles(settings.tools.read_cache_files),
        directory=cast.tree or options.directory,
        project=cast.tree or options.project,
        tasks=(),
    )

    def stamp(envelope: Envelope) -> Envelope:
        return replace(
            envelope, cwd=str(desk.directory), version=options.version, is_sidechain=True, agent_id=cast.agent_id
        )

    log = Conversation(session=parts.log.session, now=options.now, new_id=options.new_id, write=cast.write, stamp=stamp)
    preparer = Preparer(
        model=model.name,
        facts=facts,
        budget=budget_by(settings, model.name, overrides=options.overrides),
        settings=settings,
        now=options.now,
        spill_path=cast.beside.spill,
        narrower=narrower_budget(settings, model.name, overrides=options.overrides),
        overrides=options.overrides,
    )
    preparer.effort = cast.effort or definition.effort or preparer.effort
    memory = _write_memory_folder(cast)
    permits = Permits(_policy(cast, memory), parts.calls.permits.remember)
    tools = _tools(cast)
    calls = ToolCalls(
        tools,
        desk,
        permits,
        cast.approver,
        cast.hooks,
        cast.emit,
        agent=cast.name,
        refuse=lambda need, arguments: _refusal(need, arguments, definition, memory, permits.policy),
        asking=parts.calls.asking,
    )

    def render_opening() -> Opening:
        first = () if definition.name in WITHOUT_INSTRUCTIONS else tuple(cast.instructions())
        return _system(cast, desk.directory, memory), tools.specs, first

    host = ChildHost(render_opening, cast.letters)
    return Loop(
        Parts(
            log=log,
            preparer=preparer,
            model=model,
            calls=calls,
            compactor=Compactor(log, preparer, host, CompactionHooks(cast.hooks, cast.emit)),
            hooks=cast.hooks,
            governor=parts.governor,
            settings=settings,
            now=options.now,
            emit=cast.emit,
            host=host,
            max_rounds=definition.max_rounds,
            allowance=None if cast.purpose in FOREGROUND else parts.governor.refuses,
            stop_event=ENDED,
        )
    )


def _tools(cast: Cast) -> Registry:
    own = {tool.spec.name: tool for tool in cast.own_tools}
    chosen = {
        tool.spec.name: own.get(tool.spec.name, tool)
        for tool in cast.parent.parts.calls.tools
        if tool.spec.name not in OF_THE_SESSION and cast.definition.has_tool(tool.spec.name)
    }
    # To name a server is to ask for its tools; they need not be listed one by one.
    unlisted = replace(cast.definition, tools=None)
    chosen |= {tool.spec.name: tool for tool in cast.servers.tools if unlisted.has_tool(tool.spec.name)}
    return Registry(chosen.values())


def _system(cast: Cast, directory: Path, memory: Path | None) -> tuple[SystemBlock, ...]:
    import platform

    options, definition = cast.options, cast.definition
    prompt = definition.prompt
    if memory is not None and definition.memory is not None:
        index = (read_small(memory / "MEMORY.md") or b"").decode("utf-8", "replace")
        limits = IndexLimits.of(options.settings.index)
        about = agent_memory_prompt(str(memory), definition.memory, index, limits=limits)
        prompt = with_memory(prompt, about)
    model = cast.model or definition.model or cast.parent.parts.model.name
    facts = PromptFacts(
        directory=str(directory),
        platform=platform.system().lower(),
        model=model,
        knowledge_cutoff=profile(model, options.overrides).knowledge_cutoff,
        system=platform.platform(terse=True),
        shell=Path(options.environment.get("SHELL", "bash")).name,
        is_git=find_checkout(directory) is not None,
    )
    around = next(section.text for section in sections(facts) if section.name == "environment")
    blocks = tuple(SystemBlock(text) for text in (prompt, around) if text.strip())
    return with_servers(blocks, cast.servers.instructions)


def _write_memory_folder(cast: Cast) -> Path | None:
    """The folder of the role's memory, made when it is missing; None when it has none."""
    options, definition = cast.options, cast.definition
    if definition.memory is None or not features(options.settings, interactive=options.is_interactive).agent_memory:
        return None
    remote = options.settings.remote.memory_dir
    folder = options.places.agent_memory(
        definition.name,
        definition.memory,
        cwd=options.project,
        root=project_root(options.project),
        remote=Path(remote) if remote else None,
    )
    write_folder(folder)
    ignore = folder.parent / ".gitignore"
    if definition.memory is AgentScope.LOCAL and not ignore.exists():
        # It belongs to this machine, whatever the repository's own list says.
        write_atomic(ignore, "*\n")
    return folder


def _policy(cast: Cast, memory: Path | None) -> Policy:
    policy = cast.parent.parts.calls.permits.policy.with_plan_file(None)
    mode = cast.definition.mode
    # Plan mode holds for whoever works for the one that is in it, and what the user opened stays open.
    if mode and policy.mode not in (Mode.PLAN, Mode.BYPASS):
        policy = policy.with_mode(mode)
    if cast.tree is not None:
        roots = tuple(root for root in policy.roots if root != policy.project)
        policy = replace(policy, project=cast.tree, roots=(cast.tree, *roots))
    if memory is not None:
        policy = policy.with_roots(memory).with_rule(f"Edit(/{memory}/**)", source="its memory")
    for entry in cast.definition.disallowed:
        if "(" in entry:
            with contextlib.suppress(UserMistake):
                policy = policy.with_rule(entry, RuleKind.DENY, source=cast.definition.place)
    return policy


def _refusal(need: Need, _given: JsonObject, definition: Definition, memory: Path | None, policy: Policy) -> str:
    """Why a role does not do this, whatever the rules of the session say."""
    in_memory = memory is not None and bool(need.paths) and all(is_inside(memory, path) for path in need.paths)
    if in_memory:
        return ""
    if need.tool in definition.tools_for_memory_only:
        return f"{definition.name} has {need.tool} for its memory only, which lies in {memory}."
    entries = [entry for entry in definition.tools or () if entry.partition("(")[0].strip() == need.tool]
    if not entries or any("(" not in entry for entry in entries):
        return ""
    alone = Policy(policy.project, policy.home, roots=policy.roots)
    for entry in entries:
        if "(read-only)" not in entry:
            with contextlib.suppress(UserMistake):
                alone = alone.with_rule(entry)
    if decide(need, alone).verdict is PermissionVerdict.ALLOW:
        return ""
    return f"{definition.name} may use {need.tool} only as {', '.join(entries)}."
