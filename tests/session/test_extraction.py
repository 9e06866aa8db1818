from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.files.background_tasks import list_tasks
from reverie.messages.blocks import Json
from reverie.messages.entries import Entry
from reverie.models.ports import Ending
from reverie.session.events import Notice
from reverie.session.session import Session
from reverie.settings import BudgetSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, cached_share, calls, desk, results, told

LASTING = "Please remember: never mock the database in integration tests, because a mock hid a broken migration."
FORK: dict[str, Json] = {"last_user": "fork_boilerplate_tag"}


def note(name: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {body}\ntype: feedback\n---\n\n{body}\n"


async def at_rest(session: Session) -> None:
    """Wait until extraction has nothing to do."""
    async with asyncio.timeout(120):
        while session.parts.session_extraction.is_running:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def fork_requests(at: Desk) -> list[Any]:
    return [one for one in at.provider.requests if "fork_boilerplate_tag" in json.dumps(one.body)]


@requirement("extracting:session:embedded")
async def test_without_a_model_what_lasts_is_kept_after_the_turn(tmp_path: Path) -> None:
    with desk(tmp_path, learns=True) as at:
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
    with desk(tmp_path, learns=True) as at:
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
    with desk(tmp_path, learns=True) as at:
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
        kept = list(at.start().memory.topics())
        assert len(kept) == (deed in {"outside", "secret", "broken", "index"}), "the rules keep what the user said"
        assert all(topic.trust == "said" and str(topic.sources[0].quote) in LASTING for topic in kept)
        assert key not in "".join(file.read_text() for file in directory.rglob("*.md"))
        assert len(fork_requests(at)) <= at.settings.extraction.max_rounds


@requirement("forks:limits:reads")
async def test_a_fork_reads_only_the_project_the_memory_and_its_session(tmp_path: Path) -> None:
    """Nobody sees what it reads, and all of it is sent."""
    with desk(tmp_path, learns=True) as at:
        directory = at.start().memory.directory
        project = at.file("README.md", "open words").parent
        closed = [tmp_path / "elsewhere.txt", project / ".env", project / "deploy.pem", project / ".ssh" / "id_ed25519"]
        for path in closed:
            path.parent.mkdir(exist_ok=True)
            path.write_text("closed words", encoding="utf-8")
        (project / "link.md").symlink_to(closed[0])
        reads: list[dict[str, Json]] = [
            {"file_path": str(path)} for path in (*closed, project / "link.md", Path("/etc/passwd"))
        ]
        deeds: list[tuple[str, dict[str, Json]]] = [
            *(("Read", given) for given in reads),
            ("Grep", {"pattern": "closed", "path": str(tmp_path), "output_mode": "content"}),
            ("Glob", {"pattern": "*", "path": "/etc"}),
            ("Read", {"file_path": str(project / "README.md")}),
            ("Grep", {"pattern": "words", "path": str(project), "output_mode": "content"}),
            ("Read", {"file_path": str(directory / "MEMORY.md")}),
        ]
        at.provider.simulation.use_script(
            _script({"when": {**FORK, "has_tool_results": False}, "times": 1, "then": calls(*deeds)}, {"then": "fine"})
        )
        async with at.start() as session:
            await told(session, LASTING)
        given = results(fork_requests(at)[-1].body)

        assert [failed for failed, _ in given] == [True] * 8 + [False, False, given[-1][0]]
        assert "not" in given[0][1]
        shown = "".join(text for _, text in given)
        assert "open words" in shown
        assert "closed words" not in shown
        assert "root:" not in shown
        assert at.person.asked == []


@requirement("extracting:session:nothing-here")
async def test_a_turn_that_holds_nothing_costs_nothing(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}], learns=True) as at:
        async with at.start() as session:
            await told(session, "thanks!")

        assert fork_requests(at) == []
        assert len(at.bodies) == 1


@requirement("extracting:session:nothing-here")
async def test_another_language_and_the_approval_of_an_unusual_step_reach_the_model(tmp_path: Path) -> None:
    with desk(
        tmp_path, [{"then": "I put it all into one change instead of three. Request {request}"}], learns=True
    ) as at:
        async with at.start() as session:
            for words in ("utilise toujours des espaces", "Спасибо, пиши короче", "perfect, exactly like that"):
                looked = len(fork_requests(at))
                await told(session, words)
                await at_rest(session)
                assert len(fork_requests(at)) > looked, words


@requirement("extracting:session:off-the-loop")
async def test_memories_are_read_beside_the_event_loop(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}], learns=True) as at:
        async with at.start() as session:
            await told(session, "thanks!")
            asked: dict[str, set[int]] = {}
            real = session.parts.session_extraction.now

            def now() -> datetime:
                asked.setdefault(sys._getframe(1).f_code.co_name, set()).add(threading.get_ident())
                return real()

            session.parts.session_extraction.now = now
            await told(session, LASTING)
            await at_rest(session)

        assert asked["_keeper"]
        assert threading.get_ident() not in asked["_keeper"] | asked["_words"] | asked["_list_user_messages"]


@requirement("extracting:session:cursor")
async def test_a_resumed_session_does_not_look_at_the_same_messages_again(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}], learns=True) as at:
        async with at.start() as session:
            await told(session, LASTING)
        looked = len(fork_requests(at))
        assert looked >= 1
        async with at.resume(session.id) as again:
            await told(again, "thanks!")

        assert len(fork_requests(at)) == looked


def _script(*rules: Json) -> Any:
    from reverie_simulator.script_file import script_from_json
    from tests.session.session_desk import NOTES

    return script_from_json([NOTES, *rules], "a test")


@requirement("extracting:session:budget")
async def test_extraction_works_by_rules_where_the_budget_has_no_room_for_a_fork(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}], learns=True) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_usd_per_hour=0.01))
        heard: list[str] = []
        session = at.start()
        session.listen(lambda event: heard.append(event.text) if isinstance(event, Notice) else None)
        await told(session, LASTING)
        await session.close()

        assert fork_requests(at) == []
        assert len(list(at.start().memory.topics())) == 1
        background = session.parts.governor.background_usd
        assert background <= 0.01


@requirement("ledger:governor:early", "extracting:session:fork")
async def test_the_first_turn_of_a_session_is_looked_at_by_the_model_within_the_usual_budget(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}], learns=True) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_fraction=0.05))
        async with at.start() as session:
            await told(session, LASTING)

        assert len(fork_requests(at)) == 1
        assert session.parts.governor.background_usd > 0.05 * (
            session.parts.governor.cost_usd - session.parts.governor.background_usd
        )


@requirement("extracting:session:budget")
async def test_a_fork_stops_when_the_budget_is_spent_on_the_way(tmp_path: Path) -> None:
    with desk(tmp_path, learns=True) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_fraction=1.0, background_usd_per_hour=0.04))
        at.provider.simulation.use_script(
            _script(
                {"when": FORK, "then": calls(("Glob", {"pattern": "*"}), text="word " * 2000)},
                {"when": {"has_tool_results": True}, "then": calls(("Glob", {"pattern": "*"}), text="word " * 2000)},
                {"then": "fine {request}"},
            )
        )
        heard: list[str] = []
        session = at.start()
        session.listen(lambda event: heard.append(event.text) if isinstance(event, Notice) else None)
        await told(session, LASTING)
        await session.close()

        assert 1 <= len(fork_requests(at)) < at.settings.extraction.max_rounds
        assert session.parts.governor.refuses() != ""
        assert any("continues without the model" in text for text in heard)
        assert len(list(at.start().memory.topics())) == 1, "the rules look at what the fork left"


@requirement("tasks:session")
async def test_notes_and_extraction_are_tasks_with_state_cost_and_log(tmp_path: Path) -> None:
    notes: dict[str, Json] = {"when": {"last_user": "long"}, "then": "word " * 12_000}
    with desk(tmp_path, [notes, {"then": "fine {request}"}], learns=True) as at:
        async with at.start() as session:
            await told(session, LASTING)
            await at_rest(session)
            await told(session, "long")
            rows = dict(session.describe("tasks") or ())
        folder = at.setup().places.tasks
        tasks = {task.kind: task for task in list_tasks(folder, now=at.time)}

        assert set(tasks) == {"extraction", "notes"}, rows
        assert {task.state for task in tasks.values()} == {"completed"}
        for task in tasks.values():
            assert session.id in task.title
            assert task.log
            assert task.cost_usd == pytest.approx(session.parts.governor.spent_on(task.kind)) != 0.0
        assert f"extraction-{session.id[:8]}" in rows


@requirement("tasks:session", "tasks:stop")
async def test_extraction_stops_when_another_process_asks_for_it_and_looks_again_later(tmp_path: Path) -> None:
    slow: Json = {"text": "thinking about it for long " * 200, "event_delay_ms": 100}
    with desk(tmp_path, learns=True) as at:
        at.provider.simulation.use_script(_script({"when": FORK, "times": 1, "then": slow}, {"then": "fine {request}"}))
        folder = at.setup().places.tasks
        heard: list[str] = []
        async with at.start() as session:
            session.listen(lambda event: heard.append(event.text) if isinstance(event, Notice) else None)
            await told(session, LASTING)
            name = f"extraction-{session.id[:8]}"
            assert session.parts.session_extraction.is_running
            command = [sys.executable, "-m", "reverie", "tasks", "--kill", name]
            asking = await asyncio.create_subprocess_exec(*command, env={**os.environ, "HOME": str(at.home)})
            assert await asking.wait() == 0
            await at_rest(session)
            (task,) = (task for task in list_tasks(folder, now=at.time) if task.kind == "extraction")
            assert task.state == "killed"
            assert any("processed after the next turn" in text for text in heard)
            before = len(fork_requests(at))
            await told(session, "go on, always in English please")
        assert len(fork_requests(at)) > before
        (task,) = (task for task in list_tasks(folder, now=at.time) if task.kind == "extraction")
        assert task.state == "completed"


class Counted(list[Entry]):
    """A list that counts what is taken out of it."""

    taken = 0

    def __iter__(self) -> Iterator[Entry]:
        for entry in super().__iter__():
            self.taken += 1
            yield entry

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.taken += len(found) if isinstance(place, slice) else 1
        return found


@requirement("extracting:session:new-only")
async def test_after_a_turn_of_a_long_session_only_what_is_new_is_looked_at(tmp_path: Path) -> None:
    with desk(tmp_path, learns=True) as at:
        at.model = "offline"
        async with at.start() as session:
            for number in range(40):
                await told(session, f"number {number}")
            await at_rest(session)
            log, extracting = session.parts.log, session.parts.session_extraction
            counted = log.entries = Counted(log.entries)
            looked_at = []
            for _ in range(2):
                counted.taken = 0
                extracting.after_turn(Ending.COMPLETED)
                looked_at.append(counted.taken)
                await at_rest(session)
        assert len(counted) > 80
        assert looked_at[1] < 15
