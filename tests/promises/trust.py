"""What we promise of things that come with a project."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "trust:first-use": Requirement(
        "What comes with a project and acts with the user's rights waits for a yes before it is used the first time."
    ),
    "trust:change": Requirement("A changed part is asked about again; a moved one is not."),
    "trust:refusal": Requirement("A no is remembered and not asked again."),
    "trust:elsewhere": Requirement(
        "Answers lie under our home, never in the repository, and hold for all its work trees."
    ),
    "trust:damage": Requirement(
        "A damaged store trusts nothing, says so, and is never overwritten; a kill leaves the old answers or the new."
    ),
}
