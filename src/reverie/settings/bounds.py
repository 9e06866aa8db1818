"""Marks on a setting's type: allowed values, and who may set it.

A field says `Share` or `Personal[str | None]`; `schema` reads the marks, and for callers the types stay plain.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, NamedTuple, TypeVar

from reverie.values import value
from reverie.values import value as area

Value = TypeVar("Value")


class Range(NamedTuple):
    """The smallest and the largest number allowed; None leaves that side open."""

    low: float | None = None
    high: float | None = None


@value
class Pattern:
    """A regular expression that a text must match as a whole, and what to call such a text."""

    expression: str
    meaning: str


class Guard(Enum):
    """Which sources may set a field, beyond the ordinary precedence."""

    ANY = "any source"
    ONLY_LOWER = "a file committed with the project may only lower it"
    AFTER_TRUST = "a file committed with the project is used only if the project is trusted"
    PERSONAL = "a file committed with the project may not set it"
    PROCESS = "only the environment or a flag may set it"
    MANAGED = "only a managed file may set it"


class ListJoin(Enum):
    """How the lists of several sources become one; without this mark they are joined, lowest source first."""

    HIGHEST = "only the list of the highest source is used"


Count = Annotated[int, Range(0)]
Positive = Annotated[int, Range(1)]
Share = Annotated[float, Range(0, 1)]
Amount = Annotated[float, Range(0)]
Language = Annotated[str, Pattern(r"[^\W\d_][\w (),.\-]{0,39}", "the name of a language, at most 40 characters")]
Variable = Annotated[str, Pattern(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, never a key itself")]

Table = tuple[tuple[str, Value], ...]
"""Values by a name that the user chooses; written as a table of the file."""

OnlyLower = Annotated[Value, Guard.ONLY_LOWER]
AfterTrust = Annotated[Value, Guard.AFTER_TRUST]
Personal = Annotated[Value, Guard.PERSONAL]
Process = Annotated[Value, Guard.PROCESS]
Managed = Annotated[Value, Guard.MANAGED]
Replaced = Annotated[Value, ListJoin.HIGHEST]


# `@area`: a group of settings as a value (see `reverie.values`).
#
# The modules of areas leave out the postponed evaluation of annotations, so that `schema` finds types in the fields
# and need not evaluate any.

__all__ = ["area"]
