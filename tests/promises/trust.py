"""What we promise of things that come with a project."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "trust:first-use": Requirement(
        "What comes with a project and acts with the user's rights waits for a yes before it is used the first time.",
        source="spec 7, row 63; issue 5, item 6",
    ),
    "trust:change": Requirement("A changed part is asked about again; a moved one is not.", source="spec 7, row 63"),
    "trust:refusal": Requirement("A no is remembered and not asked again.", source="spec 8 §1.4"),
    "trust:elsewhere": Requirement(
        "Answers lie under our home, never in the repository, and hold for all its work trees.",
        source="issue 5, item 6",
    ),
    "trust:damage": Requirement(
        "A damaged store trusts nothing, says so, and is never overwritten; a kill leaves the old answers or the new.",
        source="style 5.9, 5.10",
    ),
}
