"""What we promise of values."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "values:value:as-dataclass": Requirement("A value behaves as a frozen dataclass of the same fields does."),
    "patterns:lazy": Requirement(
        "A lazy expression does what the compiled one does, and importing a session compiles none of the rules that it "
        "may never need."
    ),
}
