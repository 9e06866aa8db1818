"""Leave the oldest rounds out of what is sent, without asking anybody.

Only replies and tool results go, and only as many as bring the view down to the target; the last reply with everything
after it is protected. Each run of removed items leaves one line that says what was there and how to read it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from reverie.amounts import format_count
from reverie.context.activity import in_short
from reverie.context.spans import list_pinned
from reverie.context.stage import NOTHING, Reduction, Stage, StageContext, StageOutcome
from reverie.messages.entries import Entry, SnipEntry
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, ItemKind, View
from reverie.settings import SnipSettings

_GOES = frozenset({ItemKind.REPLY, ItemKind.RESULT})
"""What a snip takes: rounds of the model with their tools. What the user typed, instructions, memories, dates and what
already stands for more all stay."""


def snip(settings: SnipSettings) -> Stage:
    """Make the stage; pinned messages are passed over like the user's words."""

    def stage(view: View, scene: StageContext) -> StageOutcome:
        effective = scene.budget.effective_tokens
        if not settings.enabled or scene.budget.used_tokens <= settings.trigger_fraction * effective:
            return NOTHING
        target = round(settings.target_fraction * effective)
        return snip_to(view, scene, target, pinned=list_pinned(scene.entries))

    return stage


def snip_to(view: View, scene: StageContext, target_tokens: int, *, pinned: Collection[str] = ()) -> StageOutcome:
    """Remove the oldest rounds until the view weighs at most so much, and no more; also what `/snip` does."""
    to_free = scene.budget.used_tokens - target_tokens
    entries: list[Entry] = []
    freed_in_all = removed_in_all = 0
    for run in _runs(view.items, scene, pinned, to_free):
        digest = digest_of(run, rereads=scene.rereads)
        freed = sum(map(scene.weigh, run)) - scene.weigh_text(digest)
        if freed <= 0:
            continue
        entries.append(SnipEntry(scene.envelope(), tuple(item.uuid for item in run), digest, freed))
        freed_in_all += freed
        removed_in_all += len(run)
    if not entries:
        return NOTHING
    return StageOutcome(tuple(entries), reductions=(Reduction("snip", freed_in_all, removed_in_all),))


def digest_of(run: Sequence[Item], *, rereads: bool = True) -> str:
    """One line for a removed run: how much, what it did, and the ids under which it can be read again."""
    again = f" They can be read again from {run[0].uuid} to {run[-1].uuid}." if rereads else ""
    return f"[{format_count(len(run), 'older message')} left out here: {in_short(run)}.{again}]"


def old_rounds(items: Sequence[Item]) -> Iterable[Sequence[Item]]:
    """The smallest parts between legal cuts, oldest first; the newest reply and what follows it are protected."""
    tail = next((number for number in range(len(items) - 1, -1, -1) if items[number].kind is ItemKind.REPLY), 0)
    cuts = [cut for cut in legal_cuts(items) if cut <= tail]
    return (items[start:end] for start, end in pairwise(cuts))


def may_go(items: Iterable[Item], pinned: Collection[str]) -> bool:
    """Whether a reduction without a summary may take all of these out."""
    return all(item.kind in _GOES and item.uuid not in pinned for item in items)


def _runs(items: Sequence[Item], scene: StageContext, pinned: Collection[str], to_free: int) -> list[list[Item]]:
    """Neighbouring rounds between the messages that stay: the oldest, as many as free so much beside their digests."""
    runs: list[list[Item]] = [[]]
    weight = 0
    for piece in old_rounds(items):
        if weight >= to_free and weight - sum(_digest_tokens(run, scene) for run in runs) >= to_free:
            break
        if may_go(piece, pinned):
            runs[-1].extend(piece)
            weight += sum(map(scene.weigh, piece))
        else:
            runs.append([])
    return [run for run in runs if run]


def _digest_tokens(run: Sequence[Item], scene: StageContext) -> int:
    return scene.weigh_text(digest_of(run, rereads=scene.rereads)) if run else 0
