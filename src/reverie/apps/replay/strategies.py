"""Usual ways of keeping a conversation inside the window, by name, to compare ours with.

All of them work with the same entries and the same provider's rules; none calls a model.
"""

from __future__ import annotations

from dataclasses import replace

from reverie.context.digest import summary
from reverie.context.facts import gather
from reverie.context.replacement import Case
from reverie.context.stage import NOTHING, Reduction, StageOutcome
from reverie.context.strategy import DEFAULT, NONE, Strategy
from reverie.messages.entries import BoundaryEntry, ClearEntry, Entry, Envelope, SnipEntry, UserEntry
from reverie.messages.message import user
from reverie.messages.records import CLEARED
from reverie.messages.rules import legal_cuts

KEEP_RESULTS = 3
"""What the public API keeps when it clears tool results."""

TARGET_SHARE = 0.7
"""Where the simple strategies stop, as a share of the compaction line."""


def truncate(case: Case) -> StageOutcome:
    """Drop the oldest messages, whoever wrote them, until the target is met."""
    items, budget = case.view.items, case.scene.budget
    to_free = budget.used_tokens - round(TARGET_SHARE * budget.compact_at_tokens)
    freed = cut = 0
    for place in legal_cuts(items)[1:-1]:
        freed += case.weight(items[cut:place])
        cut = place
        if freed >= to_free:
            break
    if cut == 0:
        return NOTHING
    removed = tuple(item.uuid for item in items[:cut])
    entry = SnipEntry(case.scene.envelope(), removed, "[Earlier messages were removed.]", freed)
    return StageOutcome((entry,), reductions=(Reduction("truncation", freed, cut),))


def clear_tools(case: Case) -> StageOutcome:
    """Empty all tool results but the newest; when that is not enough, drop the oldest messages."""
    results = [
        (result.tool_use_id, len(result.text))
        for item in case.view.items
        for result in item.message.tool_results
        if result.text != CLEARED
    ]
    old = results[:-KEEP_RESULTS]
    freed = sum(size for _, size in old) // 3
    if freed < case.scene.budget.used_tokens - case.scene.budget.compact_at_tokens:
        return truncate(case)
    ids = tuple(tool_use_id for tool_use_id, _ in old)
    entry = ClearEntry(case.scene.envelope(), ids, CLEARED, "strategy", freed)
    return StageOutcome((entry,), reductions=(Reduction("clear", freed, len(old)),))


def summarise(case: Case) -> StageOutcome:
    """Replace everything but the last exchange by one summary, as simple agents do."""
    items = case.view.items
    cuts = [cut for cut in legal_cuts(items) if cut < len(items)]
    cut = cuts[-1] if cuts else 0
    if cut == 0:
        return NOTHING
    limit = min(case.settings.summary_max_tokens, case.scene.budget.compact_at_tokens // 4)
    text = summary(gather(items[:cut]), limit_tokens=limit, weigh=case.scene.weigh_text)
    boundary = case.scene.envelope()
    envelope = case.scene.envelope()
    freed = case.weight(items[:cut]) - case.scene.weigh_text(text)
    kept_uuids = tuple(item.uuid for item in items[cut:])
    entries: tuple[Entry, ...] = (
        BoundaryEntry(_as_root(boundary), "auto", case.scene.budget.used_tokens, kept=kept_uuids, anchor=envelope.uuid),
        UserEntry(envelope, user(text), is_summary=True),
    )
    return StageOutcome(entries, reductions=(Reduction("summary", freed, cut),))


def _as_root(envelope: Envelope) -> Envelope:
    return replace(envelope, parent=None, logical_parent=envelope.parent)


STRATEGIES: tuple[Strategy, ...] = (
    DEFAULT,
    NONE,
    Strategy("truncate", reduce=truncate),
    Strategy("clear-tools", reduce=clear_tools),
    Strategy("summarise", reduce=summarise),
)
