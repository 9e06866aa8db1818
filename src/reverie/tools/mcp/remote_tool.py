"""A tool of an MCP server. Its effects are unknown, so rules for `mcp__…` names decide on every call."""

from __future__ import annotations

from reverie.errors import Unavailable
from reverie.extensions.mcp.connection import Connection
from reverie.extensions.mcp.values import Offered, tool_name
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.codec import encode_json
from reverie.messages.entries import ToolSpec
from reverie.messages.injection import harmless
from reverie.permissions.need import Act, Need
from reverie.tools.desk import Desk
from reverie.tools.mcp.content import answer_from
from reverie.tools.tool import ToolAnswer

MAX_DESCRIPTION_CHARS = 8_192
"""A longer description is cut: it is sent with every request."""
MAX_SCHEMA_BYTES = 65_536
_ANY_OBJECT: JsonObject = {"type": "object", "properties": {}}


class RemoteTool:
    """Passes calls on to a connection."""

    def __init__(self, connection: Connection, offered: Offered) -> None:
        self._connection = connection
        self._offered = offered
        schema = _clean_schema(offered.input_schema)
        description = harmless(offered.description)[:MAX_DESCRIPTION_CHARS]
        self.spec = ToolSpec(tool_name(connection.server.tool_prefix, offered.name), description, schema)

    @property
    def server(self) -> str:
        """The name of its server."""
        return self._connection.server.name

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        name = self._offered.title or self._offered.name
        preview = encode_json(dict(arguments)).decode()
        return Need(self.spec.name, Act.OTHER, summary=f"{self.server}: {harmless(name)}", preview=preview)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return self._offered.is_read_only

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        try:
            result = await self._connection.call(
                self._offered.name, arguments, lambda line: desk.progress(harmless(line))
            )
        except Unavailable as problem:
            return ToolAnswer(f"{self.server}: {harmless(str(problem))}", is_error=True)
        return answer_from(result)


def _clean_schema(schema: JsonObject) -> JsonObject:
    """The schema with its words made harmless; one that is too large or no object takes anything."""
    try:
        if schema.get("type") != "object" or len(encode_json(schema)) > MAX_SCHEMA_BYTES:
            return _ANY_OBJECT
        return {key: _clean(value) for key, value in schema.items()}
    except (RecursionError, ValueError):
        return _ANY_OBJECT


def _clean(value: Json) -> Json:
    """Names of fields stay as they are: the server knows them by these."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return value
