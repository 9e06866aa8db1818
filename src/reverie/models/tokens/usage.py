"""Totals of the usage reported over a session, by model, and their cost.

A reply of several records carries its usage on each, so it is counted once, by `message.id`, as its last record says.
Records that hold only the first snapshot of a stream show too little output; how much is missing is estimated apart and
never mixed into what was reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reverie.messages.entries import AssistantEntry, Entry, Envelope
from reverie.messages.message import Usage
from reverie.models.profiles import NO_OVERRIDES, ProfileOverride, cost, profile
from reverie.models.tokens.rounds import SYNTHETIC_MODEL
from reverie.values import value


@value
class ModelTotals:
    """What one model was asked and answered."""

    model: str
    usage: Usage
    replies: int


@value
class SessionTotals:
    """The totals of a session."""

    by_model: tuple[ModelTotals, ...] = ()
    """In the order of first use."""

    @property
    def usage(self) -> Usage:
        return sum((one.usage for one in self.by_model), Usage())


def totals(entries: Iterable[Entry], *, sidechains: bool = False) -> SessionTotals:
    """Add up what was reported; sub-agents' conversations only when asked."""
    by_model: dict[str, ModelTotals] = {}
    for reply in paid_replies(entries, sidechains=sidechains):
        model_totals = by_model.get(reply.model, ModelTotals(reply.model, Usage(), 0))
        by_model[reply.model] = ModelTotals(
            reply.model,
            model_totals.usage + reply.usage,
            model_totals.replies + 1,
        )
    return SessionTotals(tuple(by_model.values()))


def paid_replies(entries: Iterable[Entry], *, sidechains: bool = False) -> list[PaidReply]:
    """The replies of a session, once each, in order; what a fork brought along was paid for by its original."""
    replies: dict[str, PaidReply] = {}
    for entry in entries:
        if not isinstance(entry, AssistantEntry) or entry.model == SYNTHETIC_MODEL or entry.envelope.is_copied:
            continue
        if entry.envelope.is_sidechain and not sidechains:
            continue
        name = entry.message_id or entry.envelope.uuid
        reply = replies.setdefault(name, PaidReply(name, entry.model or "", entry.envelope))
        reply.take(entry)
    return [reply for reply in replies.values() if reply.was_reported]


def bill(spent: SessionTotals, overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES) -> float | None:
    """The price of the totals in dollars, without models that have no known price; None when none of them has."""
    usd: float | None = None if spent.by_model else 0.0
    for model_totals in spent.by_model:
        price = cost(model_totals.usage, profile(model_totals.model, overrides))
        if price is not None:
            usd = (usd or 0.0) + price
    return usd


class PaidReply:
    """One reply, put together from its records as they come in."""

    def __init__(self, name: str, model: str, envelope: Envelope) -> None:
        self.name = name
        """The provider's id of the reply, where it was recorded."""
        self.model = model
        self.envelope = envelope
        """Of its first record."""
        self.usage = Usage()
        self.was_reported = False
        self._records: list[AssistantEntry] = []

    def take(self, entry: AssistantEntry) -> None:
        """Add a record; the last word on usage counts."""
        if entry.usage is not None:
            self.usage, self.was_reported = entry.usage, True
        self._records.append(entry)
