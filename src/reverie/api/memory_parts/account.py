"""What `Memory.why` answers."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.memory.change import Commit
from reverie.memory.topic import Source, Trust
from reverie.memory.usage_log import Use


@dataclass(frozen=True, slots=True)
class Account:
    """What a memory rests on, and when it was brought back."""

    path: str
    sources: tuple[Source, ...]
    trust: Trust | None
    changes: tuple[Commit, ...]
    recalled: tuple[Use, ...]
