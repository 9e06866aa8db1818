"""All MCP connections of a session: started together, listed, closed together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from reverie.amounts import format_count
from reverie.errors import Unavailable
from reverie.extensions.mcp.connection import Connection, ConnectionContext, ConnectionState
from reverie.extensions.mcp.servers import Server
from reverie.extensions.mcp.values import tool_name
from reverie.messages.blocks import JsonObject
from reverie.messages.injection import harmless
from reverie.tools.mcp.content import text_from
from reverie.tools.mcp.remote_tool import RemoteTool

MAX_TOOLS = 500
"""Of one server, also over time: what was once sent stays."""

MAX_INSTRUCTIONS_CHARS = 8_192
"""What a server says about itself is sent with every request."""


class Connections:
    """The servers of one session. `tell` hears sentences for the user."""

    def __init__(self, around: ConnectionContext, tell: Callable[[str], None]) -> None:
        self._around = around
        self._tell = tell
        self._all: dict[str, Connection] = {}
        self._tools: dict[str, RemoteTool] = {}
        self._is_closing = False
        self.version = 0
        """Grows with every change of what the servers offer."""

    @property
    def tools(self) -> tuple[RemoteTool, ...]:
        """Every tool that a server has offered so far; also those of a server that is away for the moment."""
        return tuple(self._tools.values())

    @property
    def instructions(self) -> tuple[tuple[str, str], ...]:
        """What each server says about its tools, by name."""
        instructions = (
            (each.server.name, each.offer.instructions[:MAX_INSTRUCTIONS_CHARS]) for each in self._all.values()
        )
        return tuple(sorted((name, text) for name, text in instructions if text.strip()))

    @property
    def prompts(self) -> tuple[tuple[str, str, str], ...]:
        """The prompts of servers as commands: name, description, names of arguments."""
        return tuple(
            (
                tool_name(each.server.tool_prefix, one.name),
                harmless(one.description),
                harmless(" ".join(f"[{name}]" for name in one.arguments)),
            )
            for each in self._all.values()
            for one in each.offer.prompts
        )

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """How it stands with each server, for people."""
        return tuple((name, _stands(each)) for name, each in sorted(self._all.items()))

    def start(self, servers: Iterable[Server]) -> None:
        """Connect to servers in the background; those that are known already are left as they are."""
        for server in servers:
            if server.name not in self._all:
                connection = Connection(server, self._around, self._on_change)
                self._all[server.name] = connection
                connection.start()

    async def wait_until_settled(self, timeout_seconds: float) -> None:
        """Wait until it is known of every server how connecting went, for a bounded time; say which are not there."""
        waiting = [asyncio.ensure_future(each.wait_until_settled()) for each in self._all.values()]
        if waiting:
            _, pending = await asyncio.wait(waiting, timeout=timeout_seconds)
            for task in pending:
                task.cancel()
        slow = [repr(name) for name, each in self._all.items() if each.state is ConnectionState.CONNECTING]
        if slow:
            self._tell(
                f"still connecting to {', '.join(slow)}; the request goes without their tools, which join when they "
                "are there (tools.server_wait_seconds sets how long to wait)"
            )

    @property
    def with_resources(self) -> tuple[Connection, ...]:
        """The connections whose servers have resources, by name."""
        return tuple(each for _, each in sorted(self._all.items()) if each.offer.has_resources)

    async def call(self, server: str, tool: str, arguments: JsonObject) -> JsonObject:
        """Call a tool by the names of the server's own. Raises `Unavailable`."""
        connection = self._all.get(server)
        if connection is None:
            raise Unavailable(f"no server {server!r} is connected here")
        return await connection.call(tool, arguments)

    async def prompt(self, command: str, words: list[str]) -> str | None:
        """The text of a prompt that the user called as `mcp__server__prompt`; None when there is none of that name."""
        for each in self._all.values():
            for prompt in each.offer.prompts:
                if tool_name(each.server.tool_prefix, prompt.name) == command:
                    last = len(prompt.arguments) - 1
                    # The last argument takes all that is left.
                    arguments = {
                        name: " ".join(words[place:]) if place == last else words[place]
                        for place, name in enumerate(prompt.arguments)
                        if place < len(words)
                    }
                    return text_from(await each.prompt(prompt.name, arguments))
        return None

    async def close(self) -> None:
        """End all conversations and processes."""
        self._is_closing = True
        await asyncio.gather(*(each.close() for each in self._all.values()))

    def _on_change(self, connection: Connection) -> None:
        if self._is_closing:
            return
        name = connection.server.name
        if connection.state in (ConnectionState.FAILED, ConnectionState.LOST):
            self._tell(f"the tool server {name!r} is not there: {connection.problem}")
            return
        self.version += 1
        has = sum(tool.server == name for tool in self._tools.values())
        for offered in connection.offer.tools:
            tool = RemoteTool(connection, offered)
            if tool.spec.name not in self._tools:
                has += 1
            if has > MAX_TOOLS:
                self._tell(f"the tool server {name!r} has more than {MAX_TOOLS} tools; the rest is left out")
                break
            taken = self._tools.get(tool.spec.name)
            if taken is not None and taken.server != name:
                self._tell(f"two servers have a tool {tool.spec.name!r}; the one of {taken.server!r} counts")
                continue
            self._tools[tool.spec.name] = tool


def _stands(connection: Connection) -> str:
    match connection.state:
        case ConnectionState.CONNECTED:
            return f"{connection.server.transport}, {format_count(len(connection.offer.tools), 'tool')}"
        case ConnectionState.CONNECTING:
            return "connecting"
        case _:
            return connection.problem
