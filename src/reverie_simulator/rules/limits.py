"""Rules that need the prompt's size: the window and the length of a reply."""

from __future__ import annotations

from reverie.messages.blocks import JsonObject
from reverie_simulator.facts import ModelFacts
from reverie_simulator.prompt import SimulatedPrompt
from reverie_simulator.rules.headers import LONG_WINDOW_BETA, Headers
from reverie_simulator.wire import number_at

REQUEST_BYTES_MAX = 32 * 1024 * 1024
LONG_WINDOW_TOKENS = 1_000_000


def window_tokens(facts: ModelFacts, headers: Headers) -> int:
    """The window of a request; a header widens that of some older models."""
    widens = facts.family == "sonnet" and (4, 0) <= facts.version < (4, 6) and LONG_WINDOW_BETA in headers.betas
    return LONG_WINDOW_TOKENS if widens else facts.window_tokens


def check_window(prompt: SimulatedPrompt, body: JsonObject, window: int) -> str | None:
    """Whether the prompt fits, and for older models whether the reply does too."""
    used, reply = prompt.tokens, number_at(body, "max_tokens")
    if used > window:
        return f"prompt is too long: {used} tokens > {window} maximum"
    if not prompt.facts.overflows_softly and used + reply > window:
        return (
            f"input length and `max_tokens` exceed context limit: {used} + {reply} > {window}, decrease input length "
            "or `max_tokens` and try again"
        )
    return None
