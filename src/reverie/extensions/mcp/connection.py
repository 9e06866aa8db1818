"""One MCP server connection: connected in the background, reconnected when lost.

A server that cannot be reached never fails anything but its own calls. Closing ends its process.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import TextIO, TypeVar

from reverie.errors import Error, Unavailable
from reverie.extensions.mcp.servers import Server
from reverie.extensions.mcp.values import Heard, Link, LinkLost, Offer, OfferedResource
from reverie.messages.blocks import JsonObject
from reverie.values import value

_Result = TypeVar("_Result")
_CLOSE_SECONDS = 8.0
"""The SDK asks a program to end, then insists; both within this time."""
MAX_LOG_BYTES = 16 * 1024 * 1024
_LOOK_SECONDS = 1.0
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]")


class ConnectionState(StrEnum):
    """How it stands with a server."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    FAILED = "failed"
    LOST = "lost"


@value
class ConnectionContext:
    """What connections need of the session."""

    environment: Mapping[str, str] = field(repr=False)
    directory: Path
    logs: Path
    """The folder for what the programs of servers print on the side."""
    connect_seconds: float = 30.0
    call_seconds: float = 600.0
    version: str = ""


class Connection:
    """The conversation with one server. `changed` hears whenever its state or its offer is another."""

    def __init__(self, server: Server, context: ConnectionContext, changed: Callable[[Connection], None]) -> None:
        self.server = server
        self.state = ConnectionState.CONNECTING
        self.problem = ""
        self.offer = Offer()
        self._context = context
        self._on_change = changed
        self._link: Link | None = None
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._is_closed = False

    def start(self) -> None:
        """Connect in the background; `settled` says when it is known how that went."""
        if self._task is not None and not self._task.done():
            return
        self.state, self.problem = ConnectionState.CONNECTING, ""
        self._settled, self._stop = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._hold(self._stop), name=f"mcp {self.server.name}")

    async def wait_until_settled(self) -> None:
        """Wait until the server is connected or has failed."""
        await self._settled.wait()

    async def call(self, tool: str, arguments: JsonObject, heard: Heard = lambda _: None) -> JsonObject:
        """Call a tool; a server that was lost is connected again first. Raises `Unavailable`."""
        return await self._ask(
            lambda link: link.call(tool, arguments, timeout_seconds=self._limit_seconds, heard=heard), may_repeat=False
        )

    async def prompt(self, name: str, arguments: dict[str, str]) -> tuple[JsonObject, ...]:
        """The content blocks of a prompt of the server. Raises `Unavailable`."""
        return await self._ask(lambda link: link.prompt(name, arguments, timeout_seconds=self._limit_seconds))

    async def resources(self) -> tuple[OfferedResource, ...]:
        """The resources of the server. Raises `Unavailable`."""
        return await self._ask(lambda link: link.resources(timeout_seconds=self._limit_seconds))

    async def read_resource(self, uri: str) -> tuple[JsonObject, ...]:
        """The contents of a resource. Raises `Unavailable`."""
        return await self._ask(lambda link: link.read_resource(uri, timeout_seconds=self._limit_seconds))

    async def _ask(self, ask: Callable[[Link], Awaitable[_Result]], *, may_repeat: bool = True) -> _Result:
        """Ask the server; where it is lost, connect and ask once more unless it may have acted on the request."""
        link = await self._get_link()
        try:
            return await ask(link)
        except LinkLost as lost:
            await self._lose()
            if lost.was_sent and not may_repeat:
                raise Unavailable(
                    f"the connection to server {self.server.name!r} was lost during this call; the next call reconnects"
                ) from lost
        link = await self._get_link()
        try:
            return await ask(link)
        except LinkLost as lost:
            await self._lose()
            raise Unavailable(
                f"the connection to server {self.server.name!r} was lost twice; check the server, then call again"
            ) from lost

    @property
    def _limit_seconds(self) -> float:
        return self.server.timeout_seconds or self._context.call_seconds

    async def close(self) -> None:
        """End the conversation, and the server's process with it."""
        self._is_closed = True
        await self._end()

    async def _end(self) -> None:
        self._stop.set()
        if self._task is None:
            return
        # One that is still connecting does not look at `stop`.
        patience = 0.0 if self.state is ConnectionState.CONNECTING else _CLOSE_SECONDS
        _, unfinished = await asyncio.wait({self._task}, timeout=patience)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _get_link(self) -> Link:
        if self.state in (ConnectionState.LOST, ConnectionState.FAILED) and not self._is_closed:
            self.start()
        if self.state is ConnectionState.CONNECTING:
            await self.wait_until_settled()
        if self._link is None:
            raise Unavailable(
                f"server {self.server.name!r} is not reachable: {self.problem or 'the connection is closed'}"
            )
        return self._link

    async def _lose(self) -> None:
        self._link = None
        await self._end()
        self._tell(ConnectionState.LOST, "the connection was lost")

    async def _hold(self, stop: asyncio.Event) -> None:
        def ready(link: Link, offer: Offer) -> None:
            self._link, self.offer = link, offer
            self._tell(ConnectionState.CONNECTED)

        try:
            client = await asyncio.to_thread(_sdk)
            self._context.logs.mkdir(parents=True, exist_ok=True)
            name = _NOT_IN_A_NAME.sub("_", self.server.name)
            path = self._context.logs / f"mcp-{name}.log"
            path.unlink(missing_ok=True)
            with path.open("a", encoding="utf-8") as log:
                watching = asyncio.create_task(_keep_short(log))
                try:
                    await client.hold_connection(
                        self.server,
                        environment=self._context.environment,
                        directory=self._context.directory,
                        log=log,
                        version=self._context.version,
                        connect_seconds=self._context.connect_seconds,
                        ready=ready,
                        stop=stop,
                    )
                finally:
                    watching.cancel()
        except (Error, OSError) as problem:
            self._tell(ConnectionState.FAILED, str(problem))
        except Exception as problem:  # noqa: BLE001 - the SDK of others must not end the session
            self._tell(ConnectionState.FAILED, f"{type(problem).__name__}: {problem}")
        finally:
            self._link = None
            self._settled.set()

    def _tell(self, state: ConnectionState, problem: str = "") -> None:
        self.state, self.problem = state, problem
        self._settled.set()
        self._on_change(self)


async def _keep_short(log: TextIO) -> None:
    """Begin the log anew where it grows too long; the server writes at its end, wherever that is."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if os.fstat(log.fileno()).st_size > MAX_LOG_BYTES:
            os.ftruncate(log.fileno(), 0)


def _sdk() -> ModuleType:
    try:
        from reverie.extensions.mcp import client
    except ImportError as missing:
        raise Unavailable(
            f"MCP servers require {missing.name}, which is not installed; run `pip install 'reverie[mcp]'`"
        ) from None
    return client
