"""The one driver of compaction: when to compact, on what, with which model, and what becomes of the result.

The session's loop, `/compact`, `Window` and replay all come here. `gate` decides, `pipeline.compact_now` and `reactive`
make the entries, and this module appends them. A compaction that fails leaves a mark and never costs a turn. With a
model the work is done in a thread, on a snapshot of the conversation, so that a long session holds nobody up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from reverie.context.collapse import collapse, find_queued
from reverie.context.compact import Direction, OneSide
from reverie.context.conversation import Aside, Conversation
from reverie.context.gate import Breaker, Compact, Veto, breaker, gate
from reverie.context.pipeline import compact_now, mark_failed, run_embedded_flow, write_outcome_files
from reverie.context.preparer import Preparer, ReadyRequest
from reverie.context.reactive import Attempts, SendAgain, rescue
from reverie.context.receipt import receipts
from reverie.context.replacement import Case
from reverie.context.restore import NO_SURROUNDINGS, RestoreContext
from reverie.context.session_notes import NotesFile
from reverie.context.spans import chain, list_pinned
from reverie.context.stage import NOTHING, StageContext, StageOutcome
from reverie.context.summarise import EMBEDDED
from reverie.errors import ContextTooLong, Unavailable
from reverie.messages.entries import BoundaryEntry
from reverie.models.flow import run_flow
from reverie.models.ports import Model, Request

_MAX_FREE_COMPACTIONS = 4
"""How often a view is compacted without a model before one request while it does not fit."""


class CompactionHost:
    """What the owner of a conversation offers its compactor; this one offers nothing."""

    __slots__ = ()

    def restore_context(self) -> RestoreContext:
        """What returns after a compaction; asked only when one takes place."""
        return NO_SURROUNDINGS

    def read_notes(self) -> NotesFile | None:
        """The session notes, where a compaction may use them."""
        return None

    async def reopen(self) -> None:
        """After every compaction: render the cached parts of the prompt anew."""

    def attach(self, kind: str, text: str) -> None:
        """Add a hook's words for the model."""


class CompactionListener(Protocol):
    """Hears of the reductions of a conversation and may refuse its compactions; `session.compaction` fires hooks."""

    async def refuse(self, trigger: str, instructions: str) -> str:
        """Why there must be no compaction now; empty when there may be one."""
        ...

    async def finish(self, trigger: str, outcome: StageOutcome) -> Sequence[str]:
        """Called once the entries of a reduction are part of the conversation; returns words for the model."""
        ...

    def warn(self, text: str) -> None:
        """Tell the user something about a compaction."""
        ...


class NoListener:
    """Nobody listens."""

    async def refuse(self, trigger: str, instructions: str) -> str:  # noqa: ARG002
        return ""

    async def finish(self, trigger: str, outcome: StageOutcome) -> Sequence[str]:  # noqa: ARG002
        return ()

    def warn(self, text: str) -> None:
        pass


@dataclass(slots=True)
class Compactor:
    """Keeps one conversation inside its window."""

    log: Conversation
    preparer: Preparer
    host: CompactionHost = field(default_factory=CompactionHost)
    listener: CompactionListener = field(default_factory=NoListener)
    is_internal: bool = False
    """Whether the conversation is a background fork's, which is never compacted by itself."""
    _unpaid: Veto | None = None
    """Why the last compaction asked no model; said once, until one is asked again."""

    def prepare(self, *, max_tokens: int | None = None) -> ReadyRequest:
        """Reduce the conversation where that is due, without a model, and make its next request.

        Raises `ContextTooLong`, naming the largest message, when nothing makes it fit; nothing is lost.
        """
        reduced = self.preparer.reduce(self.log)
        for _ in range(_MAX_FREE_COMPACTIONS):
            outcome = self._compact_without_model(reduced.scene)
            if not outcome.entries:
                break
            reduced = replace(reduced, outcome=reduced.outcome + outcome, scene=self.preparer.scene(self.log))
            # What is left may count for more than was reckoned; the next try reckons with that.
            if not reduced.scene.budget.is_blocked:
                break
        return self.preparer.request(self.log, reduced, max_tokens=max_tokens)

    async def compact_if_due(self, scene: StageContext, model: Model, parent: Request | None) -> bool:
        """Compact when the gate says so; whether it did."""
        if not scene.budget.must_compact:
            return False
        whole = await asyncio.to_thread(chain, tuple(self.log.entries), self.log.leaf)
        decision = gate(scene.budget, self.preparer.settings, breaker(whole), internal=self.is_internal)
        if not isinstance(decision, Compact):
            return False
        if decision.unpaid is not None and decision.unpaid is not self._unpaid:
            self.listener.warn(
                f"summaries are written without a model for now: {decision.unpaid.value}; /compact asks it again"
            )
        self._unpaid = decision.unpaid
        return bool(await self._compact("auto", scene, model, parent, pays=decision.unpaid is None))

    async def compact(
        self, model: Model | None, parent: Request | None, *, instructions: str = "", part: OneSide | None = None
    ) -> StageOutcome:
        """Compact because somebody asked for it; nothing when nothing could be gained or compaction is switched off.

        Without a model the embedded summariser writes the summary. Raises `UserMistake` when no message is the one that
        `part` names.
        """
        scene = self.preparer.scene(self.log)
        return await self._compact("manual", scene, model, parent, instructions=instructions, part=part)

    async def collapse_if_due(self, model: Model, parent: Request | None) -> None:
        """Fold the oldest spans into summaries of the model, where collapse is on and its second line is crossed."""
        settings = self.preparer.settings.collapse
        if self.is_internal or not settings.enabled:
            return
        scene = self.preparer.scene(self.log)
        if not scene.budget.must_run_collapse:
            return
        before = tuple(chain(self.log.entries, self.log.leaf))
        aside = self.log.aside()
        flow = collapse(
            self.preparer.adapt_view(self.log),
            replace(scene, envelope=aside.envelope),
            settings,
            find_queued(before),
            pinned=list_pinned(before),
        )
        try:
            outcome = await run_flow(flow, model, parent or Request(model.name, ()), in_thread=True)
        except Unavailable:
            # The stage that follows folds by structure.
            return
        await self._append("auto", outcome, aside)

    async def rescue(
        self, problem: Unavailable, attempts: Attempts, model: Model, parent: Request | None
    ) -> Attempts | None:
        """Shrink a request that does not fit; None when nothing helps and the error is the user's."""
        if isinstance(problem, ContextTooLong) and await self.listener.refuse("auto", ""):
            return None
        aside, settings = self.log.aside(), self.preparer.settings
        case = self._case(self.preparer.scene(self.log), aside, "auto", self.host.restore_context())
        flow = rescue(case, settings, problem, attempts)
        try:
            answer = await run_flow(flow, model, parent or Request(model.name, ()), in_thread=True)
        except Unavailable:
            answer = await asyncio.to_thread(run_embedded_flow, rescue(case, settings, problem, attempts))
        if not isinstance(answer, SendAgain):
            return None
        await self._append("auto", answer.outcome, aside)
        return answer.attempts

    async def _compact(
        self,
        trigger: str,
        scene: StageContext,
        model: Model | None,
        parent: Request | None,
        *,
        instructions: str = "",
        part: OneSide | None = None,
        pays: bool = True,
    ) -> StageOutcome:
        refusal = await self.listener.refuse(trigger, instructions)
        if refusal:
            self.listener.warn(f"compaction blocked by a hook: {refusal}")
            return NOTHING
        aside, settings = self.log.aside(), self.preparer.settings
        # What stands before the message stays as it is, so nothing of it has to return.
        folds = part is not None and part.direction is Direction.FROM
        around = self.host.restore_context()
        around = replace(NO_SURROUNDINGS, instructions=around.instructions) if folds else around
        case = self._case(scene, aside, trigger, around)
        notes = self.host.read_notes()
        flow = compact_now(case, settings, notes, instructions=instructions, part=part, pays=pays)
        try:
            if model is None:
                outcome = await asyncio.to_thread(run_embedded_flow, flow)
            else:
                outcome = await run_flow(flow, model, parent or Request(model.name, ()), in_thread=True)
        except Unavailable as problem:
            self.listener.warn(f"the model wrote no summary ({problem}); using the built-in summary")
            again = compact_now(case, settings, notes, instructions=instructions, part=part)
            outcome = await asyncio.to_thread(run_embedded_flow, again)
        if not outcome.entries and trigger == "auto":
            outcome = mark_failed(case.scene, "nothing could be gained")
        elif (
            trigger == "auto" and pays and all(receipt.written_by == EMBEDDED for receipt in receipts(outcome.entries))
        ):
            # The model was asked in vain; after a few times it is not asked any more.
            outcome += mark_failed(case.scene, "the model wrote no summary")
        await self._append(trigger, outcome, aside)
        return outcome if outcome.reductions else NOTHING

    def _compact_without_model(self, scene: StageContext) -> StageOutcome:
        """Compact, or do what the strategy does instead, when the view is above the compaction line."""
        if not scene.budget.must_compact:
            return NOTHING
        settings, aside = self.preparer.settings, self.log.aside()
        case = self._case(scene, aside, "auto", NO_SURROUNDINGS)
        if self.preparer.strategy.reduce is not None:
            outcome = self.preparer.strategy.reduce(case)
        elif isinstance(gate(scene.budget, settings, Breaker()), Compact) or (
            scene.budget.is_blocked and settings.compaction.rescues
        ):
            outcome = run_embedded_flow(compact_now(case, settings, pays=False))
        else:
            return NOTHING
        outcome = write_outcome_files(outcome)
        self.log.take(aside, outcome.entries)
        return outcome

    def _case(self, scene: StageContext, aside: Aside, trigger: str, around: RestoreContext) -> Case:
        """What a compaction looks at: the conversation as it is now, whatever is added to it meanwhile."""
        return Case(
            self.preparer.adapt_view(self.log),
            tuple(self.log.entries),
            replace(scene, envelope=aside.envelope),
            self.preparer.settings.compaction,
            around,
            trigger=trigger,
            spill_path=self.preparer.spill_path,
        )

    async def _append(self, trigger: str, outcome: StageOutcome, aside: Aside) -> None:
        self.log.take(aside, (await asyncio.to_thread(write_outcome_files, outcome)).entries)
        if not outcome.reductions:
            return
        if any(isinstance(entry, BoundaryEntry) for entry in outcome.entries):
            await self.host.reopen()
        for text in await self.listener.finish(trigger, outcome):
            self.host.attach("hook_additional_context", text)
