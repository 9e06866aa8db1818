"""The MCP server itself: tools, resources and a prompt over the official SDK, which only this package imports.

Importing the SDK takes a second or two; nothing but `reverie mcp` does. Calls run in threads: a client that cancels a
read gets its answer at once, a write that has begun is finished first.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from reverie import __version__
from reverie.apps.mcp.resources import TEMPLATES, list_resources, read_resource
from reverie.apps.mcp.served_memories import MemoryCache, OpenMemory, existing_directories
from reverie.apps.mcp.tools import TOOLS, MemoryTool, MemoryToolCall
from reverie.context.prompt import fill, read_prompt
from reverie.errors import Error
from reverie.messages.injection import harmless
from reverie.tools.schema import find_problem

_Result = TypeVar("_Result")
_Context = ServerRequestContext[Any, Any]
_PACKAGE = "reverie.apps.mcp"
_MARKDOWN = "text/markdown"
_PAGE = 200
"""How many resources one page of their list has."""
_ROOTS = "roots"
"""The key under which a client of the newest protocol answers with its roots."""
_ROOTS_SECONDS = 10.0
_CLIENTS = 256
"""Of how many HTTP sessions the roots are kept; the oldest is asked again."""
_PROMPT = "save_memory"

# The SDK logs what a client sends; on stdio that would stand between the lines of the host's log.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class MemoryServer:
    """Serves the memories of one directory, or of those that each client works in."""

    def __init__(self, open_memory: OpenMemory, *, project: Path | None, directory: Path) -> None:
        """`project` is served to every client; without it the client's roots are, and `directory` if it has none."""
        self._memories = MemoryCache(open_memory)
        self._project = project
        self._directory = directory
        self._roots: dict[str, tuple[Path, ...]] = {}
        self._writing = anyio.Lock()
        self._tools = {tool.name: tool for tool in TOOLS}
        self.sdk: Server[Any] = Server(
            "reverie",
            version=__version__,
            title="Reverie",
            description="Long-term memory of a project and its user, shared by all agents.",
            instructions=read_prompt("instructions", _PACKAGE),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        self.sdk.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._forget_roots
        )

    def close(self) -> None:
        """Close the memories."""
        self._memories.close()

    async def _list_tools(self, _: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(tool) for tool in TOOLS])

    async def _call_tool(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = self._tools.get(params.name)
        if tool is None:
            names = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}; there are {names}")
        arguments = params.arguments or {}
        problem = find_problem(arguments, tool.input_schema)
        if problem is not None:
            return _failed(f"{tool.name} was not run: {problem}. Call it again with this mended.")
        directories = await self._find_directories(context, params.input_responses)
        if isinstance(directories, types.InputRequiredResult):
            return directories
        loop, is_cancelled = asyncio.get_running_loop(), False

        def progress(done: int, of: int) -> None:
            if is_cancelled:
                raise Error("the client no longer waits for the answer")
            report = context.session.report_progress(done, of, f"reading past sessions: {done / 1e6:.0f} MB")
            asyncio.run_coroutine_threadsafe(report, loop)

        def run() -> Mapping[str, Any]:
            return tool.run(
                MemoryToolCall(self._memories.serve(directories), arguments, _name_client(context), progress)
            )

        try:
            if tool.is_read_only:
                document = await _run_in_thread(run)
            else:
                async with self._writing:
                    document = await _run_in_thread(run, is_abandoned=False)
        except (Error, OSError) as failure:
            return _failed(f"{tool.name} failed: {failure}")
        finally:
            is_cancelled = True
        document = _clean(document)
        text = json.dumps(document[tool.list_key] if tool.list_key else document, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=document)

    async def _list_resources(
        self, context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None and params.cursor else "0"
        if not cursor.isdigit():
            raise MCPError(types.INVALID_PARAMS, f"{cursor!r} is not a cursor of this server")
        directories = await self._find_directories(context, None)
        if isinstance(directories, types.InputRequiredResult):
            directories = (self._directory,)  # a list cannot ask back; a client that called a tool has told its roots
        every = await _run_in_thread(lambda: _attempt(lambda: list(list_resources(self._memories.serve(directories)))))
        start = int(cursor)
        page = every[start : start + _PAGE]
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri,
                    name=each.name,
                    title=_clean(each.title),
                    description=_clean(each.description),
                    mime_type=_MARKDOWN,
                )
                for each in page
            ],
            next_cursor=str(start + _PAGE) if start + _PAGE < len(every) else None,
        )

    async def _list_templates(
        self, _: _Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                uri_template=template,
                name=f"{area}-topic",
                title=f"A memory of the {area}",
                description="A memory by its file name or its name.",
                mime_type=_MARKDOWN,
            )
            for template, area in zip(TEMPLATES, ("project", "user"), strict=True)
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        uri = str(params.uri)
        directories = await self._find_directories(context, params.input_responses)
        if isinstance(directories, types.InputRequiredResult):
            return directories
        text = await _run_in_thread(lambda: _attempt(lambda: read_resource(self._memories.serve(directories), uri)))
        contents = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=_clean(text))
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, _: _Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        what = types.PromptArgument(name="what", description="What to save; everything that matters if left out.")
        prompt = types.Prompt(
            name=_PROMPT,
            title="Save to memory",
            description="Save what is worth remembering of this conversation.",
            arguments=[what],
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(self, _: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != _PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r}; there is {_PROMPT}")
        what = (params.arguments or {}).get("what", "").strip()
        text = fill(read_prompt("save", _PACKAGE), {"what": f", in particular: {what}" if what else ""})
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def _find_directories(
        self, context: _Context, responses: Mapping[str, Any] | None
    ) -> tuple[Path, ...] | types.InputRequiredResult:
        """The directories that a client works in, or the question for them that it has to answer first."""
        if self._project is not None:
            return (self._project,)
        capabilities = context.session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return (self._directory,)
        client = _identify_client(context)
        if client is not None and client in self._roots:
            return self._roots[client]
        answer = (responses or {}).get(_ROOTS)
        if isinstance(answer, types.ListRootsResult):
            return self._note_roots(client, answer)
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})
        try:
            # In the stream of this request: a client need not hold another one open.
            related = ServerMessageMetadata(related_request_id=context.request_id)
            answer = await context.session.send_request(
                types.ListRootsRequest(), types.ListRootsResult, _ROOTS_SECONDS, related
            )
        except (MCPError, NoBackChannelError, ValueError):
            return (self._directory,)  # it says that it has roots, and does not tell them
        return self._note_roots(client, answer)

    def _note_roots(self, client: str | None, answer: types.ListRootsResult) -> tuple[Path, ...]:
        directories = existing_directories(str(root.uri) for root in answer.roots) or (self._directory,)
        if client is not None:
            if len(self._roots) >= _CLIENTS:
                del self._roots[next(iter(self._roots))]
            self._roots[client] = directories
        return directories

    async def _forget_roots(self, context: _Context, _: types.NotificationParams | None) -> None:
        self._roots.pop(_identify_client(context) or "", None)


async def serve_stdio(server: MemoryServer) -> None:
    """Serve the one client at standard input and output until it leaves."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read_stream, write_stream):
        await server.sdk.run(read_stream, write_stream, server.sdk.create_initialization_options())


def _describe(tool: MemoryTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.is_destructive,
            idempotent_hint=not tool.is_destructive,
            open_world_hint=False,
        ),
    )


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=_clean(message))], is_error=True)


async def _run_in_thread(run: Callable[[], _Result], *, is_abandoned: bool = True) -> _Result:
    """Run it in a thread; when the call is cancelled, leave it to itself or wait until it is done."""
    return await anyio.to_thread.run_sync(run, abandon_on_cancel=is_abandoned)


def _attempt(run: Callable[[], _Result]) -> _Result:
    """Run it; a failure becomes an error of the protocol."""
    try:
        return run()
    except (Error, OSError) as failure:
        raise MCPError(types.INVALID_PARAMS, str(failure)) from failure


def _clean(value: Any) -> Any:
    """Texts without invisible characters and tags of a host, and such as UTF-8 can hold."""
    if isinstance(value, str):
        return harmless(value).encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value


def _name_client(context: _Context) -> str:
    params = context.session.client_params
    return " ".join(params.client_info.name.split())[:60] if params is not None else ""


def _identify_client(context: _Context) -> str | None:
    """The client: the only one on stdio, its session over HTTP; None where each request stands alone."""
    if context.request is None:
        return ""
    session = context.request.headers.get("mcp-session-id")
    return str(session) if session else None
