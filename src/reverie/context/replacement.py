"""What takes the place of the history when it is compacted, whoever wrote the summary.

`build` puts the parts together within the limits and writes the receipt; it makes no entry, so that a result which is
too large can be dropped. `seal` turns it into entries: a boundary that starts a new root, then everything that the view
needs without what came before it, so that a resumed session sees what the running one sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from reverie.context.cache_edits import find_deleted, is_cache_edit
from reverie.context.cut import Weigh, shorten_text
from reverie.context.receipt import RECEIPT, Receipt, Sort, in_view
from reverie.context.restore import NO_SURROUNDINGS, RestoreContext, RestoredAttachment, collect_restored, recent_files
from reverie.context.spans import RESTORED
from reverie.context.stage import Reduction, StageContext, StageOutcome
from reverie.context.summarise import WrittenSummary
from reverie.context.survive import MustSurvive, SurvivalLimits, bring_back
from reverie.messages.blocks import Text
from reverie.messages.codec import encode_json, tool_to_wire
from reverie.messages.entries import (
    AttachmentEntry,
    BoundaryEntry,
    Entry,
    MarkEntry,
    PromptEntry,
    SpillDecision,
    SpillEntry,
    UserEntry,
    envelope_of,
)
from reverie.messages.message import user
from reverie.messages.records import CLEARED
from reverie.messages.reminder import reminder
from reverie.messages.view import Item, ItemKind, View, project
from reverie.settings import CompactionSettings
from reverie.values import value

SUMMARY_FRACTION = 0.30
USER_FRACTION = 0.50
PINS_FRACTION = 0.10
FACTS_FRACTION = 0.10
"""Shares of the free room which the parts may take in windows where the fixed limits would fill it."""
SMALL_SUMMARY_FRACTION = 0.45
SMALL_SUMMARY_TOKENS = 6_500
"""In a small window a summary may take more, up to this size, of what the others leave: there each line tells more than
it costs, as `bench.fidelity` shows on the sessions it was tuned on; in a large one it does not."""
PINS_OF_EFFECTIVE = 0.10
FACTS_OF_EFFECTIVE = 0.10
LISTED_OF_EFFECTIVE = 0.03
"""Limits of what is brought back besides the user's words, as shares of E; the last for errors and files alone."""
FULL_AT = 0.95
"""Of the room below the compaction line, what a result may take at most…"""
WORTH_AT = 0.70
"""…of what it replaces, likewise…"""
AIM_AT = 0.65
"""…and up to where files and skills return: a window that is nearly full again would be compacted again at once."""
LEAST_OF_EFFECTIVE = 0.08
"""Share of E that a summary and what returns with it get however much is kept; what is kept then has to give way."""

LEAST_FACTOR = 0.5
"""How far an estimate may lie below the provider's count before the count is taken for a mistake."""

INTRODUCTION = (
    "This session goes on from an earlier conversation that no longer fits into the window; what follows stands for "
    "it. Carry on with the work where it stopped, without greeting, without recapping, and without asking what was "
    "already answered."
)
REREAD = "Everything left out is still in the transcript and can be read again by its ids."
CARRIED = "must_survive"
"""Kind of the attachment that brings back what the summary lacks."""
CARRIED_BECAUSE = "From the session, because the text above does not say it:"


@value
class Case:
    """Everything that a compaction may look at."""

    view: View
    entries: Sequence[Entry]
    """The whole transcript."""
    scene: StageContext
    settings: CompactionSettings
    around: RestoreContext = NO_SURROUNDINGS
    trigger: str = "auto"
    """`auto` or `manual`."""
    spill_path: Callable[[str], Path] | None = None
    """Where a text that does not fit is kept for the model to read; without one it is only shortened."""

    @property
    def overhead_tokens(self) -> int:
        """What system text and tools take of every request."""
        texts = [block.text for block in self.view.system]
        texts += [encode_json(tool_to_wire(tool)).decode("utf-8", "replace") for tool in self.view.tools]
        return sum(map(self.scene.weigh_text, texts))

    @property
    def room_tokens(self) -> int:
        """What messages may take below the compaction line."""
        return max(0, self.scene.budget.compact_at_tokens - self.overhead_tokens)

    @property
    def tokens(self) -> int:
        """The estimated size of the whole view."""
        return self.overhead_tokens + self.weight(self.view.items)

    def weight(self, items: Iterable[Item]) -> int:
        """The size of some items together."""
        return sum(map(self.scene.weigh, items))

    def shrink_to_count(self, used_tokens: int = 0, limit_tokens: int = 0) -> Case:
        """The case with its lines lowered where the provider counts more than we estimate.

        `used_tokens` and `limit_tokens` are what a provider said that refused the request.
        """
        budget = self.scene.budget
        used = max(used_tokens, budget.used_tokens)
        factor = max(LEAST_FACTOR, min(1.0, self.tokens / used)) if used else 1.0
        if limit_tokens:
            factor *= min(1.0, limit_tokens / budget.window_tokens)
        return replace(self, scene=replace(self.scene, budget=budget.shrunk(factor))) if factor < 1 else self

    def after(self, outcome: StageOutcome) -> Case:
        """The case once an outcome is part of the conversation."""
        if not outcome.entries:
            return self
        entries = (*self.entries, *outcome.entries)
        last = next(
            envelope.uuid for entry in reversed(outcome.entries) if (envelope := envelope_of(entry)) is not None
        )
        return replace(self, entries=entries, view=project(entries, leaf=last))


@value
class Replacement:
    """The view to come."""

    summary: str
    kept: tuple[Item, ...]
    attached: tuple[RestoredAttachment, ...]
    receipt: Receipt

    @property
    def tokens(self) -> int:
        return self.receipt.post_tokens


def summary_limit(case: Case, must: MustSurvive, kept_items: Sequence[Item]) -> int:
    """How long a summary may be beside the items that are kept."""
    free = _free(case, kept_items)
    room = free - _returning(must, _limits(case, free), case.scene.weigh_text)
    small = min(int(free * SMALL_SUMMARY_FRACTION), SMALL_SUMMARY_TOKENS, room)
    return min(case.settings.summary_max_tokens, max(int(free * SUMMARY_FRACTION), small))


def build(
    case: Case, must: MustSurvive, written: WrittenSummary, *, kind: str, kept_items: Sequence[Item], limit_tokens: int
) -> Replacement:
    """Put a summary of at most so many tokens, the kept items and what returns together, and account for it."""
    weigh = case.scene.weigh_text
    effective = case.scene.budget.effective_tokens
    free = _free(case, kept_items)
    limits = _limits(case, free)
    summary = shorten_text(written.text, limit_tokens, weigh, "the rest of this summary was too long")
    text = f"{INTRODUCTION}{f' {REREAD}' if must.rereads else ''}\n\n{summary}"
    shown = [Item("", ItemKind.SUMMARY, user(text)), *kept_items]
    spent = case.weight(shown) + weigh(bring_back(must, shown, limits, weigh).text)
    beside = {path for path, seen, _ in recent_files(kept_items) if seen}
    returning = collect_restored(
        must.items, case.around, case.settings, effective_tokens=effective, weigh=weigh, beside=beside
    )
    aim = min(int(case.room_tokens * AIM_AT), case.weight(kept_items) + free)
    returning = _within(returning, aim - spent, case.scene)
    carried = bring_back(must, [*shown, *map(_as_item, returning)], limits, weigh)
    if carried.text:
        returning.append(RestoredAttachment(CARRIED, f"{CARRIED_BECAUSE}\n\n{carried.text}"))
    first, last = (must.items[0].uuid, must.items[-1].uuid) if must.items else ("", "")
    receipt = Receipt(
        kind, written.by, first, last, case.scene.budget.used_tokens, 0, carried.lines, unread=written.unread
    )
    receipt_text = in_view(
        receipt,
        limit_tokens=int(effective * case.settings.receipt_fraction),
        weigh=lambda words: weigh(reminder(words)),
        short=must.short,
        rereads=must.rereads,
    )
    if receipt_text:
        returning.append(RestoredAttachment(RECEIPT, receipt_text))
    post = case.overhead_tokens + case.weight([*shown, *map(_as_item, returning)])
    return Replacement(text, tuple(kept_items), tuple(returning), replace(receipt, post_tokens=post))


def seal(case: Case, replacement: Replacement) -> StageOutcome:
    """The entries of a compaction."""
    view, scene = case.view, case.scene
    first = replace(scene.envelope(), parent=None, logical_parent=view.leaf)
    before: list[Entry] = []
    if view.system or view.tools:
        before.append(PromptEntry(scene.envelope(), view.system, view.tools))
    decisions = tuple(_decisions(case, replacement.kept))
    if decisions:
        before.append(SpillEntry(scene.envelope(), decisions))
    summary = UserEntry(scene.envelope(), user(replacement.summary), is_summary=True)
    boundary = BoundaryEntry(
        first,
        case.trigger,
        replacement.receipt.pre_tokens,
        replacement.tokens,
        tuple(item.uuid for item in replacement.kept),
        summary.envelope.uuid,
        details={
            "reverie": {"kind": replacement.receipt.kind, "writtenBy": replacement.receipt.written_by},
            "preCompactDiscoveredTools": list(case.around.discovered_tools),
        },
    )
    after: list[Entry] = [
        AttachmentEntry(scene.envelope(), one.kind, (Text(reminder(one.text)),), {**one.data, RESTORED: True})
        for one in replacement.attached
    ]
    after.append(MarkEntry(scene.envelope(), RECEIPT, replacement.receipt.to_json()))
    freed = max(0, replacement.receipt.pre_tokens - replacement.tokens)
    reduction = Reduction(
        replacement.receipt.kind, freed, len(view.items) - len(replacement.kept), replacement.receipt.written_by
    )
    return StageOutcome((boundary, *before, summary, *after), reductions=(reduction,))


def keepable(case: Case, items: Sequence[Item]) -> tuple[Item, ...]:
    """Of these items, those that a boundary can keep: not what stands for others, nor what a compaction repeated."""
    repeated = {
        entry.envelope.uuid for entry in case.entries if isinstance(entry, AttachmentEntry) and RESTORED in entry.data
    }
    return tuple(
        item
        for item in items
        if item.kind not in (ItemKind.SUMMARY, ItemKind.FOLD) and not is_cache_edit(item) and item.uuid not in repeated
    )


def _limits(case: Case, free_tokens: int) -> SurvivalLimits:
    effective = case.scene.budget.effective_tokens
    return SurvivalLimits(
        user=int(min(effective * case.settings.user_text_fraction, free_tokens * USER_FRACTION)),
        pins=int(min(effective * PINS_OF_EFFECTIVE, free_tokens * PINS_FRACTION)),
        facts=int(min(effective * FACTS_OF_EFFECTIVE, free_tokens * FACTS_FRACTION)),
        listed=int(effective * LISTED_OF_EFFECTIVE),
    )


def _returning(must: MustSurvive, limits: SurvivalLimits, weigh: Weigh) -> int:
    """The most that what must survive can take beside a summary that tells nothing of it."""
    needed: Counter[Sort] = Counter()
    for survivor in must.survivors:
        needed[survivor.sort] += weigh(survivor.text)
    lists = min(limits.listed, needed[Sort.TROUBLE] + needed[Sort.FILE])
    facts = lists + sum(needed[sort] for sort in (Sort.PLAN, Sort.TASK, Sort.DECISION, Sort.SKILL))
    return min(limits.user, needed[Sort.REQUEST]) + min(limits.pins, needed[Sort.PIN]) + min(limits.facts, facts)


def _free(case: Case, kept_items: Sequence[Item]) -> int:
    """What may stand beside the kept items: less than the room, and clearly less than what it takes the place of."""
    kept_tokens = case.weight(kept_items)
    budget = case.scene.budget
    least = min(int(budget.effective_tokens * LEAST_OF_EFFECTIVE), (budget.blocking_tokens - case.overhead_tokens) // 2)
    room = max(int(case.room_tokens * FULL_AT) - kept_tokens, least)
    replaced = int((case.weight(case.view.items) - kept_tokens) * WORTH_AT)
    return max(0, min(room, replaced) - case.scene.weigh_text(f"{INTRODUCTION} {REREAD}"))


def _within(attached: Sequence[RestoredAttachment], limit_tokens: int, scene: StageContext) -> list[RestoredAttachment]:
    """The required ones and those that fit, in order; a large one gives way to smaller ones behind it."""
    taken: list[RestoredAttachment] = []
    tokens_left = limit_tokens
    for attachment in attached:
        weight = scene.weigh(_as_item(attachment))
        if weight <= tokens_left or attachment.is_required:
            tokens_left -= weight
            taken.append(attachment)
    return taken


def _as_item(attachment: RestoredAttachment) -> Item:
    return Item("", ItemKind.ATTACHMENT, user(reminder(attachment.text)), label=attachment.kind)


def _decisions(case: Case, kept_items: Sequence[Item]) -> Iterable[SpillDecision]:
    """What stands for results of kept messages; the entries that said so lie before the boundary."""
    deleted = find_deleted(case.view.items)
    kept_uuids = {item.uuid for item in kept_items}
    whole = {
        result.tool_use_id: result.content
        for entry in case.entries
        if isinstance(entry, UserEntry) and (envelope := envelope_of(entry)) is not None and envelope.uuid in kept_uuids
        for result in entry.message.tool_results
    }
    for item in kept_items:
        for result in item.message.tool_results:
            if result.tool_use_id in deleted:
                yield SpillDecision(result.tool_use_id, CLEARED)
            elif isinstance(result.content, str) and whole.get(result.tool_use_id) != result.content:
                yield SpillDecision(result.tool_use_id, result.content)
            elif result.tool_use_id in case.view.decided:
                yield SpillDecision(result.tool_use_id, None)
