from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.agent.events import Notice
from reverie.messages.blocks import Json
from reverie.settings import Budget
from tests.api.session_desk import Desk, cached_share, calls, desk, told
from tests.requirements import requirement

LASTING = "Please remember: never mock the database in integration tests, because a mock hid a broken migration."
FORK: dict[str, Json] = {"last_user": "fork_boilerplate_tag"}


def note(name: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {body}\ntype: feedback\n---\n\n{body}\n"


def fork_requests(at: Desk) -> list[Any]:
    return [one for one in at.provider.requests if "fork_boilerplate_tag" in json.dumps(one.body)]


@requirement("extracting:session:embedded")
async def test_without_a_model_what_lasts_is_kept_after_the_turn(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.model = "offline"
        session = at.start()
        heard: list[str] = []
        session.listen(lambda event: heard.append(event.text) if isinstance(event, Notice) else None)
        await told(session, LASTING)
        await told(session, "thanks, that is all")
        await session.close()

        memory = at.start().memory
        (topic,) = memory.topics()
        assert topic.trust == "said"
        assert topic.sources[0].session == session.id
        assert "mock the database" in topic.description.lower() + topic.body.lower()
        assert memory.log()[0].change.author == "extraction"
        assert at.provider.requests == ()


@requirement("extracting:session:fork")
async def test_a_fork_writes_through_the_store_and_reads_the_parents_cache(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        directory = at.start().memory.directory
        given = {"file_path": str(directory / "mocks.md"), "content": note("No mocks", "Never mock the database")}
        at.provider.simulation.use_script(
            _script(
                {"when": {**FORK, "has_tool_results": False}, "times": 1, "then": calls(("Write", given))},
                {"then": "fine {request}"},
            )
        )
        async with at.start() as session:
            await told(session, LASTING)
        memory = at.start().memory

        assert memory.read("No mocks").body.strip() == "Never mock the database"
        newest = memory.log()[0]
        assert (newest.change.author, newest.change.session) == ("extraction", session.id)
        first = fork_requests(at)[0]
        assert cached_share(first) > 0.7
        assert first.body["tools"] == at.bodies[0]["tools"]


@requirement("extracting:session:misbehaving")
@pytest.mark.parametrize(
    "deed",
    ["outside", "shell", "secret", "broken", "index", "endless"],
)
async def test_a_fork_that_misbehaves_changes_nothing_that_it_may_not(tmp_path: Path, deed: str) -> None:
    with desk(tmp_path) as at:
        directory = at.start().memory.directory
        path, text = str(directory / "a.md"), note("A", "Never mock the database")
        key = "sk-ant-" + "api03-" + "Zx9" * 31 + "AA"
        deeds: dict[str, tuple[str, dict[str, Json]]] = {
            "outside": ("Write", {"file_path": str(tmp_path / "outside.md"), "content": text}),
            "shell": ("Bash", {"command": f"touch {tmp_path}/outside.md"}),
            "secret": ("Write", {"file_path": path, "content": note("A", f"The key is {key}")}),
            "broken": ("Write", {"file_path": path, "content": "---\nname: [\n---\nNever mock the database\n"}),
            "index": ("Write", {"file_path": str(directory / "MEMORY.md"), "content": "gone"}),
            "endless": ("Glob", {"pattern": "*"}),
        }
        at.provider.simulation.use_script(
            _script(
                {"when": FORK, "then": calls(deeds[deed])},
                {"when": {"has_tool_results": True}, "then": calls(deeds[deed])},
                {"then": "fine {request}"},
            )
        )
        async with at.start() as session:
            await told(session, LASTING)

        assert not (tmp_path / "outside.md").exists()
        assert list(at.start().memory.topics()) == []
        assert key not in "".join(file.read_text() for file in directory.rglob("*.md"))
        assert len(fork_requests(at)) <= at.settings.extraction.max_rounds


@requirement("extracting:session:nothing-here")
async def test_a_turn_that_holds_nothing_costs_nothing(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await told(session, "thanks!")

        assert fork_requests(at) == []
        assert len(at.bodies) == 1


@requirement("extracting:session:cursor")
async def test_a_resumed_session_does_not_look_at_the_same_messages_again(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await told(session, LASTING)
        looked = len(fork_requests(at))
        assert looked >= 1
        async with at.resume(session.id) as again:
            await told(again, "thanks!")

        assert len(fork_requests(at)) == looked


def _script(*rules: Json) -> Any:
    from reverie.simulator.script_file import script_from_json
    from tests.api.session_desk import NOTES

    return script_from_json([NOTES, *rules], "a test")


@requirement("extracting:session:budget")
async def test_extraction_works_by_rules_where_the_budget_has_no_room_for_a_fork(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.settings = replace(at.settings, budget=Budget())
        heard: list[str] = []
        session = at.start()
        session.listen(lambda event: heard.append(event.text) if isinstance(event, Notice) else None)
        await told(session, LASTING)
        await session.close()

        assert fork_requests(at) == []
        assert len(list(at.start().memory.topics())) == 1
        background = session.parts.governor.background_usd
        assert background <= 0.1 * (session.parts.governor.cost_usd - background)


@requirement("extracting:session:budget")
async def test_a_fork_stops_when_the_budget_is_spent_on_the_way(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.settings = replace(at.settings, budget=Budget(background_fraction=0.5, background_usd_per_hour=100.0))
        at.provider.simulation.use_script(
            _script(
                {"when": FORK, "then": calls(("Glob", {"pattern": "*"}), text="word " * 2000)},
                {"when": {"has_tool_results": True}, "then": calls(("Glob", {"pattern": "*"}), text="word " * 2000)},
                {"then": "fine {request}"},
            )
        )
        async with at.start() as session:
            await told(session, LASTING)

        assert 1 <= len(fork_requests(at)) < at.settings.extraction.max_rounds
        assert session.parts.governor.refuses() != ""
