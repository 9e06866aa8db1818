"""The stages before a request in their order, and the compactions behind them in theirs.

Before each request: spill, snip, clearing, collapse; each sees the view that the one before it left. A stage that fails
is skipped, a compaction that fails leaves a mark for the breaker: no reduction ever costs a turn. `compact_now` says
what a compaction makes of a conversation; `compaction` decides when and appends the result.

Without a model a flow is answered by the embedded answer that every question carries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from reverie.context.collapse import collapse_stage
from reverie.context.compact import OneSide, compact, compact_part
from reverie.context.fit import fit
from reverie.context.gate import FAILED
from reverie.context.microcompact import microcompact
from reverie.context.notes_compaction import Declined, compact_by_notes
from reverie.context.receipt import receipts
from reverie.context.replacement import Case
from reverie.context.session_notes import NotesFile
from reverie.context.snip import snip
from reverie.context.spill import keep_inline, spill
from reverie.context.stage import NOTHING, Stage, StageContext, StageOutcome
from reverie.errors import Error
from reverie.files import write_atomic
from reverie.messages.entries import MarkEntry
from reverie.messages.message import Usage, assistant
from reverie.messages.view import Projection, View
from reverie.models.ports import Flow, Reply
from reverie.settings import Settings
from reverie.values import value

BREAKAGES = (ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError)
"""What a mistake of ours raises on a conversation that nobody foresaw; it must cost a reduction and never a turn."""


@value
class Failure:
    """A stage that was passed over, and why; for the log."""

    stage: str
    error: str


@value
class PreparedView:
    """What the stages did before a request."""

    outcome: StageOutcome
    scene: StageContext
    """With the count of the view as it is now."""
    failures: tuple[Failure, ...] = ()


def stages(settings: Settings, *, spill_path: Callable[[str], Path] | None = None) -> tuple[Stage, ...]:
    """The stages in their order, each switched by its own settings."""
    return (
        spill(settings.spill, spill_path),
        snip(settings.snip),
        microcompact(settings.clearing, settings.cache),
        collapse_stage(settings.collapse),
    )


def prepare(
    projection: Projection,
    scene: StageContext,
    steps: Sequence[Stage],
    measure: Callable[[View], int],
    write: Callable[[StageOutcome], StageOutcome] | None = None,
) -> PreparedView:
    """Run the stages before a request and feed what they want into the projection.

    `measure` counts a view again after something was taken out. `write` carries out the file writes of an outcome and
    returns it as far as that worked; see `write_outcome_files`.
    """
    done = NOTHING
    failures: list[Failure] = []
    view = projection.view()
    for step in steps:
        try:
            outcome = step(view, scene)
        except (Error, *BREAKAGES) as problem:
            failures.append(Failure(getattr(step, "__qualname__", "stage"), f"{type(problem).__name__}: {problem}"))
            continue
        if not outcome.entries:
            continue
        outcome = outcome if write is None else write(outcome)
        view = apply(projection, outcome)
        done += outcome
        if outcome.reductions:
            scene = replace(scene, budget=scene.budget.using(measure(view)))
    return PreparedView(done, scene, tuple(failures))


def apply(projection: Projection, outcome: StageOutcome) -> View:
    """Append the entries of an outcome to a projection; the view that results."""
    return projection.extend(outcome.entries).view()


def write_outcome_files(outcome: StageOutcome) -> StageOutcome:
    """Write the files of an outcome; what the disk refuses stays in the conversation instead."""
    failed: set[Path] = set()
    for write in outcome.writes:
        try:
            write_atomic(write.path, write.content)
        except Error:
            failed.add(write.path)
    return keep_inline(outcome, failed) if failed else outcome


def compact_now(
    case: Case,
    settings: Settings,
    notes: NotesFile | None = None,
    *,
    instructions: str = "",
    part: OneSide | None = None,
    pays: bool = True,
    was_refused: bool = False,
) -> Flow[StageOutcome]:
    """Make room, whoever asks for it: by the notes, in full where they decline, then by what `fit` can still shorten.

    Notes are passed over when instructions are given, and when only one side of a message is meant (`part`); without
    `pays` no model is asked. What the model has not answered stays whole while it fits; a view that does not fit with
    it loses it to the summary as the last means. An automatic compaction that gains nothing, or in which something
    breaks, returns the mark that the breaker counts.
    """
    if not settings.compaction.enabled:
        return NOTHING
    reason = "no compaction made the conversation smaller"
    try:
        case = case.shrink_to_count()
        is_whole = part is None and not instructions
        outcome = _by_notes(case, settings, notes) if notes is not None and is_whole else NOTHING
        if not outcome.entries:
            flow = (
                compact(case, instructions=instructions, was_refused=was_refused)
                if part is None
                else compact_part(case, part, instructions=instructions)
            )
            outcome = (yield from flow) if pays else run_embedded_flow(flow)
        outcome = _fit_outcome(case, outcome)
    except BREAKAGES as problem:
        if case.trigger != "auto":
            raise
        outcome, reason = NOTHING, f"{type(problem).__name__}: {problem}"
    if outcome.entries or case.trigger != "auto":
        return outcome
    return mark_failed(case.scene, reason)


def _by_notes(case: Case, settings: Settings, notes: NotesFile) -> StageOutcome:
    compacted = compact_by_notes(case, settings, notes)
    return NOTHING if isinstance(compacted, Declined) else compacted


def _fit_outcome(case: Case, outcome: StageOutcome) -> StageOutcome:
    """An outcome with what must still happen for the view to fit."""
    written_receipts = receipts(outcome.entries)
    if written_receipts and written_receipts[-1].post_tokens <= case.scene.budget.blocking_tokens:
        return outcome
    after = case.after(outcome)
    outcome += (shorter := fit(after))
    after = after.after(shorter)
    if after.tokens > after.scene.budget.blocking_tokens:
        outcome += (last := run_embedded_flow(compact(after, keeps_unanswered=False)))
        outcome += fit(after.after(last))
    return outcome


def mark_failed(scene: StageContext, reason: str) -> StageOutcome:
    """The mark of an automatic compaction that came to nothing."""
    return StageOutcome((MarkEntry(scene.envelope(), FAILED, {"reason": reason}),))


Result = TypeVar("Result")


def run_embedded_flow(flow: Flow[Result]) -> Result:
    """Run a flow to its end on embedded answers alone."""
    try:
        ask = next(flow)
        while True:
            ask = flow.send(Reply(assistant(ask.embedded()), Usage(), "end_turn", "embedded"))
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        flow.close()
