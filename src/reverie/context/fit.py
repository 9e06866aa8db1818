"""The last means: what cannot fit even beside the shortest summary is shown in part.

Runs only when a view is above the blocking limit after everything else was done. Tool results give way first, the
largest before the others, then pictures and attachments, then what was typed. Each keeps its beginning (a shell's
output its end too) and says how much is missing; where the model can read files, the whole text is kept in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.context.cache_edits import is_cache_edit
from reverie.context.cut import head_and_tail
from reverie.context.replacement import Case
from reverie.context.spill import PERSISTED, decide
from reverie.context.stage import CHARS_PER_TOKEN, NOTHING, FileWrite, Reduction, StageOutcome
from reverie.context.summarise import without_media
from reverie.messages.blocks import ToolResult
from reverie.messages.entries import CollapseEntry, Entry, SpillDecision, SpillEntry
from reverie.messages.message import Message
from reverie.messages.view import Item, ItemKind
from reverie.values import value

LEAST_TOKENS = 60
"""However little room there is, so much of a text is shown."""
_LEAST_PREVIEW_BYTES = 120
_SHARE_WITH_FILE, _SHARE_ALONE = 0.10, 0.40
"""Of E, what a shortened text may still take: less where the rest is one read away."""
_ORDER = {ItemKind.ATTACHMENT: 1, ItemKind.META: 1, ItemKind.TYPED: 2}
"""What else may be shortened, the less precious first; replies and summaries are left as they are."""


@value
class _Part:
    """A text of the view that may be shown in part."""

    item: Item
    text: str
    weight: int
    result: ToolResult | None = None
    tool: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        return (0 if self.result is not None else _ORDER[self.item.kind], -self.weight)


def fit(case: Case) -> StageOutcome:
    """Shorten the largest texts until the view is below the blocking limit, or nothing is left to shorten."""
    over = case.tokens - case.scene.budget.blocking_tokens
    if over <= 0:
        return NOTHING
    done = NOTHING
    freed = 0
    for part in sorted(_parts(case), key=lambda part: part.rank):
        if freed >= over:
            break
        outcome = _shorten_part(case, part, over - freed)
        freed += sum(one.freed_tokens for one in outcome.reductions)
        done += outcome
    if not freed:
        return NOTHING
    reduction = Reduction("shortened", freed, len(done.reductions), "it did not fit into the window")
    return StageOutcome(done.entries, done.writes, (reduction,))


def _parts(case: Case) -> Iterator[_Part]:
    names = {call.id: call.name for item in case.view.items for call in item.message.tool_uses}
    for item in case.view.items:
        for result in item.message.tool_results:
            alone = Message(item.message.role, (result,))
            text = without_media(alone).tool_results[0].text
            if not text.startswith(PERSISTED):
                weight = case.scene.weigh(Item("", item.kind, alone))
                yield _Part(item, text, weight, result, names.get(result.tool_use_id, ""))
        if item.kind in _ORDER and not is_cache_edit(item):
            yield _Part(item, without_media(item.message).text, case.scene.weigh(item))


def _shorten_part(case: Case, part: _Part, over_tokens: int) -> StageOutcome:
    """A part in as many tokens as may stay of it; nothing when that is no less."""
    weigh, effective = case.scene.weigh_text, case.scene.budget.effective_tokens
    share = _SHARE_ALONE if case.spill_path is None or part.result is None else _SHARE_WITH_FILE
    room = max(LEAST_TOKENS, min(part.weight - over_tokens, int(effective * share)))
    can_reread = case.scene.rereads and part.result is None
    pointer = f"the whole message is [{part.item.uuid}]" if can_reread else "the middle did not fit into the window"
    shown = head_and_tail(part.text, room, weigh, pointer)
    if part.result is None:
        freed = part.weight - weigh(shown)
        entry: Entry = CollapseEntry(case.scene.envelope(), part.item.uuid, part.item.uuid, shown)
        writes: tuple[FileWrite, ...] = ()
    else:
        size_bytes = max(_LEAST_PREVIEW_BYTES, (room - LEAST_TOKENS) * CHARS_PER_TOKEN)
        reads_files = case.scene.reads_files
        decision = decide(part.result, part.text, part.tool, case.spill_path, size_bytes, reads_files=reads_files)
        decision = decision or SpillDecision(part.result.tool_use_id, shown)
        freed = part.weight - weigh(decision.preview or "")
        entry = SpillEntry(case.scene.envelope(), (decision,))
        writes = (FileWrite(Path(decision.path), part.text, instead=shown),) if decision.path is not None else ()
    if freed <= 0:
        return NOTHING
    return StageOutcome((entry,), writes, (Reduction("shortened", freed),))
