"""What a model's dream would cost, before it is dreamt: its first request is put together and counted, never sent.

How many rounds a dream takes nobody knows; a round for a few topics, each read once, is what is reckoned with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from reverie.agent.fork import directive, forked
from reverie.agent.loop import Loop
from reverie.messages.entries import UserEntry
from reverie.messages.message import Usage, user
from reverie.ports import ForkSpec
from reverie.tokens.estimate import weigh_message, weigh_text
from reverie.tokens.profiles import cost
from reverie.tokens.rates import rates_for
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


def estimated_dream(
    spec: ForkSpec, parent: Loop, texts: Iterable[str], *, rounds: int | None = None, output_tokens: int = OUTPUT_TOKENS
) -> DreamEstimate:
    """What a dream over these topics is likely to cost as a fork of this conversation."""
    child = forked(spec, parent, emit=lambda _event: None)
    child.open()
    log, facts = child.parts.log, child.parts.preparer.facts
    log.append(UserEntry(log.envelope(), user(directive(spec.prompt)), source="system"))
    first = child.parts.preparer.measure(log)
    long_lived = _long_lived(child, first)
    topics = [weigh_text(text, rates_for(facts)) for text in texts]
    wanted = rounds or FEWEST_ROUNDS - 1 + math.ceil(len(topics) / TOPICS_PER_ROUND)
    count = max(1, min(spec.max_rounds or wanted, wanted))
    # Every round but the first adds what was said before it and its share of the topics.
    added = output_tokens + (round(sum(topics) / (count - 1)) if count > 1 else 0)
    usage = Usage(cache_write_tokens=first, cache_write_1h_tokens=long_lived, output_tokens=output_tokens)
    for number in range(1, count):
        usage += Usage(0, output_tokens, cache_read_tokens=first + (number - 1) * added, cache_write_tokens=added)
    return DreamEstimate(
        parent.parts.model.name,
        first,
        count,
        spec.max_rounds or count,
        usage.context_tokens,
        usage.output_tokens,
        cost(usage, facts),
    )


def _long_lived(child: Loop, first_tokens: int) -> int:
    """How much of the first request is asked to live for an hour, which costs more to write: system text and tools."""
    if child.parts.settings.cache.system_ttl != "1h":
        return 0
    view, rates = child.parts.log.view, rates_for(child.parts.preparer.facts)
    messages = sum(weigh_message(item.message, rates) for item in view.items)
    return max(0, first_tokens - round(messages))
