"""A view as a series of model calls: reported size, reply, and what was added before the next.

`count` predicts from the last round and learns from pairs of neighbours, `bench.tokens` measures over all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reverie.messages.blocks import Block, DocumentBlock, Image, RedactedThinking, Text, Thinking, ToolResult
from reverie.messages.message import Usage
from reverie.messages.view import Item, ItemKind
from reverie.models.profiles import Profile
from reverie.models.tokens.estimate import weigh_block
from reverie.models.tokens.rates import Rates

SYNTHETIC_MODEL = "<synthetic>"
"""Marks a reply which the client made itself."""
_REASONING = frozenset({Thinking, RedactedThinking})
TRUSTED_SHARE = 0.7
"""Some writers record only the first snapshot of a stream: an output below this share of what is visible is one."""


@dataclass(slots=True)
class CountedRound:
    """One model call and what followed it."""

    usage: Usage
    model: str | None
    reply: list[Item]
    """The records of the answer."""
    tail: list[Item] = field(default_factory=list)
    """What was added since."""
    open_thinking: tuple[Block, ...] = ()
    """Reasoning of earlier answers of the same turn, which was part of this call."""

    @property
    def ends_turn(self) -> bool:
        """Whether the user spoke after the answer."""
        return any(item.kind is ItemKind.TYPED for item in self.tail)


def rounds(items: Iterable[Item]) -> list[CountedRound]:
    """The calls of a view in order. Answers without a reported size belong to the tail of the call before them."""
    return _rounds(items, [])


def newest_rounds(items: Sequence[Item], many: int) -> list[CountedRound]:
    """At least so many of the newest calls, if there are, exactly as `rounds` has them, without looking at the rest."""
    start, rounds_found = len(items), 0
    for at in range(len(items) - 1, -1, -1):
        # Most items of a long conversation have no report.
        if items[at].usage is not None and _is_counted(items[at]):
            start = at
            rounds_found += not (at and _is_one_reply(items[at - 1], items[at]))
            if rounds_found == many:
                break
    thinking: list[Block] = []
    for item in reversed(items[:start]):
        if item.kind is ItemKind.TYPED:
            break
        if item.kind is ItemKind.REPLY:
            thinking.extend(block for block in reversed(item.message.content) if type(block) in _REASONING)
    return _rounds(items[start:], thinking[::-1])


def _rounds(items: Iterable[Item], thinking: list[Block]) -> list[CountedRound]:
    """`thinking` is the reasoning of the same turn that came before the items."""
    counted: list[CountedRound] = []
    for item in items:
        last = counted[-1] if counted else None
        if last is not None and not last.tail and _is_one_reply(last.reply[-1], item):
            last.reply.append(item)
            last.usage = item.usage or last.usage
        elif _is_counted(item):
            assert item.usage is not None
            counted.append(CountedRound(item.usage, item.model, [item], open_thinking=tuple(thinking)))
        elif last is not None:
            last.tail.append(item)
        if item.kind is ItemKind.TYPED:
            thinking.clear()
        elif item.kind is ItemKind.REPLY:
            thinking += _thinking(item)
    return counted


def reply_tokens(call: CountedRound, facts: Profile, rates: Rates) -> float:
    """What the answer adds to the next request: as reported where that is believable, else as estimated."""
    forgotten = call.ends_turn and not facts.abilities.keeps_thinking
    blocks = [block for item in call.reply for block in item.message.content]
    visible = sum(weigh_block(block, rates) for block in blocks)
    if not forgotten or not any(map(_thinks, blocks)):
        return call.usage.output_tokens if _believable(call.usage, visible) else visible
    return sum(weigh_block(block, rates) for block in blocks if not _thinks(block))


def forgotten_tokens(call: CountedRound, facts: Profile, rates: Rates) -> float:
    """Reasoning that the next request no longer holds because the turn has ended."""
    if not call.ends_turn or facts.abilities.keeps_thinking:
        return 0.0
    return sum(weigh_block(block, rates) for block in call.open_thinking)


def tail_tokens(counted: CountedRound, rates: Rates) -> dict[str, float]:
    """What was added since, by kind of content."""
    names = {call.id: call.name for item in counted.reply for call in item.message.tool_uses}
    by_kind: dict[str, float] = {}
    for item in counted.tail:
        for block in item.message.content:
            kind = _kind(block, item, names)
            by_kind[kind] = by_kind.get(kind, 0.0) + weigh_block(block, rates)
        by_kind[item.kind.value] = by_kind.get(item.kind.value, 0.0) + rates.message
    return by_kind


def _believable(usage: Usage, visible: float) -> bool:
    return usage.output_tokens >= TRUSTED_SHARE * visible


def _is_one_reply(item: Item, following: Item) -> bool:
    """Whether two items that follow each other are records of one answer."""
    return (
        following.kind is ItemKind.REPLY
        and item.kind is ItemKind.REPLY
        and item.message_id is not None
        and item.message_id == following.message_id
    )


def _is_counted(item: Item) -> bool:
    return (
        item.kind is ItemKind.REPLY
        and item.model != SYNTHETIC_MODEL
        and item.usage is not None
        and item.usage.context_tokens > 0
    )


def _thinks(block: Block) -> bool:
    return type(block) in _REASONING


def _thinking(item: Item) -> list[Block]:
    return [block for block in item.message.content if _thinks(block)] if item.kind is ItemKind.REPLY else []


def _kind(block: Block, item: Item, names: dict[str, str]) -> str:
    match block:
        case ToolResult():
            if "\x1b" in block.text:
                return "terminal"
            return names.get(block.tool_use_id, "result")
        case Image() | DocumentBlock():
            return "media"
        case Text():
            return "terminal" if "\x1b" in block.text else item.kind.value
        case _:
            return item.kind.value
