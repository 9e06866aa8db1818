"""What the tests of extraction share: messages of a user, and what the rules make of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from reverie.memory.extraction.candidate import MemoryCandidate, UserMessage
from reverie.memory.extraction.find import find_candidates
from reverie.memory.topics.topic import MemoryType

MONDAY = datetime(2026, 2, 16, 12, tzinfo=UTC)


def said(text: str, message: str = "m1", when: datetime | None = MONDAY) -> UserMessage:
    return UserMessage(message, text, "s1", when)


def found(text: str, when: datetime | None = MONDAY) -> tuple[MemoryCandidate, ...]:
    return find_candidates(said(text, when=when))


def one(text: str) -> MemoryCandidate:
    [candidate] = found(text)
    return candidate


def candidate(quote: str, kind: str = "feedback", **more: object) -> MemoryCandidate:
    """A candidate that says what it quotes."""
    made = MemoryCandidate(MemoryType(kind), quote[:50], quote, quote, quote, "m1", "s1", observed=MONDAY.date())
    return replace(made, **more)  # type: ignore[arg-type]
