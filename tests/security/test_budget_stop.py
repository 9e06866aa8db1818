from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from reverie.messages.blocks import Json
from reverie.models.ledger import read_bookings
from reverie.models.ports import Ending
from reverie.settings import BudgetSettings
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, ending, is_legal, told

LIMIT_USD = 0.3
ENDLESS: Json = {"when": {"system": "Looker by trade"}, "then": calls(("Glob", {"pattern": "*"}), text="word " * 2_000)}


def role(home: Path) -> None:
    path = home / ".claude" / "agents" / "looker.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: looker\ndescription: looks\n---\nLooker by trade.\n", encoding="utf-8")


@requirement("security:budget:hard-stop")
async def test_agents_stop_in_the_middle_of_their_work_where_the_session_is_spent(tmp_path: Path) -> None:
    order = {"description": "look around", "prompt": "look", "subagent_type": "looker"}
    script: list[Json] = [
        ENDLESS,
        {"when": {"last_user": "kick-off", "has_tool_results": False}, "then": calls(*[("Agent", order)] * 3)},
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        role(at.home)
        at.settings = replace(at.settings, budget=BudgetSettings(session_usd=LIMIT_USD))
        async with at.start() as session:
            first = ending(await told(session, "kick-off"))
            sent = len(at.provider.requests)
            second = ending(await told(session, "go on"))
            at.time += timedelta(days=-400)
            third = ending(await told(session, "and now, with the clock set back?"))
            at.time += timedelta(days=800)
            fourth = ending(await told(session, "and now, with the clock set ahead?"))

        booked = [one.cost_usd or 0.0 for one in read_bookings(at.home / ".reverie" / "ledger")]
        assert [end.ending for end in (first, second, third, fourth)] == [Ending.BUDGET] * 4
        assert "budget.session_usd" in second.text
        assert len(at.provider.requests) == sent, "nothing is asked any more"
        assert LIMIT_USD <= sum(booked) <= LIMIT_USD + 4 * max(booked), "each of them ends after the round it is in"
        assert is_legal(at.bodies[-1])
