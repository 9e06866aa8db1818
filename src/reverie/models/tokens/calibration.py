"""Corrects token estimates by what the session's reported usage showed, per kind of content.

A value: observing gives a new one. Each factor follows the middle of what it saw in small steps, so that a reminder
which the provider was sent unseen does not move it far; it is drawn towards the factor of the whole session while it
rests on little, and that one towards 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import exp, log
from typing import Self

from reverie.messages.blocks import Json
from reverie.values import value

_DOUBT = 4.0
"""How many observations the starting belief is worth."""
_MEMORY = 12.0
"""How many observations count at most."""
_STEP = 0.12
"""How far one observation can pull, as a logarithm; the pull itself weakens until…"""
_SETTLED = 8.0
"""…this many observations, and stays so, because sessions change their subject."""
_LEAST, _MOST = log(0.4), log(3.0)
"""A single observation outside is an accident, such as a file that was injected unseen."""


@value
class Factor:
    """One running middle, as a logarithm."""

    middle: float = 0.0
    weight: float = 0.0

    def observe(self, value: float) -> Factor:
        """The middle after one more value."""
        weight = min(self.weight + 1.0, _MEMORY)
        pull = min(max(value - self.middle, -_STEP), _STEP)
        return Factor(self.middle + pull / min(weight, _SETTLED), weight)

    def towards(self, belief: float) -> float:
        """The middle, drawn towards a belief while it rests on little."""
        return (self.middle * self.weight + belief * _DOUBT) / (self.weight + _DOUBT)


@value
class Calibration:
    """The factors of one session and model."""

    overall: Factor = Factor()
    by_kind: Mapping[str, Factor] = field(default_factory=dict)

    def ratio(self, kind: str = "") -> float:
        """By what an estimate of this kind is to be multiplied."""
        belief = self.overall.towards(0.0)
        factor = self.by_kind.get(kind)
        return exp(belief if factor is None else factor.towards(belief))

    def observe(self, estimated: float, reported: float, kind: str = "") -> Self:
        """Learn from one estimate and what the provider reported for it; nonsense teaches nothing."""
        if estimated <= 0 or reported <= 0:
            return self
        value = log(reported) - log(estimated)
        if not _LEAST <= value <= _MOST:
            return self
        kinds = self.by_kind
        if kind:
            kinds = {**kinds, kind: kinds.get(kind, Factor()).observe(value)}
        return type(self)(self.overall.observe(value), kinds)

    def to_json(self) -> dict[str, Json]:
        """The factors as JSON."""
        return {
            "overall": [self.overall.middle, self.overall.weight],
            "by_kind": {kind: [one.middle, one.weight] for kind, one in self.by_kind.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        """The factors from JSON; what is missing or misshapen counts as never observed."""
        kinds = data.get("by_kind")
        found = {kind: _factor(value) for kind, value in kinds.items()} if isinstance(kinds, Mapping) else {}
        return cls(_factor(data.get("overall")), {kind: one for kind, one in found.items() if one.weight > 0})


UNCALIBRATED = Calibration()
"""Every estimate as it is."""


def _factor(value: Json) -> Factor:
    match value:
        case [int() | float() as middle, int() | float() as weight] if weight > 0:
            return Factor(min(max(float(middle), _LEAST), _MOST), min(float(weight), _MEMORY))
        case _:
            return Factor()
