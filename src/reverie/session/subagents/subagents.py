"""The child agents of a session: which roles there are, who may be started, what the model is told of them.

`start_agent` answers the Agent tool; `start` makes the agent. All run as `children`; messages between them go through
`messaging`, teammates are processes of their own (`teammates`). This module also lists and stops them.

A watcher shows progress lines, lists background work and obeys stops that others ask for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from reverie.context.conversation import Conversation
from reverie.context.restore import RestoredAttachment
from reverie.errors import Error, Unavailable
from reverie.extensions.hooks import Hooks
from reverie.extensions.hooks.consent import read_parts
from reverie.extensions.plugins.plugin import Plugin
from reverie.extensions.skills import Skill
from reverie.files.background_tasks import BackgroundTask, has_stop_request, start_task, write_task
from reverie.files.places import ProjectFolder
from reverie.files.trust import TrustAnswers, TrustPart
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.reminder import reminder
from reverie.models.ledger import Governor
from reverie.models.ports import Ending, Model
from reverie.session.events import Notice, TurnEvent
from reverie.session.loop import JoinedAttachment, Loop
from reverie.session.options import SessionOptions
from reverie.session.subagents.answers import lost, report_finished, report_started
from reverie.session.subagents.children import Child, Children
from reverie.session.subagents.definitions import Agents, Definition, list_agents, listing_delta
from reverie.session.subagents.fork import NO_RECURSION, is_fork
from reverie.session.subagents.messaging import Messaging
from reverie.session.subagents.progress import ask_progress_line
from reverie.session.subagents.start import AgentStarter, ParentSession
from reverie.session.subagents.team import LEADER
from reverie.session.subagents.teammates import Teammates
from reverie.tools.agent import AgentTool, Order
from reverie.tools.mcp.connections import Connections
from reverie.tools.send_message import Outgoing, SendMessage
from reverie.tools.tool import Tool, ToolAnswer, ToolMistake

LISTING = "agent_listing_delta"
MAX_DEPTH = 2
"""An agent of an agent starts no more."""
JUDGE = "Explore"
"""The role that looks into something for a hook."""


@dataclass(slots=True)
class Subagents:
    """Starts and keeps the child agents of one session."""

    options: SessionOptions
    post: Messaging
    children: Children
    monitor: AgentMonitor
    teammates: Teammates
    starter: AgentStarter
    emit: Callable[[TurnEvent], None]
    main: Loop
    hooks: Hooks
    plugins: Sequence[Plugin] = ()
    _lost: tuple[JoinedAttachment, ...] = ()
    _agents: Agents | None = None
    _trusted: TrustAnswers | None = None
    _listed: tuple[Agents, list[str]] | None = None
    """The roles and the messages that list them, when both agreed last."""

    @property
    def agents(self) -> Agents:
        """The roles that may be played; read anew when the user answers about the project's."""
        trust = self.hooks.answers
        if self._agents is None or trust is not self._trusted:
            options = self.options
            self._trusted = trust
            self._agents = list_agents(
                places=options.places,
                project=options.project,
                directory=options.directory,
                plugins=self.plugins,
                declared=options.settings.agents,
                flag=options.agents,
                trust=trust,
            )
        return self._agents

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the main agent that reach others; none in simple mode."""
        return () if self._is_off else self.tools_for(self._leader)

    @property
    def waiting(self) -> tuple[TrustPart, ...]:
        """Roles of the project, and hooks of such roles, that need the user's yes."""
        if self._is_off:
            return ()
        declared = (role.hooks for role in self.agents.definitions if role.hooks is not None)
        hooks = (part for one in declared for part in read_parts(one, self.options.project))
        return (*self.agents.waiting, *self.hooks.answers.waiting(hooks))

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
        rows = [(one.name, f"{one.description} [{one.source}]") for one in self.agents.definitions]
        rows += [("waits for trust", part.place) for part in self.agents.waiting]
        rows += [("left out", problem) for problem in self.agents.problems]
        return tuple(rows)

    async def begin(self) -> None:
        """Say what is wrong with roles, and listen for other sessions."""
        if self._is_off:
            return
        for problem in self.agents.problems:
            self.emit(Notice(problem, "warning"))
        self._lost = lost(self.post.log.view)
        if self.options.is_interactive:
            await self.post.listen()
            self.monitor.start()

    def at_boundary(self) -> Sequence[JoinedAttachment]:
        """What the main agent is told before its next request: new roles, ended agents, letters."""
        if self._is_off:
            return ()
        lost_ones, self._lost = self._lost, ()
        return (*self._listing(), *lost_ones, *self.children.take_arrived(), *self.post.take_arrived())

    async def kill(self, name: str) -> bool:
        """End a running agent or ask a teammate to leave; whether there was one."""
        return await self.children.kill(name) or await self.teammates.stop(name)

    async def close(self) -> None:
        """End everything that still runs."""
        await self.children.close()
        await self.monitor.close()
        await self.teammates.close()
        await self.post.close()

    async def start_agent(self, order: Order, parent: ParentSession | None = None) -> ToolAnswer:
        """Start an agent as the model asked for it, and wait for it unless it works in the background.

        Without a parent it works for the main agent.
        """
        parent = parent or self._leader
        role = self._role(order.kind) if order.kind else None
        if order.in_own_process:
            return await self.teammates.start(order)
        if is_fork(parent.loop().parts.log):
            raise ToolMistake(NO_RECURSION)
        if parent.depth >= MAX_DEPTH:
            raise ToolMistake("You work for an agent that works for another; do this part yourself.")
        # Without somebody who stays there is nobody to be told later: the answer would come after the end.
        beside = self.options.is_interactive and (order.in_background or (role is not None and role.in_background))
        if beside and (refusal := self.monitor.governor.refuses()):
            raise ToolMistake(f"Nothing runs in the background now: {refusal}. Start it without run_in_background.")
        if role is None:
            run = self.starter.start_fork(order, parent, beside=beside)
        else:
            run = await self.starter.start_role(order, parent, role, beside=beside)
        child = run.child
        self.children.add(child)
        self.monitor.start()
        if beside:
            self.monitor.enlist(child)
            self.children.start(child, run.work)
            return report_started(child, order.prompt, self.starter.beside.subagent_transcript(child.id))
        ended = await self.children.run_to_end(child, run.work)
        return report_finished(child, ended, order.prompt, run.note)

    async def ask_judge(self, prompt: str, model: str) -> str:
        """The last words of an agent that looks into something for a hook: it only reads, and no hook hears of it."""
        order = Order(prompt=prompt, description="a hook's question", model=model)
        run = await self.starter.start_role(order, self._leader, self._role(JUDGE), beside=False, is_silent=True)
        self.children.add(run.child)
        ended = await self.children.run_to_end(run.child, run.work)
        if ended.ending is not Ending.COMPLETED:
            raise Unavailable(ended.text)
        return ended.text

    def tools_for(self, parent: ParentSession) -> tuple[Tool, ...]:
        """The tools with which somebody reaches other agents."""

        async def send(outgoing: Outgoing) -> str:
            return await self.post.send(parent.name, outgoing)

        roles = "" if self.options.settings.agent.list_attachment else listing_delta(self.agents.definitions, {})[0]
        return AgentTool(partial(self.start_agent, parent=parent), roles), SendMessage(send)

    @property
    def _leader(self) -> ParentSession:
        return ParentSession(self.post.name, lambda: self.main)

    @property
    def _is_off(self) -> bool:
        return self.options.settings.simple_mode

    def _role(self, kind: str) -> Definition:
        definition = self.agents.find(kind)
        if definition is None:
            names = ", ".join(one.name for one in self.agents.definitions)
            raise ToolMistake(f"There is no agent type {kind!r}; there are {names}. Leave it out for a fork.")
        return definition

    def returning(self) -> Sequence[RestoredAttachment]:
        """The list of agents as it returns after a compaction."""
        if self._is_off or not self.options.settings.agent.list_attachment:
            return ()
        text, lines = listing_delta(self.agents.definitions, {})
        added: list[Json] = list(lines)
        return (RestoredAttachment(LISTING, text, {"addedTypes": added}),) if text else ()

    def _listing(self) -> Sequence[JoinedAttachment]:
        if not self.options.settings.agent.list_attachment:
            return ()
        agents, items = self.agents, self.main.parts.log.view.items
        listings = [item.message.text for item in items if item.label == LISTING]
        if self._listed is not None and self._listed[0] is agents and self._listed[1] == listings:
            return ()
        announced: dict[str, str] = {}
        for listing in listings:
            lines = (line for line in listing.splitlines() if line.startswith("- "))
            announced |= {line[2:].partition(": ")[0]: line for line in lines}
        text, _ = listing_delta(agents.definitions, announced)
        news = [reminder(text)] if text else []
        self._listed = (agents, [*listings, *news])
        added: list[Json] = [one.name for one in agents.definitions if one.name not in announced]
        return [JoinedAttachment(LISTING, listing, "", {"addedTypes": added}) for listing in news]


def build_subagents(
    options: SessionOptions,
    *,
    log: Conversation,
    folder: ProjectFolder,
    hooks: Hooks,
    facts: Callable[[], JsonObject],
    governor: Governor,
    emit: Callable[[TurnEvent], None],
    make_model: Callable[[str], Model],
    main: Loop,
    find_skill: Callable[[str], Skill | None],
    servers: Connections,
    connections: Callable[[], Connections],
    instructions: Callable[[], Sequence[JoinedAttachment]],
    plugins: Sequence[Plugin],
) -> Subagents:
    """Build what a session needs for its child agents."""
    children = Children(emit=emit)
    team = options.team or f"session-{log.session[:8]}"
    name = options.agent_name or LEADER
    post = Messaging(options.places, folder, log, children, team, name, options.now, options.new_id, emit)
    starter = AgentStarter(
        options=options,
        beside=folder.session(log.session),
        hooks=hooks,
        facts=facts,
        children=children,
        emit=emit,
        make_model=make_model,
        find_skill=find_skill,
        servers=servers,
        connections=connections,
        instructions=instructions,
        tools_for=lambda parent: subagents.tools_for(parent),  # noqa: PLW0108 - built below
    )
    subagents = Subagents(
        options=options,
        post=post,
        children=children,
        monitor=AgentMonitor(options, children, post, governor, make_model),
        teammates=Teammates(options, folder, team, name, log.session, main.parts.calls.permits, governor),
        starter=starter,
        emit=emit,
        main=main,
        hooks=hooks,
        plugins=plugins,
    )
    return subagents


_LOOK_SECONDS = 1.0


@dataclass(slots=True)
class AgentMonitor:
    """Looks at the agents of one session every so often, from the first on until it is closed."""

    options: SessionOptions
    children: Children
    post: Messaging
    governor: Governor
    make_model: Callable[[str], Model]
    _tasks: dict[str, BackgroundTask] = field(default_factory=dict)
    _looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, where nobody does yet."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    def enlist(self, child: Child) -> None:
        """List a child as background work."""
        title = f"{child.name}: {child.title}"
        self._tasks[child.id] = start_task(child.id, "agent", title, self.options.now())
        self.write(child)

    def write(self, child: Child) -> None:
        """Bring the list of background work up to date; a full disk costs only the list."""
        task = self._tasks.get(child.id)
        if task is None or task.state != "running":
            return
        task = replace(task, cost_usd=child.cost_usd)
        if child.is_running:
            task = task.with_line(child.line)
        else:
            task = task.with_line(child.result or child.state.value).finished(child.state.value, self.options.now())
        self._tasks[child.id] = task
        with contextlib.suppress(Error):
            write_task(self.options.places.tasks, task)

    async def close(self) -> None:
        """Look no more; the list says how everything ended."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for child in self.children.all:
            self.write(child)

    async def _look(self) -> None:
        interval = self.options.settings.agent.summary_interval_seconds
        due = time.monotonic() + interval
        while True:
            await asyncio.sleep(min(_LOOK_SECONDS, interval))
            for child in self.children.all:
                if child.id not in self._tasks:
                    continue
                if child.is_running and has_stop_request(self.options.places.tasks, child.id):
                    await self.children.kill(child.id)
                if not child.is_running:
                    self.write(child)
            self.post.look()
            if time.monotonic() >= due:
                due = time.monotonic() + interval
                await self._word()
                self.children.report()
                for child in self.children.running:
                    self.write(child)

    async def _word(self) -> None:
        """Let the background model word what agents do, where there is one and the budget allows it."""
        settings = self.options.settings
        name = settings.model.background
        if not name or self.governor.refuses():
            return
        words = (settings.agent.summary_words_min, settings.agent.summary_words_max)
        for child in self.children.running:
            if child.calls and not child.worded:
                with contextlib.suppress(Error):
                    child.worded = await ask_progress_line(self.make_model(name), tuple(child.calls), words=words)
