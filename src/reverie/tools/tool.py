"""The `Tool` protocol: what every tool implements.

A tool says what a call would need before it runs, and runs only when `session.tool_calls` has let it. It never asks
for permission itself, never spills its own output and never raises for what the model did wrong: a `ToolMistake`
becomes a failed result that tells the model how to do it right.
"""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from reverie.errors import Error
from reverie.messages.blocks import Image, JsonObject, Text, nothing_more
from reverie.messages.entries import ToolSpec
from reverie.permissions.need import Need
from reverie.tools.desk import Desk
from reverie.values import value


class ToolMistake(Error):
    """The call itself is wrong; the message tells the model what to do instead."""


@value
class ToolAnswer:
    """What a tool gives back."""

    content: str | tuple[Text | Image, ...]
    """What the model reads."""
    is_error: bool = False
    details: JsonObject = field(default_factory=nothing_more)
    """The same for programs and people, kept with the result in the transcript: `diff`, `file`, `exit_code`, …"""


class Tool(Protocol):
    """One thing the model can do."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and schema; the same bytes in every session."""
        ...

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        """What the call would do. Raises `ToolMistake` when the input is wrong."""
        ...

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:
        """Whether the call only reads, so that it may run beside others. Never raises."""
        ...

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        """Do it. Cancelling leaves nothing half-done. Raises `ToolMistake` for what the model can mend."""
        ...
