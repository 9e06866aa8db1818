"""How often a token may ask: a bucket that refills evenly, one for each token, in this process."""

from __future__ import annotations

_BUCKETS_MAX = 50_000


class RateLimit:
    """Buckets by token. Each holds a minute's worth of requests at most, so a short burst passes."""

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, token_id: str, per_minute: int, now_seconds: float) -> float:
        """Count one request; returns 0, or the seconds to wait when there were too many. 0 per minute: no limit."""
        if per_minute <= 0:
            return 0.0
        left, at = self._buckets.get(token_id, (float(per_minute), now_seconds))
        left = min(float(per_minute), left + (now_seconds - at) * per_minute / 60)
        is_allowed = left >= 1
        if len(self._buckets) >= _BUCKETS_MAX and token_id not in self._buckets:
            self._buckets.clear()
        self._buckets[token_id] = (left - 1 if is_allowed else left, now_seconds)
        return 0.0 if is_allowed else (1 - left) * 60 / per_minute
