"""Tools of servers in a running session: who is connected, which schemas are sent, what is loaded on demand.

What was sent stays in its place: tools only ever join behind the others, also when their server is away. With many
tools only the names are announced, and `ToolSearch` loads some. Each change of tools or of what servers say about them
is a `PromptEntry`: a break that is announced.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from reverie.amounts import format_count
from reverie.context.conversation import Conversation
from reverie.context.restore import RestoredAttachment
from reverie.extensions.mcp.connection import Connection
from reverie.extensions.mcp.servers import Server
from reverie.messages.blocks import Json
from reverie.messages.entries import PromptEntry, ToolSpec
from reverie.messages.reminder import reminder
from reverie.session.loop import JoinedAttachment
from reverie.session.system_prompt import with_servers
from reverie.session.tool_calls import ToolCalls
from reverie.tools.mcp.connections import Connections
from reverie.tools.mcp.remote_tool import RemoteTool
from reverie.tools.mcp.resource_tools import LIST_NAME, READ_NAME, ListMcpResources, ReadMcpResource
from reverie.tools.registry import Registry
from reverie.tools.skill import NAME as SKILL
from reverie.tools.tool import Tool
from reverie.tools.tool_search import NAME as SEARCH
from reverie.tools.tool_search import ToolSearch

DEFERRED = "deferred_tools_delta"
_REMOTE = "mcp__"
_INTRODUCTION = (
    "These tools of connected servers can be used, but are not loaded. Load what you need with ToolSearch before you "
    "call it:"
)


@dataclass(slots=True)
class McpTools:
    """Keeps the tools of one session in step with its servers."""

    log: Conversation
    connections: Connections
    own: Registry
    """The tools that do not depend on servers."""
    deferred_above: int
    wait_seconds: float
    tells_instructions: bool
    """Whether the system text has a section for what servers say."""
    calls: ToolCalls
    """Takes the tools that may be called from now on."""
    _asked: set[str] = field(default_factory=set)
    _search: ToolSearch | None = None
    _resource_tools: tuple[Tool, ...] = ()
    _started: float = 0.0

    def start(self, servers: Sequence[Server]) -> None:
        """Connect in the background."""
        self._started = time.monotonic()
        self.connections.start(servers)

    async def ready(self) -> None:
        """Wait for servers that are nearly there; never longer than was agreed on since they were started."""
        remaining_seconds = self._started + self.wait_seconds - time.monotonic()
        if remaining_seconds > 0:
            await self.connections.wait_until_settled(remaining_seconds)

    def at_boundary(self) -> Sequence[JoinedAttachment]:
        """Bring tools and system text up to date before a request; the names of tools that wait, where they are new."""
        remote = self.connections.tools
        if not remote and not self.connections.with_resources and SKILL not in self.own:
            return ()
        self._renew(remote)
        return self._delta()

    @property
    def waiting(self) -> tuple[ToolSpec, ...]:
        """The tools that could be loaded."""
        loaded = self._list_loaded()
        return tuple(tool.spec for tool in self.connections.tools if tool.spec.name not in loaded)

    @property
    def discovered(self) -> tuple[str, ...]:
        """The tools that were loaded on demand."""
        many = len(self.connections.tools) > self.deferred_above
        return tuple(sorted(self._list_loaded())) if many else ()

    def returning(self) -> tuple[RestoredAttachment, ...]:
        """What is announced again after a compaction."""
        names = [spec.name for spec in self.waiting]
        return (RestoredAttachment(DEFERRED, _render_listing(names), {"addedNames": [*names]}),) if names else ()

    def registry(self) -> Registry:
        """All tools that may be called now."""
        loaded = self._list_loaded()
        remote: list[Tool] = [tool for tool in self.connections.tools if tool.spec.name in loaded]
        if len(remote) < len(self.connections.tools) or SEARCH in self._list_sent():
            self._search = self._search or ToolSearch(lambda: self.waiting, self._asked.update)
            remote.insert(0, self._search)
        if self.connections.with_resources or LIST_NAME in self._list_sent():
            self._resource_tools = self._resource_tools or self._make_resource_tools()
            remote += self._resource_tools
        return self.own.with_tools(remote)

    def _make_resource_tools(self) -> tuple[Tool, ...]:
        def connections() -> tuple[Connection, ...]:
            return self.connections.with_resources

        return ListMcpResources(connections), ReadMcpResource(connections)

    def _list_loaded(self) -> set[str]:
        """Sent once is sent for good; the rest waits where there are many."""
        remote = {tool.spec.name for tool in self.connections.tools}
        if len(remote) <= self.deferred_above:
            return remote
        return remote & (self._asked | self._list_sent())

    def _list_sent(self) -> set[str]:
        return {spec.name for spec in self.log.view.tools}

    def _renew(self, remote: Sequence[RemoteTool]) -> None:
        view = self.log.view
        registry = self.registry()
        self.calls.tools = registry
        # After a compaction everything is rendered anew and whatever was loaded must be known then.
        self._asked |= self._list_loaded() if len(remote) > self.deferred_above else set()
        current = {spec.name: spec for spec in registry.specs}
        sent = {spec.name for spec in view.tools}
        tools = tuple(current.get(spec.name, spec) if _comes_and_goes(spec) else spec for spec in view.tools)
        joining = tuple(spec for spec in registry.specs if spec.name not in sent and _comes_and_goes(spec))
        system = view.system
        if self.tells_instructions:
            system = with_servers(system, self.connections.instructions)
        if (system, (*tools, *joining)) != (view.system, view.tools):
            self.log.append(PromptEntry(self.log.envelope(), system, (*tools, *joining)))

    def _delta(self) -> Sequence[JoinedAttachment]:
        announced = find_announced_names(self.log, DEFERRED)
        fresh = [spec.name for spec in self.waiting if spec.name not in announced]
        if not fresh:
            return ()
        data: dict[str, Json] = {"addedNames": [*fresh]}
        told_now = reminder(_render_listing(fresh))
        return (JoinedAttachment(DEFERRED, told_now, f"{format_count(len(fresh), 'tool')} can be loaded", data),)


def find_announced_names(log: Conversation, *labels: str) -> set[str]:
    """The names that attachments of these kinds list in what the model sees now, a line each."""
    lines = (line for item in log.view.items if item.label in labels for line in item.message.text.splitlines())
    return {line[2:].partition(": ")[0] for line in lines if line.startswith("- ")}


def _comes_and_goes(spec: ToolSpec) -> bool:
    return spec.name.startswith(_REMOTE) or spec.name in (SEARCH, SKILL, LIST_NAME, READ_NAME)


def _render_listing(names: Sequence[str]) -> str:
    return "\n".join([_INTRODUCTION, *(f"- {name}" for name in names)])
