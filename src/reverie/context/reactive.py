"""A request is too long, by our count or the provider's, or a picture is: shrink, and send again.

The error is withheld while there is something left to try: first the staged folds, then a compaction, then one that
asks no model and leaves less; pictures and documents that are too large become a word. When nothing helps, the error is
released to the user.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from reverie.context.collapse import drain, find_queued
from reverie.context.pipeline import compact_now
from reverie.context.replacement import Case
from reverie.context.spans import chain, list_pinned
from reverie.context.stage import NOTHING, Reduction, StageOutcome
from reverie.context.summarise import without_media
from reverie.errors import ContextTooLong, MediaTooLarge, Unavailable
from reverie.messages.blocks import Block, DocumentBlock, Image, Text, ToolResult
from reverie.messages.entries import CollapseEntry, Entry, SpillDecision, SpillEntry
from reverie.messages.message import Message
from reverie.messages.view import Item
from reverie.models.ports import Flow
from reverie.settings import Settings
from reverie.values import value

LAST_TRY_SHARE = 0.5
"""Of the window, what the last try reckons with."""
LARGE_MEDIA_CHARS = 5 * 1024 * 1024
"""Encoded size above which providers refuse a single picture; where none is so large, all of them are stripped."""


@value
class Attempts:
    """What was already tried in this turn; the marks that end the loop. A new turn begins without them."""

    drained: bool = False
    compactions: int = 0
    stripped: bool = False


FIRST = Attempts()


@value
class SendAgain:
    """Something was taken out; the request is worth another try."""

    outcome: StageOutcome
    attempts: Attempts


@value
class Release:
    """Nothing helps; the error is the user's."""

    error: Unavailable


Rescue: TypeAlias = SendAgain | Release


def rescue(case: Case, settings: Settings, error: Unavailable, attempts: Attempts = FIRST) -> Flow[Rescue]:
    """Find a way to send a refused request again."""
    if isinstance(error, MediaTooLarge):
        small = NOTHING if attempts.stripped else strip_media(case)
        return SendAgain(small, replace(attempts, stripped=True)) if small.entries else Release(error)
    if not isinstance(error, ContextTooLong):
        return Release(error)
    if settings.collapse.enabled and not attempts.drained:
        attempts = replace(attempts, drained=True)
        before = chain(case.entries, case.view.leaf)
        folded = drain(case.view, case.scene, settings.collapse, find_queued(before), pinned=list_pinned(before))
        if folded.entries:
            return SendAgain(folded, attempts)
    compaction = settings.compaction
    if not (compaction.enabled and compaction.reactive) or attempts.compactions > compaction.reactive_attempts:
        return Release(error)
    case = case.shrink_to_count(error.used_tokens or 0, error.limit_tokens or 0)
    pays = attempts.compactions < compaction.reactive_attempts
    if not pays:
        # Refused after a compaction: the lines lie elsewhere than anybody said, and one more try costs nothing.
        case = replace(case, scene=replace(case.scene, budget=case.scene.budget.shrunk(LAST_TRY_SHARE)))
    attempts = replace(attempts, compactions=attempts.compactions + 1)
    outcome = yield from compact_now(case, settings, pays=pays, was_refused=True)
    return SendAgain(outcome, attempts) if outcome.reductions else Release(error)


def strip_media(case: Case) -> StageOutcome:
    """A word in place of each picture and document that is too large; the words of its message stay."""
    large = any(_size(block) > LARGE_MEDIA_CHARS for item in case.view.items for block in _media(item.message))
    least = LARGE_MEDIA_CHARS if large else -1
    changed = [item for item in case.view.items if any(_size(block) > least for block in _media(item.message))]
    if not changed:
        return NOTHING
    decisions = tuple(decision for item in changed for decision in _decisions(item, least))
    entries: list[Entry] = [SpillEntry(case.scene.envelope(), decisions)] if decisions else []
    for item in changed:
        if not item.message.tool_results:
            text = without_media(item.message).text
            entries.append(CollapseEntry(case.scene.envelope(), item.uuid, item.uuid, text))
    freed = sum(case.scene.weigh(item) - case.scene.weigh(_plain(item)) for item in changed)
    return StageOutcome(
        tuple(entries), reductions=(Reduction("media", freed, len(changed), "too large for the provider"),)
    )


def _decisions(item: Item, least: int) -> Iterable[SpillDecision]:
    for result in item.message.tool_results:
        if any(_size(block) > least for block in _media_of(result)):
            plain = without_media(Message(item.message.role, (result,))).tool_results[0]
            yield SpillDecision(result.tool_use_id, plain.text)


def _plain(item: Item) -> Item:
    return replace(item, message=without_media(item.message))


def _media(message: Message) -> Iterable[Image | DocumentBlock]:
    for block in message.content:
        yield from _media_of(block)


def _media_of(block: Block | Text) -> Iterable[Image | DocumentBlock]:
    if isinstance(block, Image | DocumentBlock):
        yield block
    elif isinstance(block, ToolResult) and not isinstance(block.content, str):
        yield from (part for part in block.content if isinstance(part, Image | DocumentBlock))


def _size(block: Image | DocumentBlock) -> int:
    return len(str(block.source.get("data", "")))
