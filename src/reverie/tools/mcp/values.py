"""What a server offers, as values without the SDK: its tools, its prompts, and somebody who passes calls on."""

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
    """The server is gone in the middle of a conversation with it."""


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


Heard = Callable[[str], None]


class Link(Protocol):
    """A server that answers."""

    async def call(self, tool: str, given: JsonObject, *, timeout_seconds: float, heard: Heard) -> JsonObject:
        """The result of a tool as the protocol writes it. Raises `LinkLost` and `Unavailable`."""
        ...

    async def prompt(self, name: str, arguments: dict[str, str], *, timeout_seconds: float) -> str:
        """The text of a prompt. Raises `LinkLost` and `Unavailable`."""
        ...


def tool_name(prefix: str, name: str) -> str:
    """What we call a tool of a server: `mcp__server__tool`, in characters and a length that every provider takes."""
    whole = prefix + _FOREIGN.sub("_", name)
    if len(whole) <= MAX_NAME_CHARS:
        return whole
    mark = sha256(f"{prefix}{name}".encode()).hexdigest()[:8]
    return f"{whole[: MAX_NAME_CHARS - len(mark) - 1]}_{mark}"
