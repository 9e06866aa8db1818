"""Tools by name in a stable order; input is validated before a tool sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reverie.messages.blocks import JsonObject
from reverie.messages.entries import ToolSpec
from reverie.permissions.need import Need
from reverie.tools.desk import Desk
from reverie.tools.schema import check, find_problem
from reverie.tools.tool import Tool, ToolAnswer, ToolMistake
from reverie.values import value


@value
class CheckedTool:
    """A tool whose input is held against its schema first."""

    tool: Tool

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        check(arguments, self.spec.input_schema, self.spec.name)
        return self.tool.need(arguments, desk)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:
        return find_problem(arguments, self.spec.input_schema) is None and self.tool.is_concurrent(arguments, desk)

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        check(arguments, self.spec.input_schema, self.spec.name)
        return await self.tool.run(arguments, desk)


class Registry:
    """The tools of one agent, in the order in which they were given."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, CheckedTool] = {}
        for tool in tools:
            name = tool.spec.name
            if name in self._tools:
                raise ValueError(f"there are two tools named {name!r}")
            self._tools[name] = CheckedTool(tool)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the provider is told, in order."""
        return tuple(tool.spec for tool in self)

    def find(self, name: str) -> Tool:
        """The tool of this name. Raises `ToolMistake` with those that there are."""
        tool = self._tools.get(name)
        if tool is None:
            raise ToolMistake(f"There is no tool {name!r}; there are {', '.join(self._tools)}.")
        return tool

    def with_tools(self, tools: Iterable[Tool]) -> Registry:
        """These and further ones behind them, so that what was sent stays in its place."""
        return Registry([*(tool.tool for tool in self._tools.values()), *tools])
