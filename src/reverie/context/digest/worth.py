"""How likely an identifier is needed again, on a scale on which one recent use is 1.

The shape was fitted to what the continuations of four real sessions used (`bench.fidelity` measures it on the others):
what the two sides wrote themselves comes back far more often than what only stood in some output, fades within a few
dozen rounds, and counts more with every use; what tools print again and again does not fade.
"""

from __future__ import annotations

from collections.abc import Collection
from math import exp2

from reverie.context.facts.values import Facts, Term

HALF_LIFE_ROUNDS = 12.0
LASTING = 0.2
"""The part of the worth that does not fade."""
USED_WORTH = (0.0, 1.0, 1.3, 1.9, 2.6)
"""By the number of rounds in which it was written; more rounds count like the last."""
SEEN_WORTH = (0.0, 0.1, 0.35, 0.6)
"""By the number of rounds in which it only came back from a tool."""
VISIBLE_WORTH = 0.08
"""An identifier that also stands in what is kept anyway."""
ASKED_WORTH = 1.5
"""An identifier of the current request."""


def worths(facts: Facts, visible: Collection[str] = ()) -> dict[str, float]:
    """The worth of every identifier; those in `visible` count little."""
    current = facts.current_request
    asked = current.text if current else ""
    return {
        name: _worth(one, facts.rounds)
        * (VISIBLE_WORTH if name in visible else 1.0)
        * (ASKED_WORTH if asked and name in asked else 1.0)
        for name, one in facts.terms.items()
    }


def _worth(one: Term, rounds: int) -> float:
    age = max(0, rounds - 1 - one.last_used)
    fade = LASTING + (1 - LASTING) * exp2(-age / HALF_LIFE_ROUNDS)
    return USED_WORTH[min(one.used, 4)] * fade + SEEN_WORTH[min(one.seen, 3)] * (0.5 if one.used else 1.0)
