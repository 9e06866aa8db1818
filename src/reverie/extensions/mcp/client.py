"""Connects to one MCP server, lists what it offers and passes calls on to it.

The only module that imports the official MCP SDK. Importing it takes a second: do it in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar

import anyio
import mcp_types
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from reverie.errors import Unavailable
from reverie.extensions.mcp.servers import Server, Transport
from reverie.extensions.mcp.values import Heard, LinkLost, Offer, Offered, OfferedPrompt, OfferedResource
from reverie.messages.blocks import JsonObject

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_Result = TypeVar("_Result")
_MAX_PAGES = 100
_SESSION_TERMINATED = "Session terminated"
"""The SDK's words for a server that no longer knows our session (HTTP 404); it did not look at the request."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 60.0
"""Between two listings of what a server offers; a server that changes often is asked less and less often."""

# The SDK logs quote what a server sends; without a handler they would be printed on the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())


async def hold_connection(
    server: Server,
    *,
    environment: Mapping[str, str],
    directory: Path,
    log: TextIO,
    version: str,
    connect_seconds: float,
    ready: Callable[[SdkLink, Offer], None],
    stop: asyncio.Event,
) -> None:
    """Connect, pass what the server offers to `ready` (again whenever it changes), and stay until `stop` is set.

    Everything happens in the calling task, as the SDK demands. Raises `Unavailable` when the server cannot be reached,
    and as soon as its side of the connection ends.
    """
    changed, ended = asyncio.Event(), asyncio.Event()

    async def handle_message(message: object) -> None:
        if isinstance(
            message,
            mcp_types.ToolListChangedNotification
            | mcp_types.PromptListChangedNotification
            | mcp_types.ResourceListChangedNotification,
        ):
            changed.set()

    with anyio.CancelScope(deadline=anyio.current_time() + connect_seconds) as scope:
        try:
            client = Client(
                _watch_transport(_transport(server, environment, directory, log), ended),
                client_info=mcp_types.Implementation(name="reverie", version=version or "0"),
                message_handler=handle_message,
            )
            async with client:
                link = SdkLink(client)
                ready(link, await _list_offer(client))
                scope.deadline = float("inf")
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_listen, client, changed)
                    pause_seconds = _FIRST_PAUSE_SECONDS
                    while not stop.is_set():
                        await _wait_for_any(stop, changed, ended)
                        if ended.is_set():
                            raise Unavailable("the server closed the connection")
                        if changed.is_set():
                            with suppress(TimeoutError):
                                await asyncio.wait_for(stop.wait(), pause_seconds)
                            pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)
                            changed.clear()
                            ready(link, await _list_offer(client))
                    tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise Unavailable(_describe_problem(_first_problem(group))) from group
        except (MCPError, OSError, ValueError, RuntimeError) as problem:
            raise Unavailable(_describe_problem(problem)) from problem
    if scope.cancelled_caught:
        raise Unavailable(f"no answer within {connect_seconds:g} s")


class SdkLink:
    """Passes calls on to one connected client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, arguments: JsonObject, *, timeout_seconds: float, heard: Heard) -> JsonObject:
        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
            heard(f"{share} {message}" if message else share)

        with _translate_errors(timeout_seconds):
            result = await self._client.session.call_tool(
                tool, dict(arguments), read_timeout_seconds=timeout_seconds, progress_callback=report_progress
            )
        return _as_json(result)

    async def prompt(self, name: str, arguments: dict[str, str], *, timeout_seconds: float) -> tuple[JsonObject, ...]:
        result = await _await_answer(self._client.session.get_prompt(name, arguments), timeout_seconds)
        return tuple(_as_json(message.content) for message in result.messages)

    async def resources(self, *, timeout_seconds: float) -> tuple[OfferedResource, ...]:
        return await _await_answer(_list_resources(self._client), timeout_seconds)

    async def read_resource(self, uri: str, *, timeout_seconds: float) -> tuple[JsonObject, ...]:
        result = await _await_answer(self._client.read_resource(uri), timeout_seconds)
        return tuple(_as_json(content) for content in result.contents)


async def _await_answer(request: Awaitable[_Result], timeout_seconds: float) -> _Result:
    """Await the answer to a request within a time limit. Raises `LinkLost` and `Unavailable`."""
    try:
        async with asyncio.timeout(timeout_seconds):
            with _translate_errors(timeout_seconds):
                return await request
    except TimeoutError:
        raise Unavailable(f"no answer within {timeout_seconds:g} s") from None


@contextmanager
def _translate_errors(timeout_seconds: float) -> Iterator[None]:
    """Raise errors of ours in place of those of the SDK."""
    try:
        yield
    except MCPError as problem:
        if problem.error.message == _SESSION_TERMINATED:
            raise LinkLost("the server no longer recognises this session", was_sent=False) from problem
        if problem.error.code == CONNECTION_CLOSED:
            raise LinkLost("the connection is closed") from problem
        if problem.error.code == REQUEST_TIMEOUT:
            raise Unavailable(f"no answer within {timeout_seconds:g} s") from problem
        raise Unavailable(problem.error.message) from problem
    except (anyio.ClosedResourceError, anyio.BrokenResourceError) as problem:
        raise LinkLost("the connection is closed", was_sent=False) from problem
    except (RuntimeError, ValueError) as problem:
        raise Unavailable(str(problem)) from problem


class _WatchedStream:
    """The messages of a server; sets `ended` once there are no more."""

    def __init__(self, inner: Any, ended: asyncio.Event) -> None:
        self._inner = inner
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> _WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except StopAsyncIteration:
            self._ended.set()
            raise

    async def receive(self) -> Any:
        try:
            return await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._ended.set()
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> bool | None:
        passed: bool | None = await self._inner.__aexit__(*problem)
        return passed


@asynccontextmanager
async def _watch_transport(transport: AbstractAsyncContextManager[Any], ended: asyncio.Event) -> AsyncIterator[Any]:
    """The same transport; `ended` is set when the server closes it, not only when the next call fails."""
    async with transport as (reads, writes):
        yield _WatchedStream(reads, ended), writes


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str]) -> AsyncIterator[TransportStreams]:
    async with (
        create_mcp_http_client(headers) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


def _transport(
    server: Server, environment: Mapping[str, str], directory: Path, log: TextIO
) -> AbstractAsyncContextManager[Any]:
    match server.transport:
        case Transport.STDIO:
            parameters = StdioServerParameters(
                command=server.command,
                args=list(server.args),
                env={**environment, **dict(server.env)},
                cwd=server.directory or directory,
                encoding_error_handler="replace",
            )
            return stdio_client(parameters, errlog=log)
        case Transport.HTTP:
            return _over_http(server.url, dict(server.headers))
        case Transport.SSE:
            return sse_client(server.url, headers=dict(server.headers))


async def _list_offer(client: Client) -> Offer:
    capabilities = client.server_capabilities
    tools: list[Offered] = []
    prompts: list[OfferedPrompt] = []
    if capabilities.tools is not None:
        cursor = None
        for _ in range(_MAX_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            tools += map(_tool_from_sdk, page.tools)
            cursor = page.next_cursor
            if not cursor:
                break
    if capabilities.prompts is not None:
        listed = await client.list_prompts(cache_mode="refresh")
        prompts += [
            OfferedPrompt(prompt.name, prompt.description or "", tuple(each.name for each in prompt.arguments or ()))
            for prompt in listed.prompts
        ]
    has_resources = False
    if capabilities.resources is not None:
        # Many servers declare the capability and have no resources.
        with suppress(MCPError):
            has_resources = bool(await _list_resources(client))
    return Offer(client.instructions or "", tuple(tools), tuple(prompts), has_resources)


async def _list_resources(client: Client) -> tuple[OfferedResource, ...]:
    resources: list[OfferedResource] = []
    cursor = None
    for _ in range(_MAX_PAGES):
        page = await client.list_resources(cursor=cursor, cache_mode="refresh")
        resources += [
            OfferedResource(str(row.uri), row.title or row.name, row.description or "", row.mime_type or "")
            for row in page.resources
        ]
        cursor = page.next_cursor
        if not cursor:
            break
    templates = await client.list_resource_templates(cache_mode="refresh")
    return (
        *resources,
        *(
            OfferedResource(row.uri_template, row.title or row.name, row.description or "", row.mime_type or "", True)
            for row in templates.resource_templates
        ),
    )


async def _listen(client: Client, changed: asyncio.Event) -> None:
    """Subscribe to changes where the protocol requires it; older servers send them unasked."""
    with suppress(MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError):
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as events:
            async for _ in events:
                changed.set()


def _tool_from_sdk(tool: mcp_types.Tool) -> Offered:
    hints = tool.annotations
    return Offered(
        tool.name,
        tool.description or "",
        tool.input_schema,
        title=tool.title or (hints.title if hints and hints.title else ""),
        is_read_only=bool(hints and hints.read_only_hint),
    )


def _as_json(result: Any) -> JsonObject:
    document: JsonObject = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return document


async def _wait_for_any(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


def _first_problem(group: BaseExceptionGroup[BaseException]) -> BaseException:
    problem: BaseException = group
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


def _describe_problem(problem: BaseException) -> str:
    if isinstance(problem, MCPError):
        return problem.error.message
    if isinstance(problem, FileNotFoundError):
        return f"program not found: {problem.filename or problem}"
    return str(problem) or type(problem).__name__
