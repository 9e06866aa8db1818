"""The `Model` protocol and the values that cross it: requests, replies, events, asks.

A `Model` answers a `Request` with a stream of `Event`s. Everything that asks a model without holding one is a `Flow`:
a generator that yields `Ask`s and is sent `Reply`s. `flow` drives flows; the
implementations of `Model` are the modules beside this one. Only definitions, no behaviour.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from reverie.messages.blocks import Block, JsonObject, nothing_more
from reverie.messages.entries import SystemBlock, ToolSpec
from reverie.messages.message import Message, Usage
from reverie.values import value


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The present moment, with a time zone."""
        ...


@value
class CacheMark:
    """A breakpoint of the prompt cache: everything up to this place may be kept by the provider."""

    level: str
    """`tools`, `system` or `messages`."""
    index: int
    """Which tool, system block or message; negative counts from the end."""
    block: int = -1
    """Which block of the message."""
    ttl: str = "5m"
    """`5m` or `1h`."""


@value
class Request:
    """One question to a model, complete and free of wire names."""

    model: str
    messages: tuple[Message, ...]
    system: tuple[SystemBlock, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 16_384
    cache_marks: tuple[CacheMark, ...] = ()
    tool_choice: JsonObject | None = None
    thinking: JsonObject | None = None
    effort: str = ""
    """How much the model is to put into its answer, `low` to `max`; empty leaves it to the provider."""
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    context_management: JsonObject | None = None
    """Edits that the provider is to apply itself; ignored by providers without them."""
    output_schema: JsonObject | None = None
    """A JSON schema that the answer must fit, where the provider can enforce one."""
    betas: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=nothing_more)
    """Provider-specific fields, passed through."""
    purpose: str = "turn"
    """Who asks, for the ledger: `turn`, `summary`, `notes`, `recall`, `extraction`, …"""
    embedded: Callable[[], str] | None = field(default=None, compare=False, repr=False)
    """How to answer without a model; only the offline model calls it."""


@value
class Reply:
    """A complete answer."""

    message: Message
    usage: Usage
    stop_reason: str | None
    model: str
    message_id: str | None = None
    request_id: str | None = None
    applied_edits: tuple[JsonObject, ...] = ()
    """What the provider cleared by itself."""
    compaction_usage: Usage = field(default_factory=Usage)
    """What the provider's own compaction cost inside this call; `usage` leaves it out."""
    cost_usd: float | None = None
    """What the call cost by the word of whoever answered; None where only a price list tells."""
    is_estimate: bool = False
    """`usage` was estimated: whoever answered does not count."""

    @property
    def text(self) -> str:
        return self.message.text


@value
class TextDelta:
    """A piece of text as it arrives."""

    text: str


@value
class ThinkingDelta:
    """A piece of reasoning as it arrives."""

    text: str


@value
class ToolUseStarted:
    """The model has begun to ask for a tool; its input is still on the way."""

    id: str
    name: str


@value
class BlockDone:
    """One block of the answer is complete."""

    block: Block


@value
class Retrying:
    """A failure that is worth another try; nothing of the failed attempt counts."""

    reason: str
    wait_seconds: float
    attempt: int


@value
class Finished:
    """The last event of every stream."""

    reply: Reply


Event: TypeAlias = TextDelta | ThinkingDelta | ToolUseStarted | BlockDone | Retrying | Finished


INVALID_INPUT = "invalid_json"
"""A tool call whose input was no JSON object carries the text as it came under this name.

No tool has such a parameter, so its validation tells the model; a call that was cut off by a limit is left out instead.
"""


class Model(Protocol):
    """A model that answers requests."""

    @property
    def name(self) -> str:
        """The name by which the model is known to users."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Answer piece by piece; the last event is `Finished`. Raises the `Unavailable` family.

        A reader that may leave early closes the generator (`contextlib.aclosing`), which ends the request.
        """
        ...


class CountsTokens(Protocol):
    """A model whose provider counts a request without answering it."""

    async def count_tokens(self, request: Request) -> int:
        """How many input tokens the request would have."""
        ...


@value
class Ask:
    """What a flow wants to know. `embedded` answers it without a model."""

    purpose: str
    prompt: str
    embedded: Callable[[], str]
    context: tuple[Message, ...] = ()
    """The conversation under which the prompt is put."""
    max_tokens: int = 4_096
    output_schema: JsonObject | None = None
    timeout_seconds: float | None = None
    embedded_on_failure: bool = False
    """Whether `embedded` also answers when the model fails or takes too long; else the failure is the asker's."""


@value
class ForkSpec:
    """A piece of background work for a child agent, as data: it shares the parent's context and may use few tools."""

    label: str
    prompt: str
    tools: tuple[str, ...] = ()
    """The only tools it may use; all others are refused when called, so that the tool list stays the parent's."""
    paths: tuple[Path, ...] = ()
    """The only files or folders that these tools may change."""
    reads: tuple[Path, ...] = ()
    """What it may read besides these, the project and the files of its session."""
    max_rounds: int = 1


class Ending(StrEnum):
    """Why a turn is over."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    MAX_ROUNDS = "max_rounds"
    BUDGET = "budget"
    HOOK = "hook"
    """A hook said stop."""
    BLOCKED = "blocked"
    """A hook refused the prompt; nothing was sent."""
    FAILED = "failed"
    """The provider failed; the message says why."""


@value
class ForkResult:
    """The result of a fork."""

    text: str
    ending: Ending
    rounds: int
    usage: Usage
    cost_usd: float
    calls: tuple[str, ...] = ()
    """The tools it used, in order."""

    @property
    def cache_share(self) -> float:
        """Of its whole input, the share that was read from the cache."""
        whole = self.usage.context_tokens
        return self.usage.cache_read_tokens / whole if whole else 0.0


Result = TypeVar("Result")
Flow: TypeAlias = Generator[Ask, Reply, Result]
"""A question-and-answer in progress: yields what it asks, is sent what was answered, returns what it concluded."""
