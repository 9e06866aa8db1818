"""The MCP servers and hooks of one subagent: those of the session, and those that its role brings along.

A server that the role brings is connected before the subagent starts and closed with it; the user agreed to it with
the role. A server that cannot be reached costs a notice and nothing else. Hooks of the session are fired with the id
and type of the agent, and then those of the role.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from reverie.extensions.hooks.verdict import NOTHING, FiresHooks, HookVerdict, NoHooks, merge_verdicts
from reverie.extensions.mcp.servers import parse_servers
from reverie.messages.blocks import Json, JsonObject
from reverie.session.options import SessionOptions
from reverie.session.subagents.definitions import Definition
from reverie.tools.mcp.connections import Connections
from reverie.tools.tool import Tool
from reverie.values import value


@value
class OwnServers:
    """What an agent has besides the tools of its parent."""

    tools: tuple[Tool, ...] = ()
    instructions: tuple[tuple[str, str], ...] = ()
    """What each server says about its tools, by name."""
    brought: Connections | None = None

    async def close(self) -> None:
        """End the servers that it brought."""
        if self.brought is not None:
            await self.brought.close()


NO_SERVERS = OwnServers()


async def connect_servers(
    role: Definition,
    options: SessionOptions,
    *,
    session: Connections,
    connections: Callable[[], Connections],
    tell: Callable[[str], None],
) -> OwnServers:
    """Connect to the servers of a role; `session` are those that run anyway, `connections` makes room for others."""
    named, brought = _read(role.servers)
    shared = [tool for tool in session.tools if tool.server in named]
    connected = {name for name, _ in session.rows}
    for name in named:
        if name not in connected:
            tell(f"agent {role.name}: no server {name!r} is connected in this session")
    instructions = tuple((name, text) for name, text in session.instructions if name in named)
    if not brought:
        return OwnServers(tuple(shared), instructions)
    values = {**options.environment, "CLAUDE_PROJECT_DIR": str(options.project)}
    servers = parse_servers(brought, source="agent", place=role.place, directory=options.project, values=values)
    for problem in servers.problems:
        tell(problem)
    own = connections()
    try:
        own.start(servers.ready)
        await own.wait_until_settled(options.settings.tools.server_connect_seconds)
    except BaseException:
        await own.close()
        raise
    return OwnServers((*shared, *own.tools), (*instructions, *own.instructions), own)


def _read(servers: str) -> tuple[tuple[str, ...], dict[str, Json]]:
    """The names of servers, and the entries of others, as a role writes them: a text, a table, or a list of both."""
    block: Json = json.loads(servers) if servers else []
    named: list[str] = []
    brought: dict[str, Json] = {}
    for item in block if isinstance(block, list) else [block]:
        if isinstance(item, str):
            named += [name.strip() for name in item.split(",") if name.strip()]
        elif isinstance(item, dict):
            for name, entry in item.items():
                if isinstance(entry, dict):
                    brought[name] = entry
                else:
                    named.append(name)
    return tuple(dict.fromkeys(named)), brought


STARTED, ENDED = "SubagentStart", "SubagentStop"
_OF_THE_SESSION = frozenset({"UserPromptSubmit", "SessionStart", "SessionEnd"})
"""Events of the session as a whole: a child's prompt is no user's."""


@dataclass(slots=True)
class ChildHooks:
    """Fires hooks for one child agent."""

    session: FiresHooks
    facts: JsonObject
    """`agent_id` and `agent_type`, told with every event."""
    own: FiresHooks = NoHooks()  # noqa: RUF009 - it has no state

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:
        """The verdict of the hooks of the session and of the role."""
        if event in _OF_THE_SESSION:
            return NOTHING
        facts = {**self.facts, **payload}
        if event in (STARTED, ENDED):
            subject = str(self.facts.get("agent_type", ""))
        verdict = await self.session.fire(event, facts, subject=subject)
        return merge_verdicts([verdict, await self.own.fire(event, facts, subject=subject)])
