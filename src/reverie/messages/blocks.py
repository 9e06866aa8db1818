"""The content blocks of a message, as frozen values.

A block is what a provider calls a content block, without identity, time or place: two equal blocks are equal.
Wire names live in `codec`; a kind that this version does not know is kept whole as `Opaque`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from reverie.values import value

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = Mapping[str, Json]

NOTHING_MORE: JsonObject = {}
"""The usual value of `extra`; shared so that a long session does not hold thousands of empty mappings."""


def nothing_more() -> JsonObject:
    """The shared empty mapping, as dataclass fields want it."""
    return NOTHING_MORE


@value
class Text:
    """Plain text."""

    text: str
    extra: JsonObject = field(default_factory=nothing_more, repr=False)
    """Fields of the wire form that we do not interpret, such as citations."""


@value
class Thinking:
    """Reasoning that must go back to the provider unchanged while its tool calls are open."""

    thinking: str
    signature: str = ""
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class RedactedThinking:
    """Reasoning that only the provider can read."""

    data: str
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class ToolUse:
    """The model asks for a tool."""

    id: str
    name: str
    input: JsonObject
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class Image:
    """A picture; `source` is the provider's own description of where its bytes are."""

    source: JsonObject
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class DocumentBlock:
    """A PDF or text document."""

    source: JsonObject
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class CompactionBlock:
    """A summary that the provider itself wrote; everything before it is dropped next time."""

    content: str | None
    extra: JsonObject = field(default_factory=nothing_more, repr=False)


@value
class Opaque:
    """A block of a kind that this version does not know, kept as it came."""

    wire: JsonObject

    @property
    def kind(self) -> str:
        """The provider's name of the kind."""
        return str(self.wire.get("type", ""))


@value
class ToolResult:
    """What a tool answered."""

    tool_use_id: str
    content: str | tuple[Text | Image | DocumentBlock | Opaque, ...]
    is_error: bool = False
    extra: JsonObject = field(default_factory=nothing_more, repr=False)

    @property
    def text(self) -> str:
        """The readable part, pictures left out."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block: TypeAlias = (
    Text | Thinking | RedactedThinking | ToolUse | ToolResult | Image | DocumentBlock | CompactionBlock | Opaque
)
