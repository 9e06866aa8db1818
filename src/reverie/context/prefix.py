"""A view becomes a request whose bytes extend those of the request before it.

The order is that of the provider's cache: tools, system, messages. Nothing is rendered here, no clock is read and no
map is walked: what is sent stands in the view, and the view in the entries. Cache marks are placed so that the next
turn, a fork and a turn that adds many blocks at once all find what was kept; apart from them a request is a pure
function of the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from reverie.context.cache_edits import is_cache_edit_block
from reverie.messages.blocks import Block, Opaque, RedactedThinking, Text, Thinking
from reverie.messages.message import Message, Role
from reverie.messages.rules import Conforming
from reverie.messages.view import Item, View
from reverie.models.ports import CacheMark, Request
from reverie.models.profiles import Profile
from reverie.settings import CacheSettings

SHORT_LIFETIME, LONG_LIFETIME = timedelta(minutes=5), timedelta(hours=1)
"""For how long the provider keeps a prefix, as asked."""


def request_from(
    view: View,
    facts: Profile,
    *,
    model: str,
    max_tokens: int,
    cache: CacheSettings,
    conforming: Conforming | None = None,
) -> Request:
    """The request that this view amounts to; `conforming` remembers the messages of the one before."""
    messages = (conforming or Conforming()).conform([item.message for item in view.items])
    marks: tuple[CacheMark, ...] = ()
    if cache.enabled and facts.abilities.prompt_caching:
        marks = cache_marks(view, messages, cache)
    return Request(
        model=model,
        messages=messages,
        system=view.system,
        tools=view.tools,
        max_tokens=max_tokens,
        cache_marks=marks,
    )


def cache_marks(view: View, messages: Sequence[Message], cache: CacheSettings) -> tuple[CacheMark, ...]:
    """At most four breakpoints: shared system text, all system text, the end of the last request, the end of this one.

    The third makes the look-back of 20 blocks enough however many blocks one turn adds: it stands exactly where the
    request before this one ended.
    """
    static = [number for number, block in enumerate(view.system) if block.tier == "static"]
    steady = [number for number, block in enumerate(view.system) if block.tier != "volatile"]
    lasts = dict.fromkeys(tier[-1] for tier in (static, steady) if tier)
    ttl = message_ttl(view.items, cache)
    # What lives an hour may not stand behind what lives five minutes: the provider refuses that.
    system_ttl = cache.system_ttl if ttl == "5m" else "1h"
    marks = [CacheMark("system", last, ttl=system_ttl) for last in lasts]
    if not view.system and view.tools:
        marks.append(CacheMark("tools", len(view.tools) - 1, ttl=system_ttl))
    ends = [_end_of(messages, _before_last_reply(messages)), _end_of(messages, len(messages))]
    marked_ends = dict.fromkeys(end for end in ends if end is not None)
    return (*marks, *(CacheMark("messages", number, block, ttl=ttl) for number, block in marked_ends))


def message_ttl(items: Sequence[Item], cache: CacheSettings) -> str:
    """How long the conversation shall be kept: the setting, or an hour once somebody has let five minutes pass.

    A pause between two messages of the view costs writing all of it again, which is more than an hour costs.
    """
    if cache.ttl != "auto":
        return cache.ttl
    before = minute = ""
    for item in items:
        stamp = item.timestamp
        # Most messages stand in the same minute as the one before, and reading times is slow.
        if stamp[:16] != minute or stamp[-1:] != "Z":
            at, last = _time(stamp), _time(before)
            if at is None:
                continue
            if last is not None and SHORT_LIFETIME <= at - last < LONG_LIFETIME:
                return "1h"
            minute = stamp[:16] if stamp[-1:] == "Z" else ""
        before = stamp
    return "5m"


def _time(stamp: str) -> datetime | None:
    try:
        return datetime.fromisoformat(stamp)
    except ValueError:
        return None


def _before_last_reply(messages: Sequence[Message]) -> int:
    """How many messages the request had that was answered by the newest reply."""
    for number in range(len(messages) - 1, -1, -1):
        if messages[number].role is Role.ASSISTANT:
            return number
    return 0


def _end_of(messages: Sequence[Message], count: int) -> tuple[int, int] | None:
    """The last block of these messages that can carry a mark."""
    for number in range(count - 1, -1, -1):
        content = messages[number].content
        for position in range(len(content) - 1, -1, -1):
            if _can_carry(content[position]):
                return number, position
    return None


def _can_carry(block: Block) -> bool:
    match block:
        case Thinking() | RedactedThinking():
            return False
        case Text(text):
            return bool(text.strip())
        case Opaque():
            return not is_cache_edit_block(block)
        case _:
            return True
