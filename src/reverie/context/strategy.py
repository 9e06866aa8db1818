"""How a conversation is reduced: by the stages and the compaction of this package, not at all, or as a caller says.

The session and `Window` use `DEFAULT`. `apps/replay` gives the `Preparer` other strategies to compare it with.
"""

from __future__ import annotations

from collections.abc import Callable

from reverie.context.replacement import Case
from reverie.context.stage import NOTHING, StageOutcome
from reverie.errors import UserMistake
from reverie.values import value


@value
class Strategy:
    """A named way of reducing."""

    name: str
    has_stages: bool = False
    """Whether the stages of `pipeline` run before each request."""
    reduce: Callable[[Case], StageOutcome] | None = None
    """What is done to a view above the compaction line; None for the compaction of this package."""
    has_limit: bool = True
    """Whether a request that does not fit into the window is refused before it is sent."""


def _leave(_: Case) -> StageOutcome:
    return NOTHING


DEFAULT = Strategy("default", has_stages=True)
NONE = Strategy("none", reduce=_leave, has_limit=False)


def find_strategy(name: str, strategies: tuple[Strategy, ...] = (DEFAULT, NONE)) -> Strategy:
    """The strategy of that name; raises `UserMistake` with the names that exist."""
    for strategy in strategies:
        if strategy.name == name:
            return strategy
    names = ", ".join(strategy.name for strategy in strategies)
    raise UserMistake(f"unknown strategy {name!r}; expected one of {names}")
