"""The result of `Memory.why`."""

from __future__ import annotations

from reverie.memory.search.usage_log import Use
from reverie.memory.store.change import Commit
from reverie.memory.topics.topic import Source, Trust
from reverie.values import value


@value
class Account:
    """What a memory rests on, and when it was brought back."""

    path: str
    sources: tuple[Source, ...]
    trust: Trust | None
    changes: tuple[Commit, ...]
    recalled: tuple[Use, ...]
