from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from reverie.messages.message import Usage
from reverie.models.ledger import Booking, append_booking
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


@requirement("ledger:command:all", "ledger:one-figure")
def test_sessions_of_other_agents_are_added_once_each_as_the_listing_prices_them(terminal: Terminal) -> None:
    append_booking(terminal.home / ".reverie" / "ledger", booking("turn", 1.0))
    folder = terminal.home / ".claude" / "projects" / "-elsewhere"
    (folder / "one" / "subagents").mkdir(parents=True)
    write_replies(folder / "one.jsonl", "one", ["m1", "m1", "m2"])
    write_replies(folder / "one" / "subagents" / "agent-a.jsonl", "one", ["m3"], isSidechain=True, agentId="a")
    write_replies(folder / "copy.jsonl", "copy", ["m1", "m2"], forkedFrom={"sessionId": "one"})
    write_replies(folder / "older-copy.jsonl", "older-copy", ["m1", "m4"])

    rows = terminal.run("cost", "--all", "--by", "session", "--json").document
    listed = terminal.run("sessions", "--all", "--json").document

    assert {row["session"]: row["calls"] for row in rows} == {"s": 1, "one": 3, "older-copy": 1}
    cost = {row["session"]: row["cost_usd"] for row in rows}
    shown = {row["id"]: row["cost_usd"] for row in listed}
    assert shown["one"] == cost["one"] > 0
    assert shown["copy"] in (None, 0)
    assert [row["session"] for row in terminal.run("cost", "--by", "session", "--json").document] == ["s"]
    assert terminal.run("context", str(folder / "one.jsonl"), "--json").document["cost_usd"] == cost["one"]


def write_replies(path: Path, session: str, ids: list[str], **more: object) -> None:
    lines = [
        {
            "type": "assistant",
            "uuid": f"{path.stem}-{number}",
            "parentUuid": f"{path.stem}-{number - 1}" if number else None,
            "sessionId": session,
            "cwd": "/elsewhere",
            "timestamp": f"2026-11-1{number}T08:00:00.000Z",
            "message": {
                "id": name,
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [{"type": "text", "text": "yes"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 1000, "output_tokens": 100},
            },
            **more,
        }
        for number, name in enumerate(ids)
    ]
    user = {"type": "user", "uuid": "u", "sessionId": session, "message": {"role": "user", "content": "hi"}, **more}
    path.write_text("".join(json.dumps(line) + "\n" for line in [user, *lines]), encoding="utf-8")
