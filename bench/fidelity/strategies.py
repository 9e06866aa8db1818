"""Ways of making a view smaller. Ours takes what it takes; the others are given as many tokens as ours took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from bench.fidelity.cuts import lines_of, weigh_item, weigh_items
from bench.fidelity.sessions import Session
from reverie.context.compact import compact
from reverie.context.pipeline import run_embedded_flow
from reverie.context.replacement import Case
from reverie.context.stage import StageContext
from reverie.messages.blocks import ToolResult
from reverie.messages.entries import Envelope
from reverie.messages.message import Message
from reverie.messages.records import CLEARED
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, project
from reverie.settings import Settings


def ours(session: Session, at: int, window_tokens: int) -> list[Item]:
    """What the view is after a full compaction by structure, from the whole transcript."""
    entries = session.entries_before(at)
    view = project(entries)
    numbers = count(1)
    leaf = view.leaf

    def envelope() -> Envelope:
        nonlocal leaf
        made = Envelope(f"ffffffff-{next(numbers):04d}", leaf, "bench", "2026-01-01T00:00:00.000Z")
        leaf = made.uuid
        return made

    used = lines_of(window_tokens).using(round(weigh_items(view.items)))
    scene = StageContext(used, datetime(2026, 1, 1, tzinfo=UTC), envelope, lambda item: round(weigh_item(item)))
    case = Case(view, entries, scene, Settings().compaction)
    outcome = run_embedded_flow(compact(case))
    return list(project([*entries, *outcome.entries]).items)


def truncated(items: Sequence[Item], budget_tokens: float) -> list[Item]:
    """The newest messages, at a legal cut, as many as reach the budget."""
    size = 0.0
    legal = set(legal_cuts(items))
    for start in range(len(items) - 1, -1, -1):
        size += weigh_item(items[start])
        if size >= budget_tokens and start in legal:
            return list(items[start:])
    return list(items)


def cleared(items: Sequence[Item], budget_tokens: float) -> list[Item]:
    """Old tool results emptied, no more than needed to come near the budget; if all are, the oldest messages go too."""
    places = [number for number, item in enumerate(items) if item.message.tool_results]
    low, high = 0, len(places)
    while low < high:
        middle = (low + high + 1) // 2
        if weigh_items(_emptied(items, set(places[:middle]))) >= budget_tokens:
            low = middle
        else:
            high = middle - 1
    return truncated(_emptied(items, set(places[:low])), budget_tokens)


_empty: dict[str, Item] = {}


def _emptied(items: Sequence[Item], places: set[int]) -> list[Item]:
    return [_without_results(item) if number in places else item for number, item in enumerate(items)]


def _without_results(item: Item) -> Item:
    known = _empty.get(item.uuid)
    if known is None:
        content = tuple(
            replace(block, content=CLEARED) if isinstance(block, ToolResult) else block
            for block in item.message.content
        )
        known = _empty[item.uuid] = replace(item, message=Message(item.message.role, content))
    return known
