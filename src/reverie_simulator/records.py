"""Log of requests and replies, for inspection afterwards."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import datetime

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.explain import Explanation

RECORDS_MAX = 500
SECRET_HEADERS = ("x-api-key", "authorization", "cookie")


@value
class Record:
    """One request and what became of it."""

    number: int
    request_id: str
    when: datetime
    path: str
    headers: Mapping[str, str]
    """Without keys."""
    body: Json
    status: int
    error: str | None = None
    message: JsonObject | None = None
    """The reply; for a count the counted numbers."""
    explanations: tuple[Explanation, ...] = ()
    """What the cache did, in each pass over the model."""

    def as_json(self) -> dict[str, Json]:
        """Everything of the record."""
        return {
            **self.outline(),
            "headers": dict(self.headers),
            "body": self.body,
            "reply": None if self.message is None else dict(self.message),
        }

    def outline(self) -> dict[str, Json]:
        """What fits in a list, and the explanation of the cache."""
        usage = None if self.message is None else self.message.get("usage")
        return {
            "number": self.number,
            "request_id": self.request_id,
            "when": self.when.isoformat(),
            "path": self.path,
            "status": self.status,
            "error": self.error,
            "usage": usage,
            "cache": [explanation.as_json() for explanation in self.explanations],
        }


class RequestLog:
    """The last requests, oldest first."""

    def __init__(self) -> None:
        self._records: deque[Record] = deque(maxlen=RECORDS_MAX)
        self._count = 0

    def next_number(self) -> int:
        """The number of the request that comes now."""
        self._count += 1
        return self._count

    def add(self, record: Record) -> None:
        self._records.append(record)

    def clear(self) -> None:
        """Forget all records; numbers go on."""
        self._records.clear()

    def all(self) -> tuple[Record, ...]:
        return tuple(self._records)

    def find(self, name: str) -> Record | None:
        """A record by number or request id; `last` is the newest."""
        if name == "last":
            return self._records[-1] if self._records else None
        return next((record for record in self._records if name in (str(record.number), record.request_id)), None)


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that may be kept."""
    return {name: value for name, value in headers.items() if name not in SECRET_HEADERS}
