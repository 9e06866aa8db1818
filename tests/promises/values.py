"""What we promise of values."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "values:value:as-dataclass": Requirement(
        "A value behaves as a frozen dataclass of the same fields does.", source="issue 3, goals"
    ),
}
