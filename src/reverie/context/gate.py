"""Whether to compact before this request, and whether a model may be paid for it.

The switches are asked in order, then the size. The breaker opens after failures or refills in a row; an open breaker
stops paying for summaries and never stops reducing: the embedded summariser writes them from then on. A decision is a
value. The breaker's state is a fold over the transcript, so a resumed session is as careful as the interrupted one.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias

from reverie.context.receipt import RECEIPT
from reverie.context.summarise import EMBEDDED
from reverie.messages.entries import AssistantEntry, BoundaryEntry, Entry, MarkEntry
from reverie.models.tokens.window import WindowBudget
from reverie.settings import CompactionSettings, Settings
from reverie.values import value

FAILED = "compaction_failed"
"""Mark of an automatic compaction that failed, or whose model wrote no summary; its data has the `reason`."""

REFILL_REPLIES = 3
"""A window that is full again before so many replies has refilled: the compaction bought nothing."""


class Veto(StrEnum):
    """Why no compaction takes place, or why none is paid for, in the order in which it is asked."""

    INTERNAL = "the request is internal (session notes or a summary)"
    COLLAPSE = "collapse keeps the window within its limit"
    REACTIVE_ONLY = "compaction is reactive: it waits for the provider to reject a request"
    OFF = "automatic compaction is disabled"
    ROOM = "the window has room"
    FAILURES = "the last compactions failed"
    REFILLS = "the window filled up again right after each of the last compactions"


@value
class Compact:
    """The history is to be compacted before the request."""

    reason: str
    unpaid: Veto | None = None
    """Why no model is asked for the summary; None when one is."""


@value
class Leave:
    """The request goes out as it is."""

    veto: Veto


Decision: TypeAlias = Compact | Leave


@value
class Breaker:
    """How automatic compaction fared lately."""

    failures: int = 0
    """In a row."""
    refills: int = 0
    """Compactions in a row before which the window had filled up at once."""
    replies: int = REFILL_REPLIES
    """Replies since the last compaction; a session without one never refilled."""

    def failed(self) -> Breaker:
        """After one more failure."""
        return Breaker(self.failures + 1, self.refills, self.replies)

    def replied(self) -> Breaker:
        """After one more reply."""
        return Breaker(self.failures, self.refills, self.replies + 1)

    def compacted(self) -> Breaker:
        """After one more compaction, whoever wrote its summary."""
        return Breaker(self.failures, self.refills + 1 if self.replies < REFILL_REPLIES else 0, 0)

    def delivered(self) -> Breaker:
        """After a summary that was worth its price."""
        return Breaker(0, self.refills, self.replies)

    def gave_up(self, settings: CompactionSettings) -> bool:
        """Whether it failed too often in a row."""
        return self.failures >= settings.max_failures

    def goes_round(self, settings: CompactionSettings) -> bool:
        """Whether a window that is full now has refilled too often in a row."""
        return self.refills + (self.replies < REFILL_REPLIES) >= settings.max_refills


def breaker(entries: Iterable[Entry]) -> Breaker:
    """The state after these entries of a chain."""
    state = Breaker()
    reply: str | None = None
    for entry in entries:
        match entry:
            case BoundaryEntry(trigger="auto"):
                state = state.compacted()
            case BoundaryEntry():
                # The user's own compaction is no sign of a loop, and the user wants to go on.
                state = Breaker(replies=0)
            case MarkEntry(name=name) if name == FAILED:
                state = state.failed()
            case MarkEntry(name=name) if name == RECEIPT and entry.data.get("writtenBy") != EMBEDDED:
                state = state.delivered()
            case AssistantEntry(is_error=False):
                if entry.message_id is None or entry.message_id != reply:
                    state = state.replied()
                reply = entry.message_id
            case _:
                pass
    return state


def gate(budget: WindowBudget, settings: Settings, state: Breaker, *, internal: bool = False) -> Decision:
    """Decide for a view of this size."""
    compaction = settings.compaction
    if internal:
        return Leave(Veto.INTERNAL)
    if settings.collapse.enabled:
        return Leave(Veto.COLLAPSE)
    if compaction.reactive_only:
        return Leave(Veto.REACTIVE_ONLY)
    if not (compaction.enabled and compaction.auto):
        return Leave(Veto.OFF)
    if not budget.must_compact:
        return Leave(Veto.ROOM)
    reason = f"{budget.used_tokens:,} tokens exceed the limit of {budget.compact_at_tokens:,}"
    if state.gave_up(compaction):
        return Compact(reason, Veto.FAILURES)
    return Compact(reason, Veto.REFILLS if state.goes_round(compaction) else None)
