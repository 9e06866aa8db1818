"""What `Memory.why` answers."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.memory.history.change import Commit
from reverie.memory.recall.usage_log import Use
from reverie.memory.topics.topic import Source, Trust


@dataclass(frozen=True, slots=True)
class Account:
    """What a memory rests on, and when it was brought back."""

    path: str
    sources: tuple[Source, ...]
    trust: Trust | None
    changes: tuple[Commit, ...]
    recalled: tuple[Use, ...]
