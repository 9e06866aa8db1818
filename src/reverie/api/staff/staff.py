"""The child agents of a session: which roles there are, how one is started, what the model is told of them.

`employ` answers the Agent tool. A fork shares the conversation (`agent.fork`), a typed agent begins anew (`roles`).
Both run as `agent.children`; letters between them go through `post`, `oversight` keeps an eye on them, teammates are
processes of their own (`teammates`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reverie.agent.child_hooks import ENDED, STARTED, ChildHooks
from reverie.agent.children import Child, Children
from reverie.agent.events import Notice, TurnEnded, TurnEvent
from reverie.agent.fork import EVERY_TOOL, NO_RECURSION, Recorded, Starting, directive, forked, is_fork
from reverie.agent.hooking import Fires, Silence
from reverie.agent.ledger import Governor
from reverie.agent.log import Log
from reverie.agent.loop import Joined, Loop
from reverie.agent.prompt_text import prompt_text
from reverie.agent.team import LEADER
from reverie.agent.worktree import WorkTree, add_worktree, remove_if_unchanged
from reverie.agents import Agents, Definition, list_agents, listing_delta
from reverie.api.own_keys import environment_for_others
from reverie.api.session_setup import Setup
from reverie.api.staff.agent_answers import finished, lost, report, started
from reverie.api.staff.oversight import Oversight
from reverie.api.staff.post import Post
from reverie.api.staff.roles import OF_THE_SESSION, Cast, made_agent
from reverie.api.staff.teammates import Teammates
from reverie.errors import UserMistake
from reverie.files import append_lines, write_atomic
from reverie.hooks import Hooks, Surroundings, parse_declaration
from reverie.hooks.consent import read_parts
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.entries import Entry
from reverie.messages.message import Usage
from reverie.messages.records import encode_line
from reverie.messages.reminder import reminder
from reverie.permissions.approval import Approver, NobodyThere
from reverie.permissions.need import Need
from reverie.places import ProjectFolder, SessionFolder
from reverie.plugins.plugin import Plugin
from reverie.ports import ForkSpec, Model
from reverie.skills import Skill, read_invocation
from reverie.tokens.profiles import cost, profile
from reverie.tools.agent import Agent, Order
from reverie.tools.registry import Registry
from reverie.tools.send_message import Outgoing, SendMessage
from reverie.tools.tool import Answer, Tool, ToolMistake
from reverie.trust import Part, Trust

LISTING = "agent_listing_delta"
FORK = "fork"
FORK_ROUNDS = 100
MAX_DEPTH = 2
"""An agent of an agent starts no more."""
WAITED_FOR, BESIDE = "agent", "background_agent"
"""Purposes for the ledger; the second counts as background work."""


@dataclass(frozen=True, slots=True)
class Boss:
    """Who starts an agent."""

    name: str
    loop: Callable[[], Loop]
    depth: int = 0
    agent_id: str = ""
    """Empty for the main agent."""


@dataclass(slots=True)
class _Job:
    """One agent about to work."""

    child: Child
    prompt: str
    hooks: ChildHooks
    skills: Sequence[Joined] = ()
    tree: WorkTree | None = None
    note: str = ""
    """What its parent must know besides its report."""


@dataclass(slots=True)
class Staff:
    """Starts and keeps the child agents of one session."""

    setup: Setup
    beside: SessionFolder
    hooks: Hooks
    facts: Callable[[], JsonObject]
    """The fields that every hook is told."""
    post: Post
    children: Children
    oversight: Oversight
    teammates: Teammates
    emit: Callable[[TurnEvent], None]
    make_model: Callable[[str], Model]
    main: Callable[[], Loop]
    find_skill: Callable[[str], Skill | None]
    plugins: Sequence[Plugin] = ()
    trust: Callable[[], Trust] = Trust
    _lost: tuple[Joined, ...] = ()
    _agents: Agents | None = None
    _trusted: Trust | None = None
    _starting: tuple[str | None, Starting] | None = None

    @property
    def agents(self) -> Agents:
        """The roles that may be played; read anew when the user answers about the project's."""
        trust = self.trust()
        if self._agents is None or trust != self._trusted:
            setup = self.setup
            self._trusted = trust
            self._agents = list_agents(
                places=setup.places,
                project=setup.project,
                directory=setup.directory,
                plugins=self.plugins,
                declared=setup.settings.agents,
                flag=setup.agents,
                trust=trust,
            )
        return self._agents

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the main agent that reach others; none in simple mode."""
        return () if self._is_off else self._tools_for(Boss(self.post.name, self.main))

    @property
    def waiting(self) -> tuple[Part, ...]:
        """Roles of the project, and hooks of such roles, that need the user's yes."""
        if self._is_off:
            return ()
        declared = (role.hooks for role in self.agents.definitions if role.hooks is not None)
        hooks = (part for one in declared for part in read_parts(one, self.setup.project))
        return (*self.agents.waiting, *self.trust().waiting(hooks))

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each agent at work."""
        inside = (f"{child.name}: {child.line}" for child in self.children.running)
        return (*inside, *(f"{name}: teammate" for name in self.teammates.running))

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """All agents of the session with their state, for people."""
        rows = []
        for child in self.children.all:
            doing = child.line if child.is_running else child.title
            rows.append((child.name, f"{child.kind}, {child.state}, ${child.cost_usd:.4f}: {doing}"))
        return (*rows, *self.teammates.rows)

    @property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """The roles with what they are for and where each comes from; what waits or is broken."""
        found = [(one.name, f"{one.description} [{one.source}]") for one in self.agents.definitions]
        found += [("waits for trust", part.place) for part in self.agents.waiting]
        found += [("left out", problem) for problem in self.agents.problems]
        return tuple(found)

    async def begin(self) -> None:
        """Say what is wrong with roles, and listen for other sessions."""
        if self._is_off:
            return
        for problem in self.agents.problems:
            self.emit(Notice(problem, "warning"))
        self._lost = lost(self.post.log.view)
        if self.setup.is_interactive:
            await self.post.listen()
            self.oversight.start()

    def at_boundary(self) -> Sequence[Joined]:
        """What the main agent is told before its next request: new roles, ended agents, letters."""
        if self._is_off:
            return ()
        lost_ones, self._lost = self._lost, ()
        return (*self._listing(), *lost_ones, *self.children.arrived(), *self.post.arrived())

    async def kill(self, name: str) -> bool:
        """End a running agent or ask a teammate to leave; whether there was one."""
        return await self.children.kill(name) or await self.teammates.stop(name)

    async def close(self) -> None:
        """End everything that still runs."""
        await self.children.close()
        await self.oversight.close()
        await self.teammates.close()
        await self.post.close()

    async def employ(self, order: Order, boss: Boss) -> Answer:
        """Start an agent as the model asked for it, and wait for it unless it works in the background."""
        role = self._role(order.kind) if order.kind else None
        if order.in_own_process:
            return await self.teammates.start(order)
        if is_fork(boss.loop().parts.log):
            raise ToolMistake(NO_RECURSION)
        if boss.depth >= MAX_DEPTH:
            raise ToolMistake("You work for an agent that works for another; do this part yourself.")
        # Without somebody who stays there is nobody to be told later: the answer would come after the end.
        beside = self.setup.is_interactive and (order.in_background or (role is not None and role.in_background))
        if beside and (refusal := self.oversight.governor.refuses()):
            raise ToolMistake(f"Nothing runs in the background now: {refusal}. Start it without run_in_background.")
        job = self._forked(order, boss, beside) if role is None else await self._cast(order, boss, role, beside)
        child = job.child
        self.children.add(child)
        self.oversight.start()
        if beside:
            self.oversight.enlist(child)
            self.children.start(child, partial(self._work, job))
            return started(child, order.prompt, self.beside.subagent_transcript(child.id))
        ended = await self.children.waited_for(child, partial(self._work, job))
        return finished(child, ended, order.prompt, job.note)

    @property
    def _is_off(self) -> bool:
        return self.setup.settings.simple_mode

    async def _work(self, job: _Job) -> TurnEnded:
        """The life of an agent, framed by hooks."""
        loop = job.child.loop
        try:
            said = await job.hooks.fire(STARTED, {})
            loop.open()
            loop.join(job.skills)
            loop.join([Joined("hook_additional_context", reminder(text)) for text in said.context])
            ended = await loop.turn(job.prompt, source="system")
        finally:
            if job.tree is not None and not await remove_if_unchanged(job.tree):
                job.note = f"What it changed is in the work tree {job.tree.path}, on the branch {job.tree.branch}."
        # In the background the note can only travel with the report.
        if job.child.in_background:
            words = "\n\n".join(part for part in (report(job.child, ended), job.note) if part)
            ended = replace(ended, text=words)
        return ended

    def _forked(self, order: Order, boss: Boss, beside: bool) -> _Job:
        if order.model or order.in_worktree:
            raise ToolMistake("A fork is this conversation, with its model and folder; name a `subagent_type` instead.")
        parent = boss.loop()
        agent_id, name, hooks = self._identity(order, boss, None)
        spec = ForkSpec(BESIDE if beside else WAITED_FOR, order.prompt, (EVERY_TOOL,), max_rounds=FORK_ROUNDS)
        own = {tool.spec.name: tool for tool in self._tools_for(Boss(name, lambda: loop, boss.depth + 1, agent_id))}
        loop = forked(
            spec,
            parent,
            emit=lambda event: child.hear(event),  # noqa: PLW0108 - the child is made below
            recorded=Recorded(agent_id, partial(self._write, agent_id)),
            starts_after=self._starts_after(parent),
            may=_not_of_the_session,
            tools=Registry([own.get(tool.spec.name, tool) for tool in parent.parts.calls.tools]),
            hooks=hooks,
            approver=self._approver(parent, beside),
        )
        child = self._child(agent_id, name, FORK, order, loop, beside)
        loop.parts.calls.agent = name
        loop.parts.at_boundary = child.letters
        loop.parts.stop_event = ENDED
        return _Job(child, directive(prompt_text("fork", directive=order.prompt)), hooks)

    async def _cast(self, order: Order, boss: Boss, role: Definition, beside: bool) -> _Job:
        parent = boss.loop()
        agent_id, name, hooks = self._identity(order, boss, role)
        if role.servers:
            self.emit(Notice(f"agent {role.name}: its own MCP servers are not connected", "warning"))
        tree = None
        if order.in_worktree or role.in_worktree:
            path, branch = self.beside.directory / "worktrees" / agent_id, f"reverie/agent-{agent_id}"
            tree = await add_worktree(self.setup.project, path, branch, self.setup.environment)
        facts = {"worktreePath": str(tree.path)} if tree else {}
        self._write_facts(agent_id, role.name, order, boss, facts)
        loop = made_agent(
            Cast(
                definition=role,
                setup=self.setup,
                parent=parent,
                agent_id=agent_id,
                name=name,
                purpose=BESIDE if beside else WAITED_FOR,
                beside=self.beside,
                hooks=hooks,
                approver=self._approver(parent, beside),
                make_model=self.make_model,
                own_tools=self._tools_for(Boss(name, lambda: loop, boss.depth + 1, agent_id)),
                emit=lambda event: child.hear(event),  # noqa: PLW0108 - the child is made below
                write=partial(self._write, agent_id),
                letters=lambda: child.letters(),  # noqa: PLW0108 - as above
                model=order.model,
                tree=tree.path if tree else None,
            )
        )
        child = self._child(agent_id, name, role.name, order, loop, beside)
        prompt = "\n\n".join(part for part in (order.prompt, role.initial_prompt) if part)
        return _Job(child, prompt, hooks, self._skills(role), tree)

    def _identity(self, order: Order, boss: Boss, role: Definition | None) -> tuple[str, str, ChildHooks]:
        agent_id = self.setup.new_id().replace("-", "")[:16]
        kind = role.name if role else FORK
        name = self.children.free_name(order.name, kind.lower())
        transcript = str(self.beside.subagent_transcript(agent_id))
        facts: JsonObject = {"agent_id": agent_id, "agent_type": kind, "agent_transcript_path": transcript}
        if role is None:
            self._write_facts(agent_id, kind, order, boss, {})
        return agent_id, name, ChildHooks(self.hooks, facts, self._own_hooks(role))

    def _child(self, agent_id: str, name: str, kind: str, order: Order, loop: Loop, beside: bool) -> Child:
        facts = profile(loop.parts.model.name, self.setup.overrides)

        def price(usage: Usage) -> float:
            return cost(usage, facts) or 0.0

        return Child(
            agent_id,
            name,
            kind,
            order.description,
            loop,
            self.setup.now(),
            in_background=beside,
            price=price,
            progress=order.progress,
        )

    def _starts_after(self, parent: Loop) -> Starting:
        """Forks of one place write their prefix once."""
        leaf = parent.parts.log.leaf
        if self._starting is None or self._starting[0] != leaf:
            self._starting = (leaf, Starting())
        return self._starting[1]

    def _approver(self, parent: Loop, beside: bool) -> Approver:
        """Whom an agent asks: the same as its parent, or nobody where a question would come out of nowhere."""
        return NobodyThere() if beside else parent.parts.calls.approver

    def _own_hooks(self, role: Definition | None) -> Fires:
        """The hooks that a role brings for itself; with a role of the project they have their own yes, for scripts."""
        if role is None or role.hooks is None:
            return Silence()
        declared = parse_declaration(role.hooks, of_agent=True)
        for problem in declared.problems:
            self.emit(Notice(problem, "warning"))
        around = Surroundings(self.setup.project, environment_for_others(self.setup))
        hooks = Hooks([declared], limits=self.setup.settings.hook, around=around, facts=self.facts, trust=self.trust())
        for part in hooks.waiting:
            self.emit(Notice(f"the hooks of {part.place} wait for your trust; `reverie trust` shows them", "warning"))
        return hooks

    def _skills(self, role: Definition) -> Sequence[Joined]:
        """The skills that a role knows from the beginning."""
        joined = []
        for name in role.skills:
            skill = self.find_skill(name)
            if skill is None:
                self.emit(Notice(f"agent {role.name}: there is no skill {name!r}", "warning"))
                continue
            try:
                text = read_invocation(skill).text
            except UserMistake as mistake:
                self.emit(Notice(f"agent {role.name}: {mistake}", "warning"))
                continue
            joined.append(Joined("invoked_skills", reminder(f"The skill {skill.name}:\n\n{text}"), "", {"name": name}))
        return joined

    def _tools_for(self, boss: Boss) -> tuple[Tool, ...]:
        async def send(outgoing: Outgoing) -> str:
            return await self.post.send(boss.name, outgoing)

        roles = "" if self.setup.settings.agent.list_attachment else listing_delta(self.agents.definitions, {})[0]
        return Agent(partial(self.employ, boss=boss), roles), SendMessage(send)

    def _role(self, kind: str) -> Definition:
        found = self.agents.find(kind)
        if found is None:
            names = ", ".join(one.name for one in self.agents.definitions)
            raise ToolMistake(f"There is no agent type {kind!r}; there are {names}. Leave it out for a fork.")
        return found

    def _listing(self) -> Sequence[Joined]:
        if not self.setup.settings.agent.list_attachment:
            return ()
        told: dict[str, str] = {}
        for item in self.main().parts.log.view.items:
            if item.label == LISTING:
                lines = (line for line in item.message.text.splitlines() if line.startswith("- "))
                told |= {line[2:].partition(": ")[0]: line for line in lines}
        text, _ = listing_delta(self.agents.definitions, told)
        if not text:
            return ()
        added: list[Json] = [one.name for one in self.agents.definitions if one.name not in told]
        return (Joined(LISTING, reminder(text), "", {"addedTypes": added}),)

    def _write(self, agent_id: str, entries: Sequence[Entry]) -> None:
        lines = (encode_line(entry) for entry in entries)
        append_lines(self.beside.subagent_transcript(agent_id), lines, durable=False)

    def _write_facts(self, agent_id: str, kind: str, order: Order, boss: Boss, more: dict[str, str]) -> None:
        facts = {"agentType": kind, "description": order.description, "parentAgentId": boss.agent_id or None, **more}
        told = {key: value for key, value in facts.items() if value}
        write_atomic(self.beside.subagent_facts(agent_id), json.dumps(told, ensure_ascii=False), durable=False)


def staffed(
    setup: Setup,
    *,
    log: Log,
    folder: ProjectFolder,
    hooks: Hooks,
    facts: Callable[[], JsonObject],
    governor: Governor,
    emit: Callable[[TurnEvent], None],
    make_model: Callable[[str], Model],
    main: Callable[[], Loop],
    find_skill: Callable[[str], Skill | None],
    plugins: Sequence[Plugin],
    trust: Callable[[], Trust],
) -> Staff:
    """Put together what a session needs for its child agents."""
    children = Children(emit=emit)
    team = setup.team or f"session-{log.session[:8]}"
    name = setup.agent_name or LEADER
    post = Post(setup.places, folder, log, children, team, name, setup.now, setup.new_id, emit)
    return Staff(
        setup=setup,
        beside=folder.session(log.session),
        hooks=hooks,
        facts=facts,
        post=post,
        children=children,
        oversight=Oversight(setup, children, post, governor, make_model),
        teammates=Teammates(
            setup, folder, team, name, log.session, lambda: str(main().parts.calls.permits.policy.mode)
        ),
        emit=emit,
        make_model=make_model,
        main=main,
        find_skill=find_skill,
        plugins=plugins,
        trust=trust,
    )


def _not_of_the_session(need: Need, _given: JsonObject) -> str:
    return f"{need.tool} belongs to the main conversation; do without it." if need.tool in OF_THE_SESSION else ""
