"""Where a session is cut: after the reply at which its running size passes the compaction line, and further on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from reverie.messages.message import Message, Role
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_message, weigh_text
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.window import WindowBudget, budget

MODEL = "claude-sonnet-4-5"
STEP = 0.25
"""Further cuts lie this share of the compaction line apart."""
HORIZON_ROUNDS = 20
"""How much of the real continuation is looked at."""
LEAST_ROUNDS = 5
"""A cut with fewer rounds after it says too little."""

_RATES = rates_for(profile(MODEL))


@dataclass(frozen=True, slots=True)
class Cut:
    """A place to compact."""

    at: int
    """Items before this one are compacted."""
    until: int
    """The continuation ends before this one."""


def cuts(items: Sequence[Item], window_tokens: int) -> list[Cut]:
    """The places at which this session would be compacted in such a window."""
    limit = lines_of(window_tokens).compact_at_tokens
    sizes = list(accumulate((weigh_item(item) for item in items), initial=0.0))
    legal = [place for place in legal_cuts(items) if 0 < place < len(items)]
    replies = [number for number, item in enumerate(items) if item.message.role is Role.ASSISTANT]
    found: list[Cut] = []
    due = float(limit)
    for place in legal:
        if sizes[place] < due:
            continue
        later = [number for number in replies if number >= place]
        if len(later) < LEAST_ROUNDS:
            break
        until = later[HORIZON_ROUNDS * 2] if len(later) > HORIZON_ROUNDS * 2 else len(items)
        found.append(Cut(place, until))
        due = sizes[place] + STEP * limit
    return found


@cache
def lines_of(window_tokens: int) -> WindowBudget:
    """The lines of a window of this size."""
    return budget(window_tokens, profile(MODEL).max_output_tokens)


def weigh(text: str) -> float:
    """Tokens of a text."""
    return weigh_text(text, _RATES)


_weights: dict[int, tuple[Message, float]] = {}


def weigh_item(item: Item) -> float:
    """Tokens of one message; remembered, because each is weighed at many cuts."""
    known = _weights.get(id(item.message))
    if known is None or known[0] is not item.message:
        known = _weights[id(item.message)] = (item.message, weigh_message(item.message, _RATES))
    return known[1]


def weigh_items(items: Sequence[Item]) -> float:
    """Tokens of several."""
    return sum(map(weigh_item, items))
