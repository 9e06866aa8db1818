"""How likely an identifier is needed again.

Fitted to real sessions (`bench.fidelity`): what the two sides wrote themselves comes back far more often than what only
stood in some output, recent use counts most, and repeated use counts with its logarithm.
"""

from __future__ import annotations

from collections.abc import Collection
from math import exp2, log2

from reverie.context.facts.values import Facts, Term

HALF_LIFE_ROUNDS = 14.0
LASTING = 0.25
"""The part of the worth that does not fade."""
SEEN_WORTH = 0.12
"""An identifier that only came back from tools, against one that was written."""
VISIBLE_WORTH = 0.08
"""An identifier that also stands in what is kept anyway."""


def worths(facts: Facts, visible: Collection[str] = ()) -> dict[str, float]:
    """The worth of every identifier; those in `visible` count little."""
    current = facts.current_request
    asked = current.text if current else ""
    return {
        name: _worth(one, facts.rounds)
        * (VISIBLE_WORTH if name in visible else 1.0)
        * (1.5 if asked and name in asked else 1.0)
        for name, one in facts.terms.items()
    }


def _worth(one: Term, rounds: int) -> float:
    used = _faded(rounds - 1 - one.last_used) * log2(1 + one.used) if one.used else 0.0
    seen = SEEN_WORTH * _faded(rounds - 1 - one.last_seen) * log2(1 + one.seen) if one.seen else 0.0
    return used + seen


def _faded(age_rounds: int) -> float:
    return LASTING + (1 - LASTING) * exp2(-max(0, age_rounds) / HALF_LIFE_ROUNDS)
