"""Results of a replay: one row per request, and totals."""

from __future__ import annotations

from dataclasses import field

from reverie.apps.replay.survival import Expected
from reverie.context.stage import Reduction
from reverie.messages.blocks import Json
from reverie.values import value


@value
class RequestRow:
    """One request as the provider would have billed it."""

    tokens: int
    cache_read: int
    cache_write: int
    fresh: int
    output: int
    cost_usd: float | None
    reduced: tuple[Reduction, ...] = ()
    break_cause: str | None = None
    """Why it did not extend the request before; None when it did."""
    is_announced: bool = True
    refused: str | None = None
    """The provider's words when it would not have taken the request."""
    prepare_ms: float = 0.0
    lost: tuple[Expected, ...] = ()
    """What a compaction before this request had to keep and left neither in view nor behind a pointer."""


@value
class SessionFigures:
    """One recording under one strategy."""

    file: str
    strategy: str
    model: str
    window: int
    requests: tuple[RequestRow, ...]
    receipts: tuple[dict[str, Json], ...] = ()
    stopped: str | None = None
    """Why the replay ended before the recording did."""
    steps: int = 0
    """How many requests the recording holds."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def cost_usd(self) -> float | None:
        costs = [row.cost_usd for row in self.requests if row.cost_usd is not None]
        return sum(costs) if costs else None

    @property
    def peak_tokens(self) -> int:
        return max((row.tokens for row in self.requests), default=0)

    @property
    def read_share(self) -> float:
        """How much of all input came from the cache."""
        total = sum(row.tokens for row in self.requests)
        return sum(row.cache_read for row in self.requests) / total if total else 0.0

    @property
    def ceiling_share(self) -> float:
        """The most that could have: everything but new tokens and what announced breaks made new."""
        total = sum(row.tokens for row in self.requests)
        fresh = 0
        before = 0
        for row in self.requests:
            fresh += row.tokens if row.break_cause else max(0, row.tokens - before)
            before = row.tokens
        return (total - fresh) / total if total else 0.0

    @property
    def reductions(self) -> dict[str, int]:
        counted: dict[str, int] = {}
        for row in self.requests:
            for reduction in row.reduced:
                counted[reduction.kind] = counted.get(reduction.kind, 0) + 1
        return counted

    @property
    def receipt_failures(self) -> int:
        """What compactions had to keep and left neither in view nor behind a pointer of their receipts."""
        return sum(len(row.lost) for row in self.requests)

    def totals(self) -> dict[str, object]:
        """The totals of a replay."""
        return {
            "requests": len(self.requests),
            "of_requests": self.steps,
            "tokens": sum(row.tokens for row in self.requests),
            "cache_read": sum(row.cache_read for row in self.requests),
            "cache_write": sum(row.cache_write for row in self.requests),
            "fresh": sum(row.fresh for row in self.requests),
            "output": sum(row.output for row in self.requests),
            "cost_usd": self.cost_usd,
            "peak_tokens": self.peak_tokens,
            "read_share": round(self.read_share, 4),
            "ceiling_share": round(self.ceiling_share, 4),
            "reductions": self.reductions,
            "breaks": sum(1 for row in self.requests if row.break_cause),
            "unannounced_breaks": sum(1 for row in self.requests if row.break_cause and not row.is_announced),
            "refused": sum(1 for row in self.requests if row.refused),
            "receipt_failures": self.receipt_failures,
            "stopped": self.stopped,
            "prepare_ms_max": round(max((row.prepare_ms for row in self.requests), default=0.0), 2),
            "seconds": round(self.seconds, 3),
        }

    def as_document(self) -> dict[str, object]:
        """One entry of `sessions` in the JSON document."""
        return {
            "file": self.file,
            "strategy": self.strategy,
            "model": self.model,
            "window": self.window,
            "requests": [_request(row) for row in self.requests],
            "totals": self.totals(),
            "receipts": list(self.receipts),
        }


def _request(row: RequestRow) -> dict[str, object]:
    return {
        "tokens": row.tokens,
        "cache_read": row.cache_read,
        "cache_write": row.cache_write,
        "fresh": row.fresh,
        "output": row.output,
        "cost_usd": row.cost_usd,
        "reduced": [
            {"kind": one.kind, "freed_tokens": one.freed_tokens, "items": one.items, "detail": one.detail}
            for one in row.reduced
        ],
        "break": row.break_cause,
        "refused": row.refused,
        "lost": list(map(str, row.lost)),
        "prepare_ms": round(row.prepare_ms, 3),
    }
