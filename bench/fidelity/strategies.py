"""Ways of making a view smaller, each given the whole conversation before the cut and the tokens it may keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from bench.fidelity.cuts import weigh, weigh_item, weigh_items
from bench.fidelity.passages import passages
from reverie.context.digest import summary
from reverie.context.facts import gather
from reverie.messages.blocks import ToolResult
from reverie.messages.message import Message, user
from reverie.messages.records import CLEARED
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, Kind

Strategy: TypeAlias = Callable[[Sequence[Item], float], list[Item]]

TAIL_SHARE = 0.4
MOST_TAIL_SHARE = 0.7
"""A last round that is larger than the usual tail is still kept, up to here."""


def ours(items: Sequence[Item], budget_tokens: float, *, tail_share: float = TAIL_SHARE) -> list[Item]:
    """The tail as it is, everything before it by structure."""
    tail = _tail(items, budget_tokens * tail_share) or _tail(items, budget_tokens * MOST_TAIL_SHARE)
    facts = gather(items)
    text = summary(
        facts,
        limit_tokens=int(budget_tokens - weigh_items(tail)),
        weigh=weigh,
        beside="\n".join(one.text for one in passages(tail)),
        kept={item.uuid for item in tail},
    )
    return [Item("summary", Kind.SUMMARY, user(text)), *tail]


def truncated(items: Sequence[Item], budget_tokens: float) -> list[Item]:
    """The newest messages that fit, at a legal cut."""
    return _tail(items, budget_tokens)


def cleared(items: Sequence[Item], budget_tokens: float) -> list[Item]:
    """Old tool results emptied, as few as needed; if that is not enough, the oldest messages go too."""
    places = [number for number, item in enumerate(items) if _is_result(items, number)]
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if weigh_items(_emptied(items, set(places[:middle]))) <= budget_tokens:
            high = middle
        else:
            low = middle + 1
    return _tail(_emptied(items, set(places[:low])), budget_tokens)


def _tail(items: Sequence[Item], budget_tokens: float) -> list[Item]:
    """The longest tail within the budget that starts at a legal cut."""
    size, start = 0.0, len(items)
    legal = set(legal_cuts(items))
    best = len(items)
    while start > 0:
        start -= 1
        size += weigh_item(items[start])
        if size > budget_tokens:
            break
        if start in legal:
            best = start
    return list(items[best:])


def _is_result(items: Sequence[Item], number: int) -> bool:
    item = items[number]
    return bool(item.message.tool_results) or (item.kind is Kind.META and number > 0)


_empty: dict[str, Item] = {}


def _emptied(items: Sequence[Item], places: set[int]) -> list[Item]:
    return [_without_results(item) if number in places else item for number, item in enumerate(items)]


def _without_results(item: Item) -> Item:
    known = _empty.get(item.uuid)
    if known is None:
        if item.message.tool_results:
            content = tuple(
                replace(block, content=CLEARED) if isinstance(block, ToolResult) else block
                for block in item.message.content
            )
            message = Message(item.message.role, content)
        else:
            message = user(CLEARED)
        known = _empty[item.uuid] = replace(item, message=message)
    return known
