"""What a whole session costs under a strategy: every request, what of it the cache holds, and what that is worth.

One accounting for all strategies, by the provider's rule: a prefix is kept where a breakpoint stood and
nowhere else. Every strategy is given one at the end of each request; a request reads the longest kept prefix that it
begins with and writes the rest. What no request has read or written since is taken as expired. Replies are billed alike
for all and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.fidelity.cuts import MODEL, lines_of, weigh_items
from reverie.messages.message import Role, Usage
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item
from reverie.models.profiles import cost, profile

Reduce: TypeAlias = Callable[[int, Sequence[Item]], list[Item]]
"""Takes how many items there were and the view as it stands; gives the smaller view."""


@dataclass(frozen=True, slots=True)
class Spending:
    """One session under one strategy."""

    requests: int
    read_tokens: int
    written_tokens: int
    overflows: int
    """Requests that were larger than the window."""

    @property
    def cost_usd(self) -> float:
        usage = Usage(cache_read_tokens=self.read_tokens, cache_write_tokens=self.written_tokens)
        return cost(usage, profile(MODEL)) or 0.0

    @property
    def read_share(self) -> float:
        return self.read_tokens / max(1, self.read_tokens + self.written_tokens)


def spending(items: Sequence[Item], window_tokens: int, reduce: Reduce, *, keeps: bool = True) -> Spending:
    """Replay a session; a strategy that keeps nothing computes its view from the whole history at every request."""
    lines = lines_of(window_tokens)
    legal = set(legal_cuts(items))
    view: list[Item] = []
    sent: list[Item] = []
    kept: tuple[int, ...] = ()
    read = written = requests = overflows = 0
    for number, item in enumerate(items):
        asks = item.message.role is Role.ASSISTANT and number in legal
        if asks:
            shown = view
            if weigh_items(view) > lines.compact_at_tokens:
                shown = reduce(number, view)
                view = shown if keeps else view
            found = max((end for end in kept if end <= _shared(sent, shown)), default=0)
            same = round(weigh_items(shown[:found]))
            read += same
            written += round(weigh_items(shown)) - same
            overflows += weigh_items(shown) > lines.effective_tokens
            requests += 1
            sent = list(shown)
            kept = (found, len(shown))
        view = [*view, item]
    return Spending(requests, read, written, overflows)


def _shared(before: Sequence[Item], now: Sequence[Item]) -> int:
    for number, (one, other) in enumerate(zip(before, now, strict=False)):
        if one.message is not other.message and one.message != other.message:
            return number
    return min(len(before), len(now))
