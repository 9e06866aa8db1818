"""What a session adds to a compaction: the hooks before and after it, and its events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reverie.context.receipt import receipts
from reverie.context.stage import StageOutcome
from reverie.extensions.hooks.verdict import FiresHooks
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import CollapseEntry, Entry, UserEntry
from reverie.session.events import Notice, TurnEvent, ViewReduced


@dataclass(slots=True)
class CompactionHooks:
    """Fires the hooks around the compactions of a session or a subagent and emits what they did."""

    hooks: FiresHooks
    emit: Callable[[TurnEvent], None]

    async def refuse(self, trigger: str, instructions: str) -> str:
        """Why a hook wants no compaction; empty when there may be one."""
        payload: JsonObject = {"trigger": trigger, "custom_instructions": instructions}
        verdict = await self.hooks.fire("PreCompact", payload, subject=trigger)
        return verdict.blocked or ""

    async def finish(self, trigger: str, outcome: StageOutcome) -> Sequence[str]:
        """Emit what was reduced and, after a compaction, fire its hooks; what they say to the model."""
        receipt = next(reversed(receipts(outcome.entries)), None)
        self.emit(ViewReduced(outcome.reductions, receipt))
        if receipt is None:
            return ()
        summaries = list(filter(None, map(_summary, outcome.entries)))
        payload: JsonObject = {"trigger": trigger, "compact_summary": summaries[-1] if summaries else ""}
        await self.hooks.fire("PostCompact", payload, subject=trigger)
        start = await self.hooks.fire("SessionStart", {"source": "compact"}, subject="compact")
        return start.context

    def warn(self, text: str) -> None:
        """Show a notice."""
        self.emit(Notice(text, "warning"))


def _summary(entry: Entry) -> str:
    """The text of an entry that stands for others; empty for any other entry."""
    if isinstance(entry, CollapseEntry):
        return entry.summary
    return entry.message.text if isinstance(entry, UserEntry) and entry.is_summary else ""
