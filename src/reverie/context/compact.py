"""Full and partial compaction: a summary takes the place of the history, or of one side of it.

The newest rounds, and everything that the model has not answered yet, stay as they are; what cannot fit even so is
shortened by `fit`. All else is summed up once, by a model or by structure, and the must-survive list is checked against
the result whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from reverie.amounts import format_count
from reverie.context import digest
from reverie.context.receipt import RECEIPT, Receipt, in_view
from reverie.context.replacement import Case, Replacement, build, keepable, seal, summary_limit
from reverie.context.spans import plain, short_ids
from reverie.context.stage import NOTHING, Reduction, StageOutcome
from reverie.context.summarise import EMBEDDED, SummaryRequest, WrittenSummary, by_structure, summarise
from reverie.context.survive import MustSurvive, SurvivalLimits, bring_back, must_survive
from reverie.errors import ContextTooLong, UserMistake
from reverie.messages.entries import CollapseEntry, MarkEntry
from reverie.messages.message import user
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, ItemKind, View
from reverie.models.ports import Flow
from reverie.models.tokens.window import WindowBudget
from reverie.values import value

TAIL_FRACTION = 0.10
"""Share of E that the newest rounds may take when they are kept as they are, up to the least tail beside notes."""
STRUCTURE_TOKENS = 10_000
"""How long a summary by structure gets however large the window is. Its best lines come first, and what the next rounds
need stands in the first 8,000 to 10,000 tokens at every window that `bench.fidelity` measured on the sessions it was
tuned on; what is written beyond is read and paid for with every request and tells nothing more."""
LEAST_SUMMARY_TOKENS = 200
"""A model is not asked for a shorter summary."""
_QUOTE_CHARS = 80
_PROMPTS_NAMED = 5
PARTIAL = "partial compaction"


class Direction(StrEnum):
    """Which side of the pivot is summed up."""

    FROM = "from"
    """The pivot and what follows; the part before it, and its cache, stay."""
    UP_TO = "up_to"
    """What comes before the pivot; the pivot and what follows stay."""


@value
class OneSide:
    """The side of a message that is to be summed up; the message by its id or the beginning of it."""

    direction: Direction
    pivot: str


def compact(
    case: Case,
    *,
    instructions: str = "",
    tail_tokens: int | None = None,
    was_refused: bool = False,
    keeps_unanswered: bool = True,
) -> Flow[StageOutcome]:
    """Replace the whole history; nothing when that would gain nothing.

    `tail_tokens` is what the newest rounds may take to stay as they are; what nobody has answered yet stays whatever
    its size, unless `keeps_unanswered` is off. `was_refused` says that the conversation is too long for a request, so
    that the summariser does not read what stays.
    """
    items = case.view.items
    most = min(case.settings.keep_min_tokens, int(case.scene.budget.effective_tokens * TAIL_FRACTION))
    start = _tail_start(items, case, most if tail_tokens is None else tail_tokens) if keeps_unanswered else len(items)
    return (yield from _replace_before(case, start, instructions, "full compaction", was_refused))


def compact_part(case: Case, part: OneSide, *, instructions: str = "") -> Flow[StageOutcome]:
    """Replace one side of a message; the cut moves to the next place where no tool call is parted from its result.

    Raises `UserMistake` when no message of the view has the id.
    """
    at = _place(case.view.items, part.pivot)
    if part.direction is Direction.UP_TO:
        return (yield from _replace_before(case, at, instructions, PARTIAL, was_refused=False))
    return (yield from _fold_from(case, at, instructions))


def too_large(
    view: View, budget: WindowBudget, weigh_item: Callable[[Item], int], prompt_tokens: int, *, compacts: bool = True
) -> ContextTooLong:
    """The error for a view that does not fit, with what takes the room and the way on.

    `prompt_tokens` is the size of system text and tools; `compacts` says whether compaction is allowed at all.
    """
    limit = budget.blocking_tokens
    message = f"the request needs {budget.used_tokens:,} tokens and {limit:,} are there"
    largest = max(view.items, key=weigh_item, default=None)
    if prompt_tokens > limit - LEAST_SUMMARY_TOKENS:
        message += (
            f"; system text and tools alone take about {prompt_tokens:,}. Start with --bare, offer fewer tools, or use "
            "a model with a larger window"
        )
    else:
        if largest is not None:
            description = f"{largest.kind.value}: “{_words(largest)}”"
            message += f"; the largest message takes {weigh_item(largest):,} ({description})"
        allowed = "" if compacts else " once compaction.enabled is true; until then /snip, /rewind and /clear do"
        message += f". /compact makes room (compact() in Python){allowed}; nothing was lost"
    return ContextTooLong(message, used_tokens=budget.used_tokens, limit_tokens=limit)


def _replace_before(case: Case, start: int, instructions: str, kind: str, was_refused: bool) -> Flow[StageOutcome]:
    items = case.view.items
    kept_items = keepable(case, items[start:])
    if not instructions and len(kept_items) == len(keepable(case, items)):
        # Nothing is left to sum up but what a compaction wrote itself.
        return NOTHING
    skills = (skill.name for skill in case.around.skills)
    must = must_survive(case.entries, case.view.leaf, skills, rereads=case.scene.rereads)
    limit = summary_limit(case, must, kept_items)
    scope = (
        ""
        if not kept_items
        else _scope("The messages from this one on stay as they are and need no summary", kept_items[0])
    )
    request = SummaryRequest(
        items[:start] if was_refused or kind == PARTIAL else items,
        limit,
        case.weight(items) - case.weight(kept_items),
        lambda: _by_structure(case, must, kept_items, limit),
        scope,
        _join_instructions(case, instructions),
    )
    # A summary of a few words is not worth asking for: the model would answer with a sentence about nothing.
    asks = limit >= LEAST_SUMMARY_TOKENS
    written = (yield from summarise(request, case.scene, case.settings)) if asks else by_structure(request)
    replacement = _smaller(case, must, kind, written, kept_items, limit)
    if replacement is None and written.by != EMBEDDED:
        replacement = _smaller(case, must, kind, by_structure(request), kept_items, limit)
    return NOTHING if replacement is None else seal(case, replacement)


def _smaller(
    case: Case, must: MustSurvive, kind: str, written: WrittenSummary, kept_items: Sequence[Item], limit: int
) -> Replacement | None:
    """The replacement, if it is smaller than what is there."""
    before = case.overhead_tokens + case.weight(case.view.items)
    replacement = build(case, must, written, kind=kind, kept_items=kept_items, limit_tokens=limit)
    return replacement if replacement.tokens < before else None


def _by_structure(case: Case, must: MustSurvive, kept_items: Sequence[Item], limit: int) -> str:
    """The embedded summary. The user's words are left to the must-survive list, which accounts for each."""
    return digest.summary(
        must.facts,
        limit_tokens=min(limit, STRUCTURE_TOKENS),
        weigh=case.scene.weigh_text,
        requests_tokens=0,
        beside="\n".join(map(plain, kept_items)),
        kept_ids=[request.uuid for request in must.facts.requests],
        rereads=must.rereads,
    )


def _fold_from(case: Case, start: int, instructions: str) -> Flow[StageOutcome]:
    """Show everything from the pivot on as one summary behind an unchanged prefix."""
    items = case.view.items
    gone = items[start:]
    weigh = case.scene.weigh_text
    must = must_survive(case.entries, case.view.leaf, rereads=case.scene.rereads)
    replaced = case.weight(gone)
    limit = min(case.settings.summary_max_tokens, replaced // 2)
    request = SummaryRequest(
        items,
        limit,
        replaced,
        lambda: _by_structure(case, must, items[:start], limit),
        _scope("Only what follows from this message on is replaced; what comes before it stays", gone[0])
        if gone
        else "",
        _join_instructions(case, instructions),
    )
    if not gone:
        return NOTHING
    asks = limit >= LEAST_SUMMARY_TOKENS
    written = (yield from summarise(request, case.scene, case.settings)) if asks else by_structure(request)
    effective = case.scene.budget.effective_tokens
    quarter = max(0, replaced - limit) // 4
    limits = SurvivalLimits(
        min(int(effective * case.settings.user_text_fraction), 2 * quarter), quarter, quarter, quarter
    )
    short = short_ids(item.uuid for item in must.items)
    ends = (short.get(gone[0].uuid, gone[0].uuid), short.get(gone[-1].uuid, gone[-1].uuid))
    again = f" They can be read again from {ends[0]} to {ends[1]}." if must.rereads else ""
    head = f"[{format_count(len(gone), 'message')} shown here as a summary.{again}]\n"
    shown = [*items[:start], Item("", ItemKind.FOLD, user(written.text))]
    carried = bring_back(must, shown, limits, weigh)
    before = case.scene.budget.used_tokens
    receipt = Receipt(PARTIAL, written.by, gone[0].uuid, gone[-1].uuid, before, 0, carried.lines, unread=written.unread)
    receipt_text = in_view(
        receipt,
        limit_tokens=int(effective * case.settings.receipt_fraction),
        weigh=weigh,
        short=must.short,
        rereads=must.rereads,
    )
    text = head + "\n\n".join(filter(None, (written.text, carried.text, receipt_text)))
    freed = replaced - weigh(text)
    if freed <= 0:
        return NOTHING
    entry = CollapseEntry(case.scene.envelope(), gone[0].uuid, gone[-1].uuid, text)
    receipt = replace(receipt, post_tokens=max(0, before - freed))
    mark = MarkEntry(case.scene.envelope(), RECEIPT, receipt.to_json())
    return StageOutcome((entry, mark), reductions=(Reduction(PARTIAL, freed, len(gone), written.by),))


def find_first_unanswered(items: Sequence[Item]) -> int:
    """Where the part begins that the model has not answered: its newest calls with their results, or whatever came
    after its last words.
    """
    last = max((n for n, item in enumerate(items) if item.kind is ItemKind.REPLY), default=-1)
    cuts = legal_cuts(items)
    first = max((cut for cut in cuts if cut <= last), default=0)
    calls = any(item.message.tool_uses for item in items[first : last + 1])
    return first if calls else max(cut for cut in cuts if cut <= last + 1)


def _tail_start(items: Sequence[Item], case: Case, most_tokens: int) -> int:
    """Where the part begins that stays: the newest rounds that fit, and in any case what nobody has answered."""
    waiting = find_first_unanswered(items)
    solid = max((n + 1 for n in range(waiting) if items[n].kind in (ItemKind.SUMMARY, ItemKind.FOLD)), default=0)
    keeps = {item.uuid for item in keepable(case, items)}
    start = len(items)
    weight = 0
    for cut in reversed([cut for cut in legal_cuts(items) if cut >= solid]):
        weight += case.weight(item for item in items[cut:start] if item.uuid in keeps)
        if weight > most_tokens:
            break
        start = cut
    return min(start, waiting)


def _place(items: Sequence[Item], pivot: str) -> int:
    for number, item in enumerate(items):
        if item.uuid.startswith(pivot):
            return min(cut for cut in legal_cuts(items) if cut >= number)
    typed = [item for item in items if item.kind is ItemKind.TYPED][-_PROMPTS_NAMED:]
    short = short_ids(item.uuid for item in items)
    named = ", ".join(f"{short[item.uuid]} “{_words(item)}”" for item in typed)
    raise UserMistake(f"no message in the context has the id {pivot!r}; your most recent messages: {named or 'none'}")


def _join_instructions(case: Case, instructions: str) -> str:
    """What the project's files and the user ask of the summary."""
    return "\n\n".join(filter(None, (case.around.instructions, instructions)))


def _scope(sentence: str, item: Item) -> str:
    return f"{sentence}: the one that begins with “{_words(item)}”."


def _words(item: Item) -> str:
    return " ".join(plain(item).split())[:_QUOTE_CHARS]
