"""Compaction in a running session: the gate, the hooks around it, the model or the embedded writer, the way back.

What a compaction makes of a view is `context`'s matter; when, with what surroundings, and what the user's scripts have
to say is decided here. A compaction that fails leaves a mark and never costs the turn. The work itself is done in a
thread, on a snapshot of the conversation, so that a long session holds nobody up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from reverie.context.collapse import collapse, queued
from reverie.context.compact import Direction, OneSide
from reverie.context.conversation import Aside, Conversation
from reverie.context.embedded import answered
from reverie.context.gate import Compact, Veto, breaker, gate
from reverie.context.pipeline import compact_now, failed, written
from reverie.context.preparer import Preparer
from reverie.context.reactive import Attempts, SendAgain, rescue
from reverie.context.receipt import Receipt, receipts
from reverie.context.replacement import Case
from reverie.context.restore import NO_SURROUNDINGS, RestoreContext
from reverie.context.session_notes import NotesFile
from reverie.context.spans import chain, pinned
from reverie.context.stage import NOTHING, StageContext, StageOutcome
from reverie.context.summarise import EMBEDDED
from reverie.errors import ContextTooLong, Unavailable, UserMistake
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import BoundaryEntry, CollapseEntry, Entry, UserEntry
from reverie.models.flow import run_flow
from reverie.models.ports import Model, Request
from reverie.session.events import Notice, TurnEvent, ViewReduced
from reverie.session.loop_hooks import FiresHooks
from reverie.settings import Settings


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


@dataclass(slots=True)
class Compactor:
    """Keeps one running conversation inside its window."""

    log: Conversation
    preparer: Preparer
    settings: Settings
    hooks: FiresHooks
    emit: Callable[[TurnEvent], None]
    host: CompactionHost
    is_internal: bool = False
    """Whether the conversation is a background fork's, which is never compacted by itself."""
    _told: Veto | None = None
    """Why the last compaction asked no model; said once, until one is asked again."""

    async def if_due(self, scene: StageContext, model: Model, parent: Request | None) -> bool:
        """Compact when the gate says so; whether it did."""
        if not scene.budget.must_compact:
            return False
        whole = await asyncio.to_thread(chain, tuple(self.log.entries), self.log.leaf)
        decision = gate(scene.budget, self.settings, breaker(whole), internal=self.is_internal)
        if not isinstance(decision, Compact):
            return False
        if decision.unpaid is not None and decision.unpaid is not self._told:
            told = f"summaries are written without a model for now: {decision.unpaid.value}; /compact asks it again"
            self.emit(Notice(told, "warning"))
        self._told = decision.unpaid
        return bool(await self._compact("auto", "", scene, model, parent, pays=decision.unpaid is None))

    async def collapse_if_due(self, model: Model, parent: Request | None) -> None:
        """Fold the oldest spans into summaries of the model, where collapse is on and its second line is crossed."""
        if self.is_internal or not self.settings.collapse.enabled:
            return
        scene = self.preparer.scene(self.log)
        if not scene.budget.must_run_collapse:
            return
        before = tuple(chain(self.log.entries, self.log.leaf))
        aside = self.log.aside()
        flow = collapse(
            self.preparer.sent_view(self.log),
            replace(scene, envelope=aside.envelope),
            self.settings.collapse,
            queued(before),
            pinned=pinned(before),
        )
        try:
            outcome = await run_flow(flow, model, parent or Request(model.name, ()), in_thread=True)
        except Unavailable:
            # The stage that follows folds by structure.
            return
        self.log.take(aside, outcome.entries)
        if outcome.reductions:
            self.emit(ViewReduced(outcome.reductions))

    async def now(
        self, instructions: str, model: Model, parent: Request | None, part: OneSide | None = None
    ) -> Receipt | None:
        """Compact because the user said so; the receipt, or None when nothing could be gained.

        Raises `UserMistake` where compaction is switched off, and when no message is the one that `part` names.
        """
        if not self.settings.compaction.enabled:
            raise UserMistake("compaction is switched off; set compaction.enabled to true to allow it")
        outcome = await self._compact("manual", instructions, self.preparer.scene(self.log), model, parent, part=part)
        return self._receipt(outcome)

    async def rescue(
        self, problem: Unavailable, attempts: Attempts, model: Model, parent: Request | None
    ) -> Attempts | None:
        """Shrink a request that does not fit; None when nothing helps and the error is the user's."""
        if isinstance(problem, ContextTooLong) and await self._refusal("auto", ""):
            return None
        aside = self.log.aside()
        case = self._case(self.preparer.scene(self.log), aside, "auto", self.host.restore_context())
        flow = rescue(case, self.settings, problem, attempts)
        try:
            found = await run_flow(flow, model, parent or Request(model.name, ()), in_thread=True)
        except Unavailable:
            found = await asyncio.to_thread(answered, rescue(case, self.settings, problem, attempts))
        if not isinstance(found, SendAgain):
            return None
        await self._add("auto", found.outcome, aside)
        return found.attempts

    async def _compact(
        self,
        trigger: str,
        instructions: str,
        scene: StageContext,
        model: Model,
        parent: Request | None,
        *,
        pays: bool = True,
        part: OneSide | None = None,
    ) -> StageOutcome:
        refusal = await self._refusal(trigger, instructions)
        if refusal:
            self.emit(Notice(f"no compaction: a hook says {refusal}", "warning"))
            return NOTHING
        aside = self.log.aside()
        # What stands before the message stays as it is, so nothing of it has to return.
        folds = part is not None and part.direction is Direction.FROM
        around = self.host.restore_context()
        around = replace(NO_SURROUNDINGS, instructions=around.instructions) if folds else around
        case = self._case(scene, aside, trigger, around)
        notes = self.host.read_notes()
        try:
            flow = compact_now(case, self.settings, notes, instructions=instructions, part=part, pays=pays)
            outcome = await run_flow(flow, model, parent or Request(model.name, ()), in_thread=True)
        except Unavailable as problem:
            self.emit(Notice(f"the model wrote no summary ({problem}); the embedded one stands", "warning"))
            again = compact_now(case, self.settings, notes, instructions=instructions, part=part)
            outcome = await asyncio.to_thread(answered, again)
        if not outcome.entries and trigger == "auto":
            outcome = failed(case.scene, "nothing could be gained")
        elif trigger == "auto" and pays and all(made.written_by == EMBEDDED for made in receipts(outcome.entries)):
            # The model was asked in vain; after a few times it is not asked any more.
            outcome += failed(case.scene, "the model wrote no summary")
        await self._add(trigger, outcome, aside)
        return outcome if outcome.reductions else NOTHING

    def _case(self, scene: StageContext, aside: Aside, trigger: str, around: RestoreContext) -> Case:
        """What a compaction looks at: the conversation as it is now, whatever is added to it meanwhile."""
        return Case(
            self.preparer.sent_view(self.log),
            tuple(self.log.entries),
            replace(scene, envelope=aside.envelope),
            self.settings.compaction,
            around,
            trigger=trigger,
            spill_path=self.preparer.spill_path,
        )

    async def _add(self, trigger: str, outcome: StageOutcome, aside: Aside) -> None:
        self.log.take(aside, (await asyncio.to_thread(written, outcome)).entries)
        if not outcome.reductions:
            return
        receipt = self._receipt(outcome)
        if any(isinstance(entry, BoundaryEntry) for entry in outcome.entries):
            await self.host.reopen()
        self.emit(ViewReduced(outcome.reductions, receipt))
        if receipt is not None:
            summaries = list(filter(None, map(_summary, outcome.entries)))
            told: JsonObject = {"trigger": trigger, "compact_summary": summaries[-1] if summaries else ""}
            await self.hooks.fire("PostCompact", told, subject=trigger)
            start = await self.hooks.fire("SessionStart", {"source": "compact"}, subject="compact")
            for text in start.context:
                self.host.attach("hook_additional_context", text)

    async def _refusal(self, trigger: str, instructions: str) -> str:
        """Why a hook wants no compaction; empty when there may be one."""
        facts: JsonObject = {"trigger": trigger, "custom_instructions": instructions}
        said = await self.hooks.fire("PreCompact", facts, subject=trigger)
        return said.blocked or ""

    def _receipt(self, outcome: StageOutcome) -> Receipt | None:
        found = receipts(outcome.entries)
        return found[-1] if found else None


def _summary(entry: Entry) -> str:
    """The text of an entry that stands for others; empty for any other entry."""
    if isinstance(entry, CollapseEntry):
        return entry.summary
    return entry.message.text if isinstance(entry, UserEntry) and entry.is_summary else ""
