"""The result of a request (a message, a count or an error) and how it is sent."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.api_error import ApiError
from reverie_simulator.cache import CacheOutcome
from reverie_simulator.edits import AppliedEdit
from reverie_simulator.prompt import SimulatedPrompt


@value
class Delivery:
    """How a reply travels."""

    delay_seconds: float = 0.0
    event_delay_seconds: float = 0.0
    breaks_after: int | None = None
    """After how many events a stream ends too early; None when it does not."""
    breaks_with: ApiError | None = None
    """The error event that ends it; None when the connection just drops."""


PROMPT_DELIVERY = Delivery()


@value
class ErrorAnswer:
    """An answer that is an error."""

    error: ApiError
    delivery: Delivery = PROMPT_DELIVERY


@value
class MessageAnswer:
    """An answer that is a message."""

    request: JsonObject
    """What was asked, in the form of the Messages API."""
    when: datetime
    message: JsonObject
    opening_usage: JsonObject
    final_usage: JsonObject
    outcomes: tuple[CacheOutcome, ...]
    """What the cache did in each pass over the model."""
    streams: bool
    delivery: Delivery = PROMPT_DELIVERY


@value
class PromptCount:
    """The size of a prompt."""

    tokens: int
    original_tokens: int | None = None
    """The size before context edits, when the request has any."""

    def as_json(self) -> dict[str, Json]:
        if self.original_tokens is None:
            return {"input_tokens": self.tokens}
        return {
            "input_tokens": self.tokens,
            "context_management": {"original_input_tokens": self.original_tokens},
        }


@value
class Served:
    """A prompt as the model would read it, and what the cache did for it."""

    prompt: SimulatedPrompt
    applied: tuple[AppliedEdit, ...]
    outcome: CacheOutcome


AnswerOrRefusal: TypeAlias = MessageAnswer | ErrorAnswer
