"""One job: it takes effect once however often it starts, pays once for a model's answer, and loses nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reverie.apps.server.database import open_database, sqlite_url
from reverie.apps.server.schema import job_steps
from reverie.apps.worker.job import JobPaused
from reverie.errors import Conflict, Unavailable, UserMistake
from reverie.messages.message import Usage
from reverie.models.ports import Request
from reverie.testing.build import reply, tool_call
from reverie.testing.scripted_model import ScriptedModel
from tests.apps.worker.kit import Fleet
from tests.requirements import requirement
from tests.session.sessions import hold


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    database = open_database(sqlite_url(tmp_path / "data"))
    yield Fleet(database, tmp_path)
    database.close()


class Killed(BaseException):
    """The worker dies here."""


@requirement("fleet:once")
def test_a_dream_takes_effect_once(fleet: Fleet) -> None:
    fleet.push_duplicates()
    result = fleet.runner.run(fleet.spec())
    assert (result["state"], result["merged"], len(result["deleted"])) == ("completed", 1, 1)
    assert len(fleet.texts()) == 2
    fleet.push_duplicates()
    assert fleet.runner.run(fleet.spec()) == result
    assert len(fleet.texts()) == 3
    assert not list((fleet.folder / "work").iterdir())


@requirement("fleet:once")
def test_two_workers_with_the_same_job_store_one_result(fleet: Fleet) -> None:
    fleet.push_duplicates()
    spec = fleet.spec(model="claude-haiku-4-5")
    second = fleet.runner
    second.directory = fleet.folder / "elsewhere"

    def run_second(_request: Request) -> Any:
        fleet.model = lambda: ScriptedModel([reply("Nothing to do.")])
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(second.run, spec).result()["merged"] == 1
        return reply("Nothing to do.")

    fleet.model = lambda: ScriptedModel([run_second])
    assert fleet.runner.run(spec)["version"] == fleet.version() == 2


@requirement("fleet:once")
def test_what_a_colleague_pushed_meanwhile_is_not_overwritten(fleet: Fleet) -> None:
    fleet.push_duplicates()
    spec = fleet.spec(model="claude-haiku-4-5")

    def push_meanwhile(_request: Request) -> Any:
        fleet.push({path: text.replace("Tuesday", "Friday") for path, text in fleet.texts().items()})
        return reply("Nothing to do.")

    model = ScriptedModel([push_meanwhile, reply("Nothing to do.")])
    fleet.model = lambda: model
    with pytest.raises(Conflict, match="changed while the job ran"):
        fleet.runner.run(spec)
    assert fleet.version() == 2
    assert fleet.runner.run(spec)["merged"] == 1
    assert all("Tuesday" not in text for text in fleet.texts().values())


@requirement("fleet:paid-once")
def test_a_rerun_does_not_ask_again(fleet: Fleet) -> None:
    fleet.push_duplicates()
    price = Usage(input_tokens=1_000, output_tokens=10)

    def die(_request: Request) -> Any:
        raise Killed

    model = ScriptedModel([reply(tool_call("Glob", pattern="*.md"), usage=price), die])
    fleet.model = lambda: model
    with pytest.raises(Killed):
        fleet.runner.run(fleet.spec(model="claude-haiku-4-5"))
    assert len(model.requests) == 2
    fleet.wait(minutes=7)
    model = ScriptedModel([reply("Nothing to do.", usage=price)])
    result = fleet.runner.run(fleet.spec(model="claude-haiku-4-5"))
    assert len(model.requests) == 1
    assert result["state"] == "completed"
    with fleet.database.reading(0) as connection:
        rows = connection.execute(job_steps.select()).mappings().all()
    assert [(row["step"], row["reply"]) for row in rows] == [("dream:0", None)] * 2


@requirement("fleet:budget")
def test_a_job_waits_when_the_budget_of_its_tenant_is_spent(fleet: Fleet) -> None:
    dear = Usage(input_tokens=100_000_000, output_tokens=10)
    model = ScriptedModel([reply("Nothing to do.", usage=dear), reply("Nothing to do.", usage=dear)])
    for step in model.steps:
        object.__setattr__(step, "model", "claude-haiku-4-5")
    fleet.model = lambda: model
    for repo in ("acme/a", "acme/b"):
        fleet.push_duplicates(repo)
    assert fleet.runner.run(fleet.spec("acme/a", model="claude-haiku-4-5"))["cost_usd"] > 10
    with pytest.raises(JobPaused, match="job_usd_per_day"):
        fleet.runner.run(fleet.spec("acme/b", model="claude-haiku-4-5"))
    assert len(model.requests) == 1
    fleet.wait(days=2)
    assert fleet.runner.run(fleet.spec("acme/b", model="claude-haiku-4-5"))["state"] == "completed"


@requirement("fleet:extraction")
def test_extraction_shares_what_may_be_shared_and_reads_a_session_once(fleet: Fleet, tmp_path: Path) -> None:
    path = hold(tmp_path / "s1.jsonl", "From now on, always run make check before you push to this repository.")
    result = fleet.runner.run(fleet.spec(kind="learn", paths=(str(path),)))
    assert (result["sessions"], result["saved"]) == (1, 1)
    assert len(result["written"]) + len(result["not_stored"]) == 1
    again = fleet.runner.run(fleet.spec(kind="learn", paths=(str(path),), key="2"))
    assert again["messages"] == (0 if fleet.version() else 1)


@requirement("fleet:approval")
def test_a_dream_beyond_its_limits_waits_for_approval(fleet: Fleet) -> None:
    fleet.push_duplicates()
    before = fleet.texts()

    def edit(request: Request) -> Any:
        staging = re.findall(r"/[\w./-]+/dream/[\w.-]+", request.messages[0].text)[0].rstrip(".")
        text = before["compose.md"].replace("---\n\nThe", "asks:\n- which database do the tests need\n---\n\nThe")
        return tool_call("Write", file_path=f"{staging}/compose.md", content=text)

    def read(request: Request) -> Any:
        return tool_call("Read", file_path=edit(request).input["file_path"])

    fleet.model = lambda: ScriptedModel([read, edit, Unavailable("gone")])
    result = fleet.runner.run(fleet.spec(model="claude-haiku-4-5"))
    assert result["state"] == "proposed", result
    assert result["needs_approval"]
    assert fleet.texts() == before
    assert fleet.runner.run(fleet.spec(apply_all=True))["state"] == "completed"
    assert fleet.texts() != before


@requirement("fleet:failures")
def test_a_job_that_cannot_be_done_says_why(fleet: Fleet) -> None:
    with pytest.raises(UserMistake, match="no repository 'acme/app'"):
        fleet.runner.run(fleet.spec())
    fleet.push_duplicates()
    fleet.model = lambda: ScriptedModel([Unavailable("no answer")])
    for _ in range(2):
        with pytest.raises(Unavailable, match="no answer"):
            fleet.runner.run(fleet.spec(model="claude-haiku-4-5"))
    assert len(fleet.texts()) == 3
