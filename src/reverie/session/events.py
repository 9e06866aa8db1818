"""What happens in a turn, as values: everything an interface needs to show it, and nothing of how it looks.

Pieces of an answer keep their own types from `ports`. Whoever reads the stream may leave out any event it does not
know; the last one of a turn is always `TurnEnded`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from reverie.context.cache_breaks import Break
from reverie.context.receipt import Receipt
from reverie.context.stage import Reduction
from reverie.messages.blocks import Block, JsonObject, nothing_more
from reverie.messages.message import Message, Usage
from reverie.models.ports import Ending, Retrying, TextDelta, ThinkingDelta, ToolUseStarted
from reverie.models.tokens.window import WindowLevel
from reverie.values import value


@value
class Status:
    """What a status line shows; figures of the session so far."""

    model: str
    used_tokens: int = 0
    window_tokens: int = 0
    """The effective window."""
    level: WindowLevel = WindowLevel.CALM
    cache_share: float | None = None
    """Of all input tokens so far, the share that was read from the cache."""
    cost_usd: float | None = None
    mode: str = "default"
    background: tuple[str, ...] = ()
    """A line for each piece of background work."""


@value
class TurnStarted:
    """The user's words were taken and are on disk."""

    session: str
    text: str


@value
class RequestSent:
    """A round begins."""

    round: int
    tokens: int


@value
class Replied:
    """One whole answer of the model, which is on disk now."""

    message: Message
    usage: Usage
    stop_reason: str | None
    model: str
    message_id: str | None = None


@value
class ToolStarted:
    """A call begins to run."""

    call_id: str
    name: str
    given: JsonObject
    summary: str = ""


@value
class ToolProgress:
    """A line of a tool at work."""

    call_id: str
    text: str


@value
class ToolEnded:
    """A call has its result, which may be a refusal."""

    call_id: str
    name: str
    text: str
    is_error: bool
    seconds: float
    details: JsonObject = field(default_factory=nothing_more)
    refused: bool = False
    content: str | tuple[Block, ...] = ""
    """The result as the model sees it, pictures among it."""


@value
class Denied:
    """A call was not permitted, by a rule, a hook, or for want of somebody to ask."""

    call_id: str
    name: str
    given: JsonObject
    summary: str
    reason: str
    suggestions: tuple[str, ...] = ()
    """Rules that would allow it, the narrowest first; none where a rule or a hook forbids it."""
    agent: str = ""
    """Which agent tried; empty for the main one."""


@value
class ViewReduced:
    """Something was taken out of the view."""

    reductions: tuple[Reduction, ...]
    receipt: Receipt | None = None


@value
class CacheBroken:
    """The provider's cache was lost in part."""

    parted: Break
    cost_usd: float | None = None


@value
class Attached:
    """Something that nobody typed joined the conversation: recalled memories, instructions, a date, a message."""

    kind: str
    summary: str
    data: JsonObject = field(default_factory=nothing_more)


@value
class Remembered:
    """Memories that were made of what was said, beside the conversation."""

    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """A sentence for the person."""
        return f"remembered: {', '.join(self.names)} (see `reverie log`; revert with `reverie undo`)"


@value
class Notice:
    """A sentence for the person."""

    text: str
    level: str = "info"
    """`info`, `warning` or `error`."""


@value
class AgentProgress:
    """What a child agent is doing, in a few words."""

    agent_id: str
    name: str
    line: str


@value
class AgentEnded:
    """A child agent in the background is done; its report joins the conversation at the next boundary."""

    agent_id: str
    name: str
    state: str
    """`completed`, `failed` or `killed`."""
    text: str
    cost_usd: float = 0.0
    """As far as prices are known."""


@value
class TurnEnded:
    """The last event of a turn."""

    ending: Ending
    text: str
    """The last words of the model, or why there are none."""
    rounds: int
    usage: Usage
    """All requests of the turn together."""
    cost_usd: float | None
    """None when the price of the model is unknown."""
    seconds: float
    status: Status


TurnEvent: TypeAlias = (
    TurnStarted
    | RequestSent
    | TextDelta
    | ThinkingDelta
    | ToolUseStarted
    | Retrying
    | Replied
    | ToolStarted
    | ToolProgress
    | ToolEnded
    | Denied
    | ViewReduced
    | CacheBroken
    | Attached
    | Notice
    | Remembered
    | AgentProgress
    | AgentEnded
    | Status
    | TurnEnded
)
