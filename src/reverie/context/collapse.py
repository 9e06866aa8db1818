"""Old spans shown folded, like code in an editor: the history stays whole, only what is sent is shorter.

Commits are `CollapseEntry`s, replayed by the projection and therefore alive after a resume; a boundary starts without
them. At 90 % of E spans are staged (a mark), at 95 % the staged ones are summed up and committed, by a model or by
structure; when the provider says "too long", all staged ones are committed at once (`drain`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from reverie.amounts import format_count
from reverie.context import digest
from reverie.context.cut import shorten_text
from reverie.context.facts import gather
from reverie.context.prompt import fill, read_prompt
from reverie.context.snip import may_go, old_rounds
from reverie.context.spans import list_pinned
from reverie.context.stage import NOTHING, Reduction, Stage, StageContext, StageOutcome
from reverie.context.summarise import without_media
from reverie.messages.blocks import Json
from reverie.messages.entries import BoundaryEntry, CollapseEntry, Entry, MarkEntry
from reverie.messages.message import user
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, View
from reverie.models.ports import Ask, Flow
from reverie.settings import CollapseSettings
from reverie.values import value

STAGED = "collapse_staged"
"""Name of the mark that queues spans; its data has them as pairs of ids."""
_BEGINS = "[A stretch from the middle of a longer conversation follows.]"
TARGET_FRACTION = 0.70
"""Share of E to which the staged spans together would bring the view down, as with snip."""


@value
class Queued:
    """A span that is staged: its first and last message."""

    first: str
    last: str


def collapse_stage(settings: CollapseSettings) -> Stage:
    """Make the stage that queues spans at the first line; what is queued already is not queued again.

    At the second line it commits them by structure, where no model has done so before (`collapse`).
    """

    def stage(view: View, scene: StageContext) -> StageOutcome:
        if not settings.enabled or not scene.budget.must_stage_collapse:
            return NOTHING
        queue, pinned = find_queued(scene.entries), list_pinned(scene.entries)
        if scene.budget.must_run_collapse:
            return drain(view, scene, settings, queue, pinned=pinned)
        waiting = [span for one in queue if (span := _items_of(view.items, one))]
        expected = sum(_gain(span, scene, settings) for span in waiting)
        taken = {item.uuid for span in waiting for item in span}.union(pinned)
        spans = choose_spans(view, scene, settings, expected_tokens=expected, taken=taken)
        if not spans:
            return NOTHING
        pairs: list[Json] = [[span[0].uuid, span[-1].uuid] for span in spans]
        return StageOutcome((MarkEntry(scene.envelope(), STAGED, {"spans": pairs}),))

    return stage


def find_queued(entries: Iterable[Entry]) -> tuple[Queued, ...]:
    """What is staged and not yet committed after these entries of a chain; a boundary empties the queue."""
    waiting: dict[str, Queued] = {}
    for entry in entries:
        match entry:
            case BoundaryEntry():
                waiting.clear()
            case CollapseEntry():
                waiting.pop(entry.first, None)
            case MarkEntry(name=name, data=data) if name == STAGED:
                spans = data.get("spans")
                for pair in spans if isinstance(spans, list) else ():
                    match pair:
                        case [str() as first, str() as last]:
                            waiting[first] = Queued(first, last)
                        case _:
                            continue
            case _:
                continue
    return tuple(waiting.values())


def choose_spans(
    view: View,
    scene: StageContext,
    settings: CollapseSettings,
    *,
    expected_tokens: int = 0,
    taken: Collection[str] = (),
) -> list[list[Item]]:
    """The oldest runs of whole rounds, each of a certain size, until the view would be down to its target.

    What the user typed, summaries, folds and `taken` messages are passed over; the newest reply and what follows are
    protected.
    """
    effective = scene.budget.effective_tokens
    to_free = scene.budget.used_tokens - int(effective * TARGET_FRACTION) - expected_tokens
    least = max(1, int(effective * settings.min_span_fraction))
    spans: list[list[Item]] = []
    span: list[Item] = []
    weight = 0
    for piece in old_rounds(view.items):
        if to_free <= 0:
            break
        if not may_go(piece, taken):
            span, weight = [], 0
            continue
        span = [*span, *piece]
        weight += sum(map(scene.weigh, piece))
        if weight >= least:
            to_free -= _gain(span, scene, settings)
            spans.append(span)
            span, weight = [], 0
    return spans


def collapse(
    view: View,
    scene: StageContext,
    settings: CollapseSettings,
    queue: Sequence[Queued],
    *,
    pinned: Collection[str] = (),
) -> Flow[StageOutcome]:
    """Work the queue off: one question per span; a span whose summary fails is summed up by structure."""
    outcome = NOTHING
    for span in _spans(view, scene, settings, queue, pinned):

        def digest_span(span: list[Item] = span) -> str:
            return _by_structure(span, scene, settings)

        reply = yield Ask(
            "collapse",
            fill(read_prompt("span"), {"limit": f"{settings.summary_tokens:,}"}),
            digest_span,
            # A conversation begins with the user, and most spans with a reply.
            context=(user(_BEGINS), *(without_media(item.message) for item in span)),
            max_tokens=settings.summary_tokens,
            embedded_on_failure=True,
        )
        outcome += _commit(span, reply.text.strip() or digest_span(), scene, settings)
    return outcome


def drain(
    view: View,
    scene: StageContext,
    settings: CollapseSettings,
    queue: Sequence[Queued],
    *,
    pinned: Collection[str] = (),
) -> StageOutcome:
    """Commit everything that is staged now, without asking anybody; nothing staged means the oldest spans."""
    outcome = NOTHING
    for span in _spans(view, scene, settings, queue, pinned):
        outcome += _commit(span, _by_structure(span, scene, settings), scene, settings)
    return outcome


def _spans(
    view: View, scene: StageContext, settings: CollapseSettings, queue: Sequence[Queued], pinned: Collection[str]
) -> list[list[Item]]:
    """What is staged; the oldest spans when nothing is."""
    staged = [span for one in queue if (span := _items_of(view.items, one))]
    return staged or choose_spans(view, scene, settings, taken=pinned)


def _commit(span: Sequence[Item], text: str, scene: StageContext, settings: CollapseSettings) -> StageOutcome:
    """Fold a span, if that is shorter than what it stands for."""
    first, last = span[0].uuid, span[-1].uuid
    again = f"; read them again from {first} to {last}" if scene.rereads else ""
    head = f"[{format_count(len(span), 'older message')} folded here{again}.]\n"
    summary = head + shorten_text(text, settings.summary_tokens, scene.weigh_text, "the rest is in these messages")
    freed = sum(map(scene.weigh, span)) - scene.weigh_text(summary)
    if freed <= 0:
        return NOTHING
    entry = CollapseEntry(scene.envelope(), first, last, summary)
    return StageOutcome((entry,), reductions=(Reduction("collapse", freed, len(span)),))


def _by_structure(span: Sequence[Item], scene: StageContext, settings: CollapseSettings) -> str:
    facts = gather(span)
    return digest.summary(facts, limit_tokens=settings.summary_tokens, weigh=scene.weigh_text, rereads=scene.rereads)


def _gain(span: Sequence[Item], scene: StageContext, settings: CollapseSettings) -> int:
    return max(0, sum(map(scene.weigh, span)) - settings.summary_tokens)


def _items_of(items: Sequence[Item], queued: Queued) -> list[Item]:
    """The items of a staged span, none when one of its ends has left the view or a call would be parted."""
    places = {item.uuid: number for number, item in enumerate(items)}
    start, end = places.get(queued.first), places.get(queued.last)
    if start is None or end is None or end < start:
        return []
    cuts = set(legal_cuts(items))
    if start not in cuts or end + 1 not in cuts:
        return []
    span = list(items[start : end + 1])
    return span if may_go(span, ()) else []
