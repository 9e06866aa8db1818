"""`Message`: a role and its blocks; `Usage`: the tokens of a reply.

Identity, parents and times belong to entries. Prices belong to `tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from reverie.messages.blocks import Block, Text, ToolResult, ToolUse
from reverie.values import value


class Role(StrEnum):
    """Who speaks. `system` inside the conversation is taken by some models only."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@value
class Message:
    """One side of the conversation speaks."""

    role: Role
    content: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The plain text of the message, its other blocks left out."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolResult))


@value
class Usage:
    """What the provider reported for one reply, in tokens."""

    input_tokens: int = 0
    """Input after the last cache breakpoint, neither read from nor written to the cache."""
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    """Written to the cache, both lifetimes together."""
    cache_write_1h_tokens: int = 0
    """The part of `cache_write_tokens` with the one-hour lifetime, which costs more."""
    web_searches: int = 0
    """Searches of the web that the provider made for the reply; each has a price of its own."""

    @property
    def context_tokens(self) -> int:
        """The size of the request that was answered."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cache_write_1h_tokens + other.cache_write_1h_tokens,
            self.web_searches + other.web_searches,
        )


def user(*content: str | Block) -> Message:
    """A message of the user; strings become text blocks."""
    return Message(Role.USER, _blocks(content))


def assistant(*content: str | Block) -> Message:
    """A message of the model; strings become text blocks."""
    return Message(Role.ASSISTANT, _blocks(content))


def merge_neighbours(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join messages of one role that follow each other, as a provider expects to receive them.

    A message without such a neighbour is passed on as the object it is.
    """
    joined: list[Message] = []
    first: Message | None = None
    more: list[Message] = []
    for message in messages:
        if first is not None and message.role is first.role:
            more.append(message)
            continue
        if first is not None:
            joined.append(_join_messages(first, more) if more else first)
            more = []
        first = message
    if first is not None:
        joined.append(_join_messages(first, more) if more else first)
    return tuple(joined)


def _join_messages(first: Message, more: Iterable[Message]) -> Message:
    return Message(first.role, tuple(block for message in (first, *more) for block in message.content))


def _blocks(content: Iterable[str | Block]) -> tuple[Block, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in content)
