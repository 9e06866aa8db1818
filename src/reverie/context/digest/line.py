"""One line of a digest: its text, its place, and what it tells."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from reverie.values import value

Weigh: TypeAlias = Callable[[str], float]
"""The size of a text in tokens."""


class DigestTopic(StrEnum):
    """What a line is about; summaries and notes put topics under different headings."""

    DECISION = "decision"
    CONCEPT = "concept"
    FILE = "file"
    SYMBOL = "symbol"
    CHANGE = "change"
    EXCERPT = "excerpt"
    COMMAND = "command"
    OUTPUT = "output"
    LOOKUP = "lookup"
    TROUBLE = "trouble"
    STATEMENT = "statement"
    DELEGATION = "delegation"
    TODO = "todo"
    PLAN = "plan"
    SKILL = "skill"
    SPAN = "span"
    EARLIER = "earlier"


@value
class DigestLine:
    """A candidate."""

    topic: DigestTopic
    place: tuple[int, ...]
    """Where it stands among lines of its topic."""
    text: str
    terms: frozenset[str] = frozenset()
    """The identifiers it tells of."""
    floor: float = 0.0
    """What it is worth even when everything it names is told elsewhere."""
    factor: float = 1.0
    """How much better than a bare mention it tells of its identifiers."""
    key: str = ""
    """Names it for the lines that stand under it."""
    under: str = ""
    """The line without which it would hang in the air."""
