"""What filled the window at each request of a session, what made it smaller in between, and where the cache broke."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import is_
from typing import TypeGuard

from reverie.apps.rows import UNSEEN, group_of
from reverie.context.cache_breaks import Cause, detect, is_expired, price
from reverie.messages.chain import EntryTree
from reverie.messages.entries import (
    AssistantEntry,
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    SnipEntry,
    SpillEntry,
    envelope_of,
)
from reverie.messages.message import Usage
from reverie.messages.view import Item, Projection, View
from reverie.models.profiles import NO_OVERRIDES, ProfileOverride, profile
from reverie.models.tokens.estimate import weigh_block, weigh_text, weigh_tool
from reverie.models.tokens.rates import Rates, rates_for
from reverie.models.tokens.rounds import SYNTHETIC_MODEL
from reverie.settings import CacheSettings
from reverie.values import value


@value
class WindowReduction:
    """The window was made smaller."""

    label: str
    amount: str
    when: str
    uuid: str


@value
class CacheBreak:
    """A request read less from the cache than the one before had left there."""

    cause: str
    lost_tokens: int
    cost_usd: float | None


@value
class WindowStep:
    """One request: what filled it, by the groups of `rows`; they add up to what was reported."""

    id: str
    when: str
    model: str
    usage: Usage
    groups: Mapping[str, int]
    reductions: tuple[WindowReduction, ...] = ()
    """What made the window smaller since the request before."""
    broken: CacheBreak | None = None


def window_history(
    entries: Sequence[Entry],
    *,
    cache: CacheSettings,
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> list[WindowStep]:
    """The requests of the conversation as it stands, oldest first; those without a reported size are left out."""
    chain = _whole_chain(entries)
    model = next((entry.model for entry in reversed(chain) if _is_counted(entry)), "") or ""
    weights = _Weights(rates_for(profile(model, overrides)))
    by_uuid = {envelope.uuid: entry for entry in entries if (envelope := envelope_of(entry)) is not None}
    projection = Projection(by_uuid)
    projection.extend(entry for entry in entries if isinstance(entry, SpillEntry) and entry.envelope is None)
    steps: list[WindowStep] = []
    views: list[View] = []
    reductions: list[WindowReduction] = []
    for entry in chain:
        if _is_counted(entry):
            assert entry.usage is not None
            reply = entry.message_id or entry.envelope.uuid
            if steps and steps[-1].id == reply:
                # Later records of a reply report more output.
                steps[-1] = replace(steps[-1], usage=entry.usage)
            else:
                view = projection.view()
                groups = weights.split(view, entry.usage.context_tokens)
                step = WindowStep(
                    reply, entry.envelope.timestamp, entry.model or "", entry.usage, groups, tuple(reductions)
                )
                steps.append(_with_break(step, view, steps, views, cache, overrides))
                views = [view]
                reductions.clear()
        elif (reduction := read_reduction(entry)) is not None:
            reductions.append(reduction)
        projection.extend((entry,))
    return steps


def read_reduction(entry: Entry) -> WindowReduction | None:
    """What an entry took out of the window; None for any other entry."""
    match entry:
        case BoundaryEntry():
            label = f"compaction ({entry.trigger})"
            amount = f"{_tokens(entry.pre_tokens)} → {_tokens(entry.post_tokens)} tokens"
        case ClearEntry():
            label, amount = "results cleared", f"{len(entry.tool_use_ids)} results, {entry.freed_tokens:,} tokens"
        case SnipEntry():
            label, amount = "messages snipped", f"{len(entry.removed)} messages, {entry.freed_tokens:,} tokens"
        case CollapseEntry():
            label, amount = "messages collapsed", ""
        case SpillEntry() if entry.envelope is not None and any(one.preview is not None for one in entry.decisions):
            moved = sum(one.preview is not None for one in entry.decisions)
            label, amount = "results moved to files", f"{moved} results"
        case _:
            return None
    assert entry.envelope is not None
    return WindowReduction(label, amount, entry.envelope.timestamp, entry.envelope.uuid)


def list_reductions(entries: Sequence[Entry]) -> Iterator[WindowReduction]:
    """All of them, in the order of the file."""
    return (reduction for entry in entries if (reduction := read_reduction(entry)) is not None)


def parse_time(timestamp: str) -> datetime | None:
    """When an entry was written; None where it does not say."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.astimezone()


class _Weights:
    """Adds up a view that mostly grows: only what is new is weighed."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._items: tuple[Item, ...] = ()
        self._sums: Counter[str] = Counter()
        self._known: dict[int, tuple[Item, Counter[str]]] = {}
        """By the identity of an item, which is kept for as long."""
        self._prompt: tuple[object, object, int] = (None, None, 0)

    def split(self, view: View, total: int) -> dict[str, int]:
        """The tokens of a view by group, made to add up to `total`."""
        before = self._items
        if len(view.items) < len(before) or not all(map(is_, before, view.items)):
            before, self._sums = (), Counter()
        for item in view.items[len(before) :]:
            self._sums.update(self._weigh(item))
        self._items = view.items
        if view.system is not self._prompt[0] or view.tools is not self._prompt[1]:
            weight = sum(weigh_text(block.text, self._rates) for block in view.system)
            weight += sum(weigh_tool(tool, self._rates) for tool in view.tools)
            self._prompt = (view.system, view.tools, round(weight))
        sums = {"system prompt and tools": self._prompt[2], **self._sums}
        seen = sum(sums.values())
        if total > seen:
            rest = "system prompt and tools" if view.system else UNSEEN
            sums[rest] = sums.get(rest, 0) + total - seen
        elif seen:
            sums = {group: round(tokens * total / seen) for group, tokens in sums.items()}
        return {group: tokens for group, tokens in sums.items() if tokens > 0}

    def _weigh(self, item: Item) -> Counter[str]:
        known = self._known.get(id(item))
        if known is None:
            sums: Counter[str] = Counter()
            for block in item.message.content:
                sums[group_of(block, item)] += round(weigh_block(block, self._rates))
            known = self._known[id(item)] = (item, sums)
        return known[1]


def _whole_chain(entries: Sequence[Entry]) -> list[Entry]:
    """The conversation with what compactions took out of the view: before a boundary stands the chain that it ended."""
    tree = EntryTree(entries)
    parts = [tree.path(None)]
    seen: set[str] = set()
    while parts[-1] and (envelope := envelope_of(parts[-1][0])) is not None:
        if envelope.logical_parent is None or envelope.logical_parent in seen:
            break
        seen.add(envelope.logical_parent)
        parts.append(tree.path(envelope.logical_parent))
    return [entry for part in reversed(parts) for entry in part]


def _is_counted(entry: Entry) -> TypeGuard[AssistantEntry]:
    return (
        isinstance(entry, AssistantEntry)
        and entry.usage is not None
        and not entry.is_error
        and entry.model != SYNTHETIC_MODEL
        and entry.usage.context_tokens > 0
    )


def _with_break(
    step: WindowStep,
    view: View,
    steps: Sequence[WindowStep],
    views: Sequence[View],
    cache: CacheSettings,
    overrides: Mapping[str, ProfileOverride],
) -> WindowStep:
    """The step, with the break that its usage shows and the cause that the entries before it name."""
    if not steps:
        return step
    before, earlier = steps[-1], views[-1]
    missing = detect(before.usage.cache_read_tokens + before.usage.cache_write_tokens, step.usage, cache)
    if missing is None:
        return step
    if step.reductions:
        cause = f"announced: {step.reductions[0].label}"
    elif step.model != before.model:
        cause = Cause.MODEL.value
    elif view.tools != earlier.tools:
        cause = Cause.TOOLS.value
    elif view.system != earlier.system:
        cause = Cause.SYSTEM.value
    elif is_expired(_gap(before.when, step.when), "5m"):
        cause = Cause.TIME.value
    else:
        cause = Cause.UNKNOWN.value
    return replace(step, broken=CacheBreak(cause, missing, price(missing, profile(step.model, overrides))))


def _gap(before: str, after: str) -> timedelta:
    start, end = parse_time(before), parse_time(after)
    return end - start if start is not None and end is not None else timedelta(0)


def _tokens(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
