"""Ways of keeping a conversation inside the window, by name: ours, and the usual ones to compare it with.

A strategy is the stages that run before each request and what happens when the view is still too large. All of them
work with the same entries and the same provider's rules; none calls a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from reverie.context.collapse import queued
from reverie.context.digest import summary
from reverie.context.embedded import answered
from reverie.context.facts import gather
from reverie.context.gate import Compact, breaker, gate
from reverie.context.pipeline import compact_now, stages
from reverie.context.replacement import Case
from reverie.context.spans import pinned
from reverie.context.stage import NOTHING, Reduction, Stage, StageContext, StageOutcome
from reverie.errors import UserMistake
from reverie.messages.entries import BoundaryEntry, ClearEntry, Entry, Envelope, SnipEntry, UserEntry
from reverie.messages.message import user
from reverie.messages.records import CLEARED
from reverie.messages.rules import legal_cuts
from reverie.messages.view import View
from reverie.settings import Settings
from reverie.values import value

KEEP_RESULTS = 3
"""What the public API keeps when it clears tool results."""

TARGET_SHARE = 0.7
"""Where the simple strategies stop, as a share of the compaction line."""


@value
class StrategyContext:
    """What a strategy may look at."""

    view: View
    entries: Sequence[Entry]
    scene: StageContext
    settings: Settings
    spill_path: Callable[[str], Path] | None = None


Rescue: TypeAlias = Callable[[StrategyContext], StageOutcome]


@value
class Strategy:
    """A named way of reducing."""

    name: str
    sentence: str
    stages: Callable[[Settings, Sequence[Entry], Callable[[str], Path] | None, bool], Sequence[Stage]]
    """Made for each request from settings, entries, the place for spilled results, and whether the server edits."""
    rescue: Rescue
    """What is done to a view that is due for compaction."""


def strategy(name: str) -> Strategy:
    """The strategy of that name; raises `UserMistake` with the names that exist."""
    found = next((one for one in STRATEGIES if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in STRATEGIES)
        raise UserMistake(f"there is no strategy {name!r}; there are {names}")
    return found


def _ours(
    settings: Settings, entries: Sequence[Entry], spill_path: Callable[[str], Path] | None, edits_cache: bool
) -> Sequence[Stage]:
    queue = queued(entries) if settings.collapse.enabled else ()
    return stages(settings, spill_path=spill_path, edits_cache=edits_cache, pinned=_Pins(entries), queue=queue)


class _Pins(Collection[str]):
    """The pinned messages, looked for when somebody asks; most requests reduce nothing, and a session is long."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._found: tuple[str, ...] | None = None

    def _ids(self) -> tuple[str, ...]:
        if self._found is None:
            self._found = pinned(self._entries)
        return self._found

    def __contains__(self, uuid: object) -> bool:
        return uuid in self._ids()

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids())

    def __len__(self) -> int:
        return len(self._ids())


def _no_stages(
    settings: Settings,  # noqa: ARG001 - the shape of all strategies
    entries: Sequence[Entry],  # noqa: ARG001
    spill_path: Callable[[str], Path] | None,  # noqa: ARG001
    edits_cache: bool,  # noqa: ARG001
) -> Sequence[Stage]:
    return ()


def _compact(now: StrategyContext) -> StageOutcome:
    is_due = isinstance(gate(now.scene.budget, now.settings, breaker(now.entries)), Compact)
    if not is_due and not (now.scene.budget.is_blocked and now.settings.compaction.rescues):
        return NOTHING
    case = Case(now.view, now.entries, now.scene, now.settings.compaction, spill_path=now.spill_path)
    return answered(compact_now(case, now.settings, pays=False))


def _nothing(now: StrategyContext) -> StageOutcome:  # noqa: ARG001 - the shape of all rescues
    return NOTHING


def _truncate(now: StrategyContext) -> StageOutcome:
    """Drop the oldest messages, whoever wrote them, until the target is met."""
    if not now.scene.budget.must_compact:
        return NOTHING
    items = now.view.items
    to_free = now.scene.budget.used_tokens - round(TARGET_SHARE * now.scene.budget.compact_at_tokens)
    freed = cut = 0
    for place in legal_cuts(items)[1:-1]:
        freed += sum(map(now.scene.weigh, items[cut:place]))
        cut = place
        if freed >= to_free:
            break
    if cut == 0:
        return NOTHING
    removed = tuple(item.uuid for item in items[:cut])
    entry = SnipEntry(now.scene.envelope(), removed, "[Earlier messages were removed.]", freed)
    return StageOutcome((entry,), reductions=(Reduction("truncation", freed, cut),))


def _clear_tools(now: StrategyContext) -> StageOutcome:
    """Empty all tool results but the newest; when that is not enough, drop the oldest messages."""
    if not now.scene.budget.must_compact:
        return NOTHING
    results = [
        (result.tool_use_id, len(result.text))
        for item in now.view.items
        for result in item.message.tool_results
        if result.text != CLEARED
    ]
    old = results[:-KEEP_RESULTS]
    freed = sum(size for _, size in old) // 3
    if freed < now.scene.budget.used_tokens - now.scene.budget.compact_at_tokens:
        return _truncate(now)
    entry = ClearEntry(now.scene.envelope(), tuple(one for one, _ in old), CLEARED, "strategy", freed)
    return StageOutcome((entry,), reductions=(Reduction("clear", freed, len(old)),))


def _summarise(now: StrategyContext) -> StageOutcome:
    """Replace everything but the last exchange by one summary, as simple agents do."""
    if not now.scene.budget.must_compact:
        return NOTHING
    items = now.view.items
    cuts = [cut for cut in legal_cuts(items) if cut < len(items)]
    cut = cuts[-1] if cuts else 0
    if cut == 0:
        return NOTHING
    limit = min(now.settings.compaction.summary_max_tokens, now.scene.budget.compact_at_tokens // 4)
    text = summary(gather(items[:cut]), limit_tokens=limit, weigh=now.scene.weigh_text)
    boundary = now.scene.envelope()
    said = now.scene.envelope()
    freed = sum(map(now.scene.weigh, items[:cut])) - now.scene.weigh_text(text)
    kept = tuple(item.uuid for item in items[cut:])
    entries: tuple[Entry, ...] = (
        BoundaryEntry(_root(boundary), "auto", now.scene.budget.used_tokens, kept=kept, anchor=said.uuid),
        UserEntry(said, user(text), is_summary=True),
    )
    return StageOutcome(entries, reductions=(Reduction("summary", freed, cut),))


def _root(envelope: Envelope) -> Envelope:
    return replace(envelope, parent=None, logical_parent=envelope.parent)


STRATEGIES: tuple[Strategy, ...] = (
    Strategy("default", "spill, clear, then compact with a receipt", _ours, _compact),
    Strategy("none", "send everything", _no_stages, _nothing),
    Strategy("truncate", "drop the oldest messages", _no_stages, _truncate),
    Strategy("clear-tools", "empty old tool results, then drop the oldest messages", _no_stages, _clear_tools),
    Strategy("summarise", "replace the past by one summary", _no_stages, _summarise),
)
