"""What we promise of costs."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "ledger:book:every-call": Requirement(
        "Each model call is booked with purpose, tokens by kind, price and who asked."
    ),
    "ledger:book:interrupted": Requirement(
        "A call that is interrupted, cut off or sent again, and one whose server does not count, is booked with an "
        "estimate that is marked as one; a call that the provider refused is not booked."
    ),
    "ledger:one-figure": Requirement(
        "`sessions`, `context`, `cost` and a session that goes on name the same cost: what the ledger has, else what "
        "the transcripts of the session and its sub-agents tell; a fork does not count its original again."
    ),
    "ledger:command:all": Requirement("`reverie cost --all` adds the sessions of other agents, each reply once."),
    "ledger:book:many-writers": Requirement(
        "Bookings of several processes lie beside each other; a torn line is passed over."
    ),
    "ledger:governor:stops": Requirement(
        "Background work stops at its share of the session and at its dollars per hour, says so, and may go on when "
        "the session has earned more or the hour has passed."
    ),
    "ledger:governor:early": Requirement(
        "Until a session has cost as much as background work may cost in an hour, its share is taken of that, so that "
        "the first turns are learnt from too."
    ),
    "ledger:governor:carried": Requirement(
        "A dream may use what the sessions since the last one left of their share of background work."
    ),
    "ledger:command:adds-up": Requirement("`reverie cost` adds calls up by day, purpose, session, model or project."),
}
