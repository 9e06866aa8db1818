"""What others brought into a session: plugins, skills, servers; and the user's word on what came with the project.

`Extensions` joins `skills` and `mcp_tools` with the hooks and with trust, so that the session has one thing to begin,
to ask at each boundary and to close. Nothing here can fail a session: what is broken is a notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reverie.amounts import format_count
from reverie.context.conversation import Conversation
from reverie.context.restore import RestoreContext
from reverie.errors import Error, Unavailable, UserMistake
from reverie.extensions.hooks import Effects, Hooks, HookVerdict
from reverie.extensions.hooks.matcher import covers as roughly_covers
from reverie.extensions.hooks.run import RunAgent
from reverie.extensions.mcp.connection import ConnectionContext
from reverie.extensions.mcp.servers import NO_SERVERS, Server, Servers, list_servers
from reverie.extensions.plugins.installed import Plugins, list_plugins
from reverie.extensions.skills import Skills, list_skills
from reverie.files.trust import TrustKind, TrustPart, read_trust, write_answers
from reverie.messages.blocks import JsonObject, Text
from reverie.messages.reminder import reminder
from reverie.models.flow import run_flow
from reverie.models.ports import Flow, Model, Request
from reverie.permissions.decide import PermissionVerdict as Judged
from reverie.permissions.decide import decide
from reverie.permissions.policy import Policy
from reverie.permissions.rule import RuleKind
from reverie.session.events import Notice, TurnEvent
from reverie.session.loop import JoinedAttachment
from reverie.session.mcp_tools import McpTools
from reverie.session.options import SessionOptions, environment_for_others
from reverie.session.skills import SkillInvoker
from reverie.session.tool_calls import FinishedCall, ToolCalls
from reverie.tools.agent import StartAgent
from reverie.tools.mcp.connections import Connections
from reverie.tools.mcp.content import answer_from
from reverie.tools.registry import Registry
from reverie.tools.skill import SkillTool
from reverie.tools.tool import ToolMistake

_ALONE = 5
"""How many times longer the first request waits for servers where nobody watches: a second chance may not come."""


@dataclass(slots=True)
class Extensions:
    """Everything that others brought."""

    options: SessionOptions
    plugins: Plugins
    skill_invoker: SkillInvoker
    mcp_tools: McpTools
    skill_tool: SkillTool
    hooks: Hooks
    calls: ToolCalls
    emit: Callable[[TurnEvent], None]
    further: Callable[[], Sequence[TrustPart]] = tuple
    """What else waits for the user's word, such as the project's agents."""
    _servers: Servers = NO_SERVERS

    def begin(self) -> None:
        """Say what is broken or waits, and connect to servers in the background."""
        self._servers = self._list_servers()
        for problem in (*self.plugins.problems, *self.skill_invoker.skills.problems, *self._servers.problems):
            self.emit(Notice(problem, "warning"))
        self.mcp_tools.start(self._servers.ready)
        waiting = self.waiting_for_trust
        if waiting:
            kinds = ", ".join(sorted({part.kind for part in waiting}))
            self.emit(
                Notice(
                    f"{format_count(len(waiting), 'part')} of this project inactive until trusted "
                    f"({kinds}): run `reverie trust` to review, `reverie trust --accept` to accept",
                    "warning",
                )
            )

    def opening(self) -> Sequence[JoinedAttachment]:
        """What joins the first messages of a conversation."""
        return self.skill_invoker.opening()

    def at_boundary(self) -> Sequence[JoinedAttachment]:
        """What arrived since the last request."""
        verdict = self.hooks.take_background_results()
        for message in verdict.messages:
            self.emit(Notice(message, "warning"))
        heard = [JoinedAttachment("async_hook_response", reminder(text)) for text in verdict.context]
        return [*heard, *self.skill_invoker.pending(), *self.mcp_tools.at_boundary()]

    def collect_attachments(self, done: Sequence[FinishedCall]) -> Sequence[JoinedAttachment]:
        """What the calls of a round bring along; the first skill brings its tool."""
        joined = self.skill_invoker.collect_attachments(done)
        self._offer_skills()
        return joined

    def _offer_skills(self) -> None:
        if self.skill_invoker.has_any and self.skill_tool.spec.name not in self.mcp_tools.own:
            self.mcp_tools.own = self.mcp_tools.own.with_tools([self.skill_tool])

    async def expand(self, text: str) -> Sequence[JoinedAttachment] | str:
        """What joins behind words that begin with `/name`; a sentence when a hook or a mistake stands against it.

        Waits a moment for servers first, so that the first request has their tools.
        """
        await self.mcp_tools.ready()
        if not text.startswith("/"):
            return ()
        name, *behind = text[1:].split(maxsplit=1) or [""]
        arguments = behind[0].strip() if behind else ""
        skill = self.skill_invoker.skills.find(name)
        is_prompt = any(name == command for command, _, _ in self.mcp_tools.connections.prompts)
        if not is_prompt and (skill is None or not skill.for_user):
            return ()
        verdict = await self.hooks.fire(
            "UserPromptExpansion",
            {
                "expansion_type": "mcp_prompt" if is_prompt else "slash_command",
                "command_name": name,
                "command_args": arguments,
                "command_source": "mcp" if is_prompt or skill is None else skill.source,
                "prompt": text,
            },
            subject=name,
        )
        if verdict.blocked is not None:
            return verdict.blocked or "A hook refused the command."
        context = [JoinedAttachment("hook_additional_context", reminder(one)) for one in verdict.context]
        try:
            if is_prompt or skill is None:
                words = await self.mcp_tools.connections.prompt(name, arguments.split())
                return [JoinedAttachment("mcp_prompt", words or "", f"prompt {name}"), *context]
            return [await self.skill_invoker.invoke(skill, arguments), *context]
        except (UserMistake, Unavailable, ToolMistake) as problem:
            return str(problem)

    def around(self, around: RestoreContext) -> RestoreContext:
        """With what returns after a compaction."""
        return replace(
            around,
            skills=self.skill_invoker.store(),
            discovered_tools=self.mcp_tools.discovered,
            returning=(*around.returning, *self.skill_invoker.returning(), *self.mcp_tools.returning()),
        )

    @property
    def commands(self) -> tuple[tuple[str, str, str], ...]:
        """What the user may type behind a slash: name, sentence, hint on arguments."""
        skills = ((skill.name, skill.description, skill.argument_hint) for skill in self.skill_invoker.commands)
        return tuple(sorted([*skills, *self.mcp_tools.connections.prompts]))

    @property
    def waiting_for_trust(self) -> tuple[TrustPart, ...]:
        """What came with the project and waits for the user's answer."""
        parts = [
            *self.options.trust_parts,
            *(server.part for server in self._servers.waiting),
            *self.skill_invoker.waiting,
        ]
        return self.hooks.answers.waiting([*parts, *self.hooks.waiting, *self.further()])

    def answer_trust(self, parts: Iterable[TrustPart], *, accepted: bool) -> None:
        """Take and keep the user's answer; what it allows begins at once. Raises `Damaged` when it cannot be kept."""
        answered = tuple(parts)
        store = self.options.places.trust
        write_answers(store, self.options.project, answered, accepted=accepted, now=self.options.now())
        self.hooks.trust(read_trust(store, self.options.project))
        if not accepted:
            return
        permits = self.calls.permits
        for part in answered:
            if part.kind == TrustKind.ALLOW:
                for rule in _texts(part):
                    permits.policy = permits.policy.with_rule(rule, source=part.place)
            elif part.kind == TrustKind.DIRECTORIES:
                folders = tuple(folder_of(text, self.options) for text in _texts(part))
                permits.policy = permits.policy.with_roots(*folders)
                desk = self.calls.desk
                desk.additional = tuple(dict.fromkeys((*desk.additional, *folders)))
        self._servers = self._list_servers()
        self.mcp_tools.start(self._servers.ready)

    def reload_skills(self) -> None:
        """Read the skills again, as a hook may ask when it has written some; new ones are announced."""
        self.skill_invoker.renew(find_skills(self.options, self.plugins))
        self._offer_skills()

    def forget(self) -> None:
        """The conversation begins anew."""
        self.skill_invoker.turn_ended()

    async def close(self) -> None:
        """End what still runs."""
        await self.mcp_tools.connections.close()

    def _list_servers(self) -> Servers:
        options = self.options
        if options.settings.simple_mode and not options.mcp_config:
            return NO_SERVERS

        def is_accepted(server: Server) -> bool:
            return self.hooks.answers.accepts(server.part)

        return list_servers(
            places=options.places,
            project=options.project,
            environment=options.environment,
            accepted=is_accepted,
            flags=options.mcp_config,
            plugins=self.plugins.servers,
        )


def read_plugins(options: SessionOptions) -> Plugins:
    """The plugins of a session; none in simple mode, except those of flags."""
    if options.settings.simple_mode and not options.plugin_dirs:
        return Plugins()
    return list_plugins(
        places=options.places,
        project=options.project,
        environment=options.environment,
        flags=options.plugin_dirs,
        project_is_trusted=options.is_trusted,
    )


def find_skills(options: SessionOptions, plugins: Plugins) -> Skills:
    """The skills of a session; none in simple mode."""
    if options.settings.simple_mode:
        return Skills()
    return list_skills(
        places=options.places, project=options.project, directory=options.directory, plugins=plugins.plugins
    )


def build_extensions(
    options: SessionOptions,
    plugins: Plugins,
    *,
    log: Conversation,
    hooks: Hooks,
    own: Registry,
    calls: ToolCalls,
    connections: Connections,
    start_agent: StartAgent,
    retune: Callable[[str, str], Callable[[], None]],
    emit: Callable[[TurnEvent], None],
    further: Callable[[], Sequence[TrustPart]] = tuple,
) -> Extensions:
    """Build what others brought; `own` are the tools of the session itself."""
    settings = options.settings
    skill_invoker = SkillInvoker(
        skills=find_skills(options, plugins),
        start_agent=start_agent,
        retune=retune,
        places=options.places,
        directory=options.directory,
        log=log,
        hooks=hooks,
        calls=calls,
        emit=emit,
        new_id=options.new_id,
    )
    skill_tool = SkillTool(skill_invoker.find, skill_invoker.invoke_for_model)
    if skill_invoker.has_any:
        own = own.with_tools([skill_tool])
    mcp_tools = McpTools(
        log=log,
        connections=connections,
        own=own,
        deferred_above=settings.tools.deferred_above,
        wait_seconds=settings.tools.server_wait_seconds * (1 if options.is_interactive else _ALONE),
        tells_instructions=options.system_prompt is None,
        calls=calls,
    )
    return Extensions(options, plugins, skill_invoker, mcp_tools, skill_tool, hooks, calls, emit, further)


def new_connections(options: SessionOptions, beside: Path, emit: Callable[[TurnEvent], None]) -> Connections:
    """Room for tool servers: the session's, or those of one agent."""
    around = ConnectionContext(
        environment=environment_for_others(options),
        directory=options.directory,
        logs=beside,
        connect_seconds=options.settings.tools.server_connect_seconds,
        call_seconds=options.settings.tools.server_call_seconds,
        version=options.version,
    )
    return Connections(around, lambda sentence: emit(Notice(sentence, "warning")))


def build_hook_effects(
    options: SessionOptions,
    *,
    extensions: Extensions,
    model: Callable[[str], Model],
    agent: RunAgent,
) -> Effects:
    """What hooks may do here: ask a model or an agent, call a tool of a server, judge a rule as permissions do."""

    async def ask(flow: Flow[HookVerdict], name: str) -> HookVerdict:
        chosen = model(name or options.settings.model.background or options.model)
        return await run_flow(flow, chosen, Request(chosen.name, ()))

    async def call(server: str, tool: str, arguments: JsonObject) -> str:
        answer = answer_from(await extensions.mcp_tools.connections.call(server, tool, arguments))
        text = answer.content
        if not isinstance(text, str):
            text = "\n".join(block.text for block in text if isinstance(block, Text))
        if answer.is_error:
            raise Unavailable(text)
        return text

    def covers(rule: str, tool: str, arguments: JsonObject) -> bool:
        calls = extensions.calls
        try:
            need = calls.tools.find(tool).need(arguments, calls.desk)
            alone = Policy(calls.permits.policy.project, calls.permits.policy.home).with_rule(rule, RuleKind.DENY)
        except (UserMistake, ToolMistake, Error):
            return roughly_covers(rule, tool, arguments)
        return decide(need, alone).verdict is Judged.DENY

    return Effects(ask=ask, agent=agent, call=call, covers=covers)


def folder_of(text: str, options: SessionOptions) -> Path:
    """A folder that settings name: from the home, or from the project."""
    return options.user_home / text[2:] if text.startswith("~/") else options.project / text


def _texts(part: TrustPart) -> tuple[str, ...]:
    document = json.loads(part.text)
    return tuple(map(str, document)) if isinstance(document, list) else ()
