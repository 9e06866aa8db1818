"""Whether the provider kept what it was asked to keep, told from what it reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reverie.context.cache_breaks import Break, Cause, detect, is_expired, predict_cached_tokens, price
from reverie.messages.blocks import CompactionBlock, JsonObject, Opaque
from reverie.messages.message import Usage
from reverie.models.ports import Request
from reverie.models.profiles import Profile
from reverie.settings import CacheSettings

SURE_OF_THE_REST = 0.5
"""The share of the rest that must be read after we moved something for the first time. What is left is then known in
bytes alone, and prose has twice the bytes a token that numbers have."""


class CacheWatch:
    """Follows the requests of one conversation and their usage."""

    def __init__(self, facts: Profile, settings: CacheSettings) -> None:
        self._facts = facts
        self._settings = settings
        self._usage: Usage | None = None
        self._answered_at: datetime | None = None
        self._kept_for = "5m"
        self._edits: list[JsonObject] = []
        self._deletions = 0
        self._read: dict[int, int] = {}
        """What was read of a rest, by its size in bytes. The same rest comes again: system text and tools stay where
        they are when the messages behind them are compacted."""

    def observe(
        self,
        usage: Usage,
        request: Request | None,
        predicted: Break | None,
        now: datetime,
        edits: Sequence[JsonObject] = (),
    ) -> Break | None:
        """Note what was reported for a request; returns a break that it shows.

        `edits` are what the provider says it cleared. What it cleared anew, or was asked to delete, is no break.
        """
        asked = _deletions(request)
        is_edited = list(edits) != self._edits or asked != self._deletions
        self._edits, self._deletions = list(edits), asked
        found = None if is_edited else self._break(usage, predicted, now)
        marks = request.cache_marks if request is not None else ()
        self._usage, self._answered_at = usage, now
        self._kept_for = marks[-1].ttl if marks else "5m"
        return found

    def _break(self, seen: Usage, predicted: Break | None, now: datetime) -> Break | None:
        """A break that the usage shows, with its cause: what moved, or the time that passed."""
        if self._usage is None:
            return None
        promised = predict_cached_tokens(self._usage, predicted)
        if predicted is not None:
            rest = self._read.get(predicted.kept_bytes)
            promised = round(promised * SURE_OF_THE_REST) if rest is None else rest
        missing = detect(promised, seen, self._settings)
        if missing is None:
            if predicted is not None:
                self._read[predicted.kept_bytes] = seen.cache_read_tokens
            return None
        cost = price(missing, self._facts, self._kept_for)
        idle = now - self._answered_at if self._answered_at else None
        cause = Cause.TIME if idle is not None and is_expired(idle, self._kept_for) else Cause.UNKNOWN
        share = missing / max(1, self._usage.cache_read_tokens + self._usage.cache_write_tokens)
        return Break(cause, "the kept prefix", share, lost_tokens=missing, cost_usd=cost)


def _deletions(request: Request | None) -> int:
    """How many times a request has the provider delete inside its cache, or sum up what came before."""
    if request is None:
        return 0
    blocks = (block for message in request.messages for block in message.content)
    return sum(isinstance(block, Opaque | CompactionBlock) for block in blocks)
