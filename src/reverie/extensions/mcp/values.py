"""What an MCP server offers (tools, prompts, resources) as values without the SDK, and a link that sends requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from hashlib import sha256
from typing import Protocol

from reverie.errors import Unavailable
from reverie.messages.blocks import JsonObject, nothing_more
from reverie.values import value

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
MAX_NAME_CHARS = 64
"""The longest name of a tool that every provider takes."""


class LinkLost(Unavailable):
    """The connection to the server ended. `was_sent` is false where the server cannot have received the request."""

    def __init__(self, text: str, *, was_sent: bool = True) -> None:
        super().__init__(text)
        self.was_sent = was_sent


@value
class Offered:
    """A tool as its server tells of it."""

    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=nothing_more)
    title: str = ""
    is_read_only: bool = False
    """The server says that it changes nothing; taken as a hint for what may run at once, never as a permission."""


@value
class OfferedPrompt:
    """A prompt of a server, which the user may invoke."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()


@value
class Offer:
    """Everything that a connected server has."""

    instructions: str = ""
    tools: tuple[Offered, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    has_resources: bool = False
    """Whether resources can be listed and read."""


@value
class OfferedResource:
    """A resource of a server, or a template of addresses with `{placeholders}`."""

    uri: str
    name: str = ""
    description: str = ""
    mime_type: str = ""
    is_template: bool = False


Heard = Callable[[str], None]


class Link(Protocol):
    """A server that answers."""

    async def call(self, tool: str, arguments: JsonObject, *, timeout_seconds: float, heard: Heard) -> JsonObject:
        """The result of a tool as the protocol writes it. Raises `LinkLost` and `Unavailable`."""
        ...

    async def prompt(self, name: str, arguments: dict[str, str], *, timeout_seconds: float) -> tuple[JsonObject, ...]:
        """The content blocks of a prompt's messages. Raises `LinkLost` and `Unavailable`."""
        ...

    async def resources(self, *, timeout_seconds: float) -> tuple[OfferedResource, ...]:
        """The resources and templates of the server. Raises `LinkLost` and `Unavailable`."""
        ...

    async def read_resource(self, uri: str, *, timeout_seconds: float) -> tuple[JsonObject, ...]:
        """The contents of a resource. Raises `LinkLost` and `Unavailable`."""
        ...


def tool_name(prefix: str, name: str) -> str:
    """What we call a tool of a server: `mcp__server__tool`, in characters and a length that every provider takes."""
    whole = prefix + _FOREIGN.sub("_", name)
    if len(whole) <= MAX_NAME_CHARS:
        return whole
    mark = sha256(f"{prefix}{name}".encode()).hexdigest()[:8]
    return f"{whole[: MAX_NAME_CHARS - len(mark) - 1]}_{mark}"
