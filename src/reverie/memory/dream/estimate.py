"""Estimates the cost of a model's dream: its first request is built and counted, never sent.

The number of rounds is unknown; one round for a few topics, each read once, is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from reverie.memory.fork_runner import ForkRunner
from reverie.messages.message import Usage
from reverie.models.ports import ForkSpec
from reverie.models.profiles import cost
from reverie.models.tokens.estimate import weigh_text
from reverie.models.tokens.rates import rates_for
from reverie.values import value

TOPICS_PER_ROUND = 10
FEWEST_ROUNDS = 3
"""To look, to write, to say so."""
OUTPUT_TOKENS = 400
"""What a model says and calls in a round."""


@value
class DreamEstimate:
    """What a dream is likely to come to."""

    model: str
    first_tokens: int
    """The size of the first request."""
    rounds: int
    most_rounds: int
    input_tokens: int
    """All requests together; most of it is read from the cache."""
    output_tokens: int
    cost_usd: float | None
    """None when the price is not known."""


def estimate_dream(
    spec: ForkSpec,
    forks: ForkRunner,
    texts: Iterable[str],
    *,
    rounds: int | None = None,
    output_tokens: int = OUTPUT_TOKENS,
) -> DreamEstimate:
    """What a dream over these topics is likely to cost as a fork of this conversation."""
    measured = forks.measure(spec)
    first, facts, long_lived = measured.first_tokens, measured.profile, measured.long_lived_tokens
    topics = [weigh_text(text, rates_for(facts)) for text in texts]
    expected_rounds = rounds or FEWEST_ROUNDS - 1 + math.ceil(len(topics) / TOPICS_PER_ROUND)
    count = max(1, min(spec.max_rounds or expected_rounds, expected_rounds))
    # Every round but the first adds what was said before it and its share of the topics.
    added = output_tokens + (round(sum(topics) / (count - 1)) if count > 1 else 0)
    usage = Usage(cache_write_tokens=first, cache_write_1h_tokens=long_lived, output_tokens=output_tokens)
    for number in range(1, count):
        usage += Usage(0, output_tokens, cache_read_tokens=first + (number - 1) * added, cache_write_tokens=added)
    return DreamEstimate(
        forks.model_name,
        first,
        count,
        spec.max_rounds or count,
        usage.context_tokens,
        usage.output_tokens,
        cost(usage, facts),
    )
