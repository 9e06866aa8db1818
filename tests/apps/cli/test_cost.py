from __future__ import annotations

import json
from datetime import UTC, datetime

from reverie.agent.ledger import Booking, append_booking
from reverie.messages.message import Usage
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement


def booking(purpose: str, cost: float) -> Booking:
    return Booking(datetime(2026, 11, 15, 12, tzinfo=UTC), "s", "p", purpose, "m", Usage(10, 5, 30, 10), cost)


@requirement("ledger:command:adds-up")
def test_the_command_shows_the_ledger(terminal: Terminal) -> None:
    for one in (booking("turn", 1.0), booking("notes", 0.25)):
        append_booking(terminal.home / ".reverie" / "ledger", one)

    shown = terminal.run("cost", "--by", "purpose", "--json").document

    assert [(row["purpose"], row["calls"], row["cost_usd"]) for row in shown] == [("turn", 1, 1.0), ("notes", 1, 0.25)]
    drawn = terminal.run("cost", "--by", "purpose")
    assert "$1.25" in drawn.out
    assert json.loads(terminal.run("cost", "--session", "other", "--json").out) == []
