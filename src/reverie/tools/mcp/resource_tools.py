"""ListMcpResources and ReadMcpResource: what connected servers offer to read. Offered once a server has resources."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reverie.errors import Unavailable
from reverie.extensions.mcp.connection import Connection
from reverie.extensions.mcp.values import OfferedResource
from reverie.messages.blocks import JsonObject
from reverie.messages.injection import harmless
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.mcp.content import resource_answer
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake

LIST_NAME, READ_NAME = "ListMcpResources", "ReadMcpResource"
MAX_RESOURCES = 500
"""Of all servers together; the rest is counted."""


class ListMcpResources:
    """Lists the resources of one server or of all."""

    def __init__(self, connections: Callable[[], Sequence[Connection]]) -> None:
        self._connections = connections
        self.spec = make_tool_spec(
            LIST_NAME, "list_mcp_resources", {"server": field("string", "Name of one server; default: all servers.")}
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        return Need(LIST_NAME, Act.NONE, summary=f"List resources of {text(arguments, 'server') or 'all servers'}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        named = text(arguments, "server")
        lines: list[str] = []
        for connection in [_get_connection(self._connections(), named)] if named else self._connections():
            try:
                resources = await connection.resources()
            except Unavailable as problem:
                lines.append(f"{connection.server.name}: {problem}")
                continue
            lines += [_line(connection.server.name, resource) for resource in resources]
        if len(lines) > MAX_RESOURCES:
            lines[MAX_RESOURCES:] = [f"({len(lines) - MAX_RESOURCES:,} more resources are left out)"]
        return ToolAnswer(harmless("\n".join(lines)) or "No resources.")


class ReadMcpResource:
    """Reads one resource."""

    def __init__(self, connections: Callable[[], Sequence[Connection]]) -> None:
        self._connections = connections
        self.spec = make_tool_spec(
            READ_NAME,
            "read_mcp_resource",
            {
                "server": field("string", "Name of the server.", minLength=1),
                "uri": field("string", "Address of the resource, as it was listed.", minLength=1),
            },
            required=("server", "uri"),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        return Need(
            READ_NAME, Act.OTHER, summary=f"{text(arguments, 'server')}: read {harmless(text(arguments, 'uri'))}"
        )

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        connection = _get_connection(self._connections(), text(arguments, "server"))
        try:
            return resource_answer(await connection.read_resource(text(arguments, "uri")))
        except Unavailable as problem:
            return ToolAnswer(harmless(f"{connection.server.name}: {problem}"), is_error=True)


def _get_connection(connections: Sequence[Connection], name: str) -> Connection:
    for connection in connections:
        if connection.server.name == name:
            return connection
    names = ", ".join(connection.server.name for connection in connections)
    raise ToolMistake(f"No connected server {name!r} has resources. Servers with resources: {names or 'none'}.")


def _line(server: str, resource: OfferedResource) -> str:
    about = " ".join(filter(None, [resource.name, resource.description and f"({resource.description})"]))
    kind = "template" if resource.is_template else resource.mime_type
    return f"- {server}: {resource.uri}{f' [{kind}]' if kind else ''} {about}".rstrip()
