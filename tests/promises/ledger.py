"""What we promise of costs."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "ledger:book:every-call": Requirement(
        "Each model call is booked with purpose, tokens by kind, price and who asked.", source="issue 5, item 9"
    ),
    "ledger:book:interrupted": Requirement(
        "A call that is interrupted, cut off or sent again, and one whose server does not count, is booked with an "
        "estimate that is marked as one; a call that the provider refused is not booked.",
        source="issue 12",
    ),
    "ledger:one-figure": Requirement(
        "`sessions`, `context`, `cost` and a session that goes on name the same cost: what the ledger has, else what "
        "the transcripts of the session and its sub-agents tell; a fork does not count its original again.",
        source="issue 12",
    ),
    "ledger:command:all": Requirement(
        "`reverie cost --all` adds the sessions of other agents, each reply once.", source="issue 12"
    ),
    "ledger:book:many-writers": Requirement(
        "Bookings of several processes lie beside each other; a torn line is passed over.", source="issue 5, item 9"
    ),
    "ledger:governor:stops": Requirement(
        "Background work stops at its share of the session and at its dollars per hour, says so, and may go on when "
        "the session has earned more or the hour has passed.",
        source="product §6, budgets",
    ),
    "ledger:governor:early": Requirement(
        "Until a session has cost as much as background work may cost in an hour, its share is taken of that, so that "
        "the first turns are learnt from too.",
        source="product §6, budgets; issue 6, item 7",
    ),
    "ledger:governor:carried": Requirement(
        "A dream may use what the sessions since the last one left of their share of background work.",
        source="product §6, budgets; issue 6, item 7",
    ),
    "ledger:command:adds-up": Requirement(
        "`reverie cost` adds calls up by day, purpose, session, model or project.", source="contract; issue 5, item 9"
    ),
}
