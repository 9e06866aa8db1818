"""Starts one subagent: its identity, loop, hooks, work tree, servers and transcript.

A fork shares the conversation (`fork`), an agent with a role begins with an empty one (`roles`). Who may start one, and
the list of those that run, is in `subagents`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reverie.context.spans import RECALL_SPAN
from reverie.errors import UserMistake
from reverie.extensions.hooks import HookContext, Hooks, parse_declaration
from reverie.extensions.hooks.verdict import FiresHooks, NoHooks
from reverie.extensions.skills import Skill, read_invocation
from reverie.files import append_lines, write_atomic
from reverie.files.places import SessionFolder
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import Entry
from reverie.messages.message import Usage
from reverie.messages.records import encode_line
from reverie.messages.reminder import reminder
from reverie.models.ports import ForkSpec, Model
from reverie.models.profiles import cost, profile
from reverie.permissions.approval import Approver, NobodyThere
from reverie.permissions.need import Need
from reverie.session.events import Denied, Notice, TurnEnded, TurnEvent
from reverie.session.loop import JoinedAttachment, Loop
from reverie.session.options import SessionOptions, environment_for_others
from reverie.session.prompt_text import prompt_text
from reverie.session.subagents.answers import report
from reverie.session.subagents.children import Child, Children
from reverie.session.subagents.definitions import Definition
from reverie.session.subagents.extensions import ENDED, NO_SERVERS, STARTED, ChildHooks, OwnServers, connect_servers
from reverie.session.subagents.fork import EVERY_TOOL, ChildHost, ForkRecord, ForkStart, build_fork, directive
from reverie.session.subagents.roles import OF_THE_SESSION, Cast, build_role_loop
from reverie.session.subagents.worktree import AgentWorkTree, end_worktree, start_worktree
from reverie.tools.agent import Order
from reverie.tools.mcp.connections import Connections
from reverie.tools.registry import Registry
from reverie.tools.tool import Tool, ToolMistake
from reverie.values import value

FORK = "fork"
FORK_ROUNDS = 100
WAITED_FOR, BESIDE = "agent", "background_agent"
"""Purposes for the ledger; the second counts as background work."""


@value
class ParentSession:
    """Who starts an agent."""

    name: str
    loop: Callable[[], Loop]
    depth: int = 0
    agent_id: str = ""
    """Empty for the main agent."""


@dataclass(slots=True)
class SubagentRun:
    """A subagent that is ready to run."""

    child: Child
    prompt: str
    hooks: ChildHooks
    skills: Sequence[JoinedAttachment] = ()
    tree: AgentWorkTree | None = None
    servers: OwnServers = NO_SERVERS
    note: str = ""
    """What its parent must know besides its report."""

    async def work(self) -> TurnEnded:
        """Run the agent between its start and stop hooks."""
        loop = self.child.loop
        try:
            verdict = await self.hooks.fire(STARTED, {})
            loop.open()
            loop.join(self.skills)
            loop.join([JoinedAttachment("hook_additional_context", reminder(text)) for text in verdict.context])
            ended = await loop.turn(self.prompt, source="system")
        finally:
            await self.servers.close()
            if self.tree is not None:
                self.note = await end_worktree(self.tree, self.hooks)
        # In the background the note can only travel with the report.
        if self.child.in_background:
            words = "\n\n".join(part for part in (report(self.child, ended), self.note) if part)
            ended = replace(ended, text=words)
        return ended


@dataclass(slots=True)
class AgentStarter:
    """Starts the subagents of one session."""

    options: SessionOptions
    beside: SessionFolder
    hooks: Hooks
    facts: Callable[[], JsonObject]
    """The fields that every hook is told."""
    children: Children
    emit: Callable[[TurnEvent], None]
    make_model: Callable[[str], Model]
    find_skill: Callable[[str], Skill | None]
    servers: Connections
    """Those of the session."""
    connections: Callable[[], Connections]
    """Makes room for servers of an agent's own."""
    instructions: Callable[[], Sequence[JoinedAttachment]]
    """The instruction files that hold here."""
    tools_for: Callable[[ParentSession], tuple[Tool, ...]]
    """The tools that reach other agents."""
    _starting: tuple[str | None, ForkStart] | None = None

    def start_fork(self, order: Order, parent: ParentSession, *, beside: bool) -> SubagentRun:
        """A fork of its parent."""
        if order.model or order.in_worktree:
            raise ToolMistake(
                "A fork uses the model and directory of this conversation; name a `subagent_type` to change them."
            )
        parent_loop = parent.loop()
        agent_id, name, hooks = self._identity(order, None)
        self._write_facts(agent_id, FORK, order, parent)
        spec = ForkSpec(BESIDE if beside else WAITED_FOR, order.prompt, (EVERY_TOOL,), max_rounds=FORK_ROUNDS)
        own = {
            tool.spec.name: tool
            for tool in self.tools_for(ParentSession(name, lambda: loop, parent.depth + 1, agent_id))
        }
        loop = build_fork(
            spec,
            parent_loop,
            emit=lambda event: self._hear(child, event),
            recorded=ForkRecord(agent_id, partial(self._write, agent_id)),
            starts_after=self._starts_after(parent_loop),
            may=_not_of_the_session,
            tools=Registry([own.get(tool.spec.name, tool) for tool in parent_loop.parts.calls.tools]),
            hooks=hooks,
            approver=_approver(parent_loop, beside=beside),
            compacts=True,
        )
        child = self._child(agent_id, name, FORK, order, loop, beside=beside)
        loop.parts.calls.agent = name
        loop.parts.host = ChildHost(parent_loop.parts.host.render_opening, child.letters)
        loop.parts.stop_event = ENDED
        return SubagentRun(child, directive(prompt_text("fork", directive=order.prompt)), hooks)

    async def start_role(
        self, order: Order, parent: ParentSession, role: Definition, *, beside: bool, is_silent: bool = False
    ) -> SubagentRun:
        """An agent of a role, with its servers and, where it works alone, its work tree.

        A silent one works for a hook: no hook hears of it, and nobody is asked.
        """
        agent_id, name, hooks = self._identity(order, role)
        if is_silent:
            hooks = ChildHooks(NoHooks(), hooks.facts)
        tree = None
        if order.in_worktree or role.in_worktree:
            path, branch = self.beside.directory / "worktrees" / agent_id, f"reverie/agent-{agent_id}"
            tree = await start_worktree(self.options.project, path, branch, hooks)
        self._write_facts(agent_id, role.name, order, parent, {"worktreePath": str(tree.path)} if tree else {})
        servers = await self._connect_servers(role)
        try:
            loop = build_role_loop(
                Cast(
                    definition=role,
                    options=self.options,
                    parent=parent.loop(),
                    agent_id=agent_id,
                    name=name,
                    purpose=BESIDE if beside else WAITED_FOR,
                    beside=self.beside,
                    hooks=hooks,
                    approver=_approver(parent.loop(), beside=beside or is_silent),
                    make_model=self.make_model,
                    own_tools=self.tools_for(ParentSession(name, lambda: loop, parent.depth + 1, agent_id)),
                    servers=servers,
                    instructions=self.instructions,
                    emit=lambda event: self._hear(child, event),
                    write=partial(self._write, agent_id),
                    letters=lambda: child.letters(),  # noqa: PLW0108 - the child is made below
                    model=order.model,
                    effort=order.effort,
                    tree=tree.path if tree else None,
                )
            )
        except BaseException:
            await servers.close()
            raise
        child = self._child(agent_id, name, role.name, order, loop, beside=beside)
        prompt = "\n\n".join(part for part in (order.prompt, role.initial_prompt) if part)
        return SubagentRun(child, prompt, hooks, self._skills(role), tree, servers)

    def _hear(self, child: Child, event: TurnEvent) -> None:
        """A child's own events stay with it; what it was not allowed to do concerns the session too."""
        child.hear(event)
        if isinstance(event, Denied):
            self.emit(event)

    def _identity(self, order: Order, role: Definition | None) -> tuple[str, str, ChildHooks]:
        agent_id = self.options.new_id().replace("-", "")[:16]
        kind = role.name if role else FORK
        name = self.children.free_name(order.name, kind.lower())
        transcript = str(self.beside.subagent_transcript(agent_id))
        facts: JsonObject = {"agent_id": agent_id, "agent_type": kind, "agent_transcript_path": transcript}
        return agent_id, name, ChildHooks(self.hooks, facts, self._own_hooks(role))

    def _child(self, agent_id: str, name: str, kind: str, order: Order, loop: Loop, *, beside: bool) -> Child:
        facts = profile(loop.parts.model.name, self.options.overrides)

        def price(usage: Usage) -> float:
            return cost(usage, facts) or 0.0

        return Child(
            agent_id,
            name,
            kind,
            order.description,
            loop,
            in_background=beside,
            price=price,
            progress=order.progress,
        )

    async def _connect_servers(self, role: Definition) -> OwnServers:
        if not role.servers:
            return NO_SERVERS
        return await connect_servers(
            role, self.options, session=self.servers, connections=self.connections, tell=self._warn
        )

    def _starts_after(self, parent: Loop) -> ForkStart:
        """Forks of one place write their prefix once."""
        leaf = parent.parts.log.leaf
        if self._starting is None or self._starting[0] != leaf:
            self._starting = (leaf, ForkStart())
        return self._starting[1]

    def _own_hooks(self, role: Definition | None) -> FiresHooks:
        """The hooks that a role brings for itself; with a role of the project they have their own yes, for scripts."""
        if role is None or role.hooks is None:
            return NoHooks()
        declared = parse_declaration(role.hooks, of_agent=True)
        for problem in declared.problems:
            self._warn(problem)
        context = HookContext(self.options.project, environment_for_others(self.options))
        hooks = Hooks(
            [declared], limits=self.options.settings.hook, context=context, facts=self.facts, trust=self.hooks.answers
        )
        for part in hooks.waiting:
            self._warn(f"the hooks of {part.place} do not run until you trust them; review them with `reverie trust`")
        return hooks

    def _skills(self, role: Definition) -> Sequence[JoinedAttachment]:
        """The skills that a role knows from the beginning."""
        joined = []
        for name in role.skills:
            skill = self.find_skill(name)
            if skill is None:
                self._warn(f"agent {role.name}: skill {name!r} was not found")
                continue
            try:
                text = read_invocation(skill).text
            except UserMistake as mistake:
                self._warn(f"agent {role.name}: {mistake}")
                continue
            joined.append(
                JoinedAttachment("invoked_skills", reminder(f"The skill {skill.name}:\n\n{text}"), "", {"name": name})
            )
        return joined

    def _warn(self, sentence: str) -> None:
        self.emit(Notice(sentence, "warning"))

    def _write(self, agent_id: str, entries: Sequence[Entry]) -> None:
        lines = (encode_line(entry) for entry in entries)
        append_lines(self.beside.subagent_transcript(agent_id), lines, durable=False)

    def _write_facts(
        self, agent_id: str, kind: str, order: Order, parent: ParentSession, more: dict[str, str] | None = None
    ) -> None:
        facts = {"agentType": kind, "description": order.description, "parentAgentId": parent.agent_id, **(more or {})}
        nonempty = {key: value for key, value in facts.items() if value}
        write_atomic(self.beside.subagent_facts(agent_id), json.dumps(nonempty, ensure_ascii=False), durable=False)


def _approver(parent: Loop, *, beside: bool) -> Approver:
    """Whom an agent asks: the same as its parent, or nobody where a question would come out of nowhere."""
    return NobodyThere() if beside else parent.parts.calls.approver


def _not_of_the_session(need: Need, _given: JsonObject) -> str:
    # A fork has the whole conversation, also what is no longer in view.
    is_refused = need.tool in OF_THE_SESSION and need.tool != RECALL_SPAN
    return f"{need.tool} is only available in the main conversation; continue without it." if is_refused else ""
