"""One extraction rule: a way in which people say something lasting."""

from __future__ import annotations

import re

from reverie.memory.topics.topic import MemoryType
from reverie.values import value


@value
class Cue:
    """A way in which people say something lasting."""

    name: str
    type: MemoryType
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    """Words that show the contrary."""
    needs_day: bool = False
    """Counts only when the sentence names a day."""
    overrides_guards: bool = False
    """Says so clearly that it lasts that words like `here` do not count against it."""
    needs_reason: bool = False
    """Counts only with a reason or with words that make it general."""

    def matches(self, plain: str) -> bool:
        """Whether a sentence, quoted words hidden, is of this kind."""
        return bool(self.pattern.search(plain)) and not (self.unless and self.unless.search(plain))
