"""Whole workers on PostgreSQL: killed, crowded, without their database; every job is done once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bench.team import fleet as bench

from reverie.apps.server.database import open_database
from reverie.apps.server.schema import tenants
from reverie.apps.worker.queue import JobQueue, WorkerOptions
from reverie.errors import Unavailable, UserMistake
from reverie.models.ports import Request
from reverie.testing.build import reply
from reverie.testing.scripted_model import ScriptedModel
from tests.apps.worker.kit import Fleet
from tests.requirements import requirement

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]
ONCE = WorkerOptions(concurrency=4, stops_when_empty=True)


@pytest.fixture
def fleet(database_url: str, tmp_path: Path) -> Iterator[Fleet]:
    database = open_database(database_url)
    yield Fleet(database, tmp_path)
    database.close()


@pytest.fixture
def queue(fleet: Fleet) -> Iterator[JobQueue]:
    opened = JobQueue(fleet.database, fleet.runner)
    yield opened
    opened.close()


class Crowd:
    """Counts how many ask at the same time."""

    def __init__(self) -> None:
        self.most = self._now = 0
        self._guard = threading.Lock()

    def answer(self, _request: Request) -> Any:
        with self._guard:
            self._now += 1
            self.most = max(self.most, self._now)
        threading.Event().wait(0.2)
        with self._guard:
            self._now -= 1
        return reply("Nothing to do.")


@requirement("fleet:killed")
def test_jobs_of_killed_workers_are_done_once(database_url: str, request: pytest.FixtureRequest) -> None:
    count = 200 if request.config.getoption("--thorough") else 24
    result = bench.run(
        database_url, count=count, workers=3, kill_seconds=1.0, stalled=4.0, seed=7, waits_for_progress=True
    )
    assert result.kills
    assert not result.wrong


@requirement("fleet:killed")
def test_one_job_at_a_time_works_on_a_repository(fleet: Fleet, queue: JobQueue) -> None:
    crowd = Crowd()
    fleet.model = lambda: ScriptedModel([crowd.answer])
    fleet.push_duplicates()
    specs = [fleet.spec(model=f"claude-haiku-4-{number}") for number in range(3)]
    assert None not in queue.submit(specs)
    assert queue.submit([fleet.spec(model="claude-haiku-4-1")]) == [None]
    asyncio.run(queue.run(ONCE))
    assert queue.count_jobs() == {"succeeded": 3}
    assert crowd.most == 1
    assert fleet.version() == 2


@requirement("fleet:killed")
def test_a_tenant_runs_no_more_jobs_at_once_than_its_limit(fleet: Fleet, queue: JobQueue) -> None:
    crowd = Crowd()
    fleet.model = lambda: ScriptedModel([crowd.answer])
    for number in range(6):
        fleet.push_duplicates(f"acme/r{number}")
    with fleet.database.writing(0) as connection:
        connection.execute(tenants.update().values(limits='{"jobs_at_once": 2}'))
    queue.submit([fleet.spec(f"acme/r{number}", model="claude-haiku-4-5") for number in range(6)])
    while queue.count_jobs() != {"succeeded": 6}:
        asyncio.run(queue.run(ONCE))
    assert crowd.most <= 2


@requirement("fleet:failures")
def test_a_failure_is_retried_and_told(fleet: Fleet, queue: JobQueue) -> None:
    lines: list[str] = []
    queue.write_line = lines.append
    fleet.push_duplicates()
    fleet.model = lambda: ScriptedModel([Unavailable("no answer")])
    (number,) = queue.submit([fleet.spec(model="claude-haiku-4-5")])
    asyncio.run(queue.run(ONCE))
    assert number is not None
    (row,) = queue.list_jobs(fleet.tenant_id, "todo", 10)
    assert "no answer" in row["problem"]
    assert '"state": "retry"' in lines[0]
    queue.cancel(fleet.tenant_id, number)
    (number,) = queue.submit([fleet.spec("acme/unknown")])
    assert number is not None
    asyncio.run(queue.run(ONCE))
    (row,) = queue.list_jobs(fleet.tenant_id, "failed", 10)
    assert "no repository 'acme/unknown'" in row["problem"]
    fleet.push_duplicates("acme/unknown")
    queue.retry(fleet.tenant_id, number, datetime.now(UTC))
    asyncio.run(queue.run(ONCE))
    (row,) = queue.list_jobs(fleet.tenant_id, "succeeded", 10)
    assert row["result"]["merged"] == 1
    with pytest.raises(UserMistake, match="is succeeded, not failed"):
        queue.retry(fleet.tenant_id, number, datetime.now(UTC))
    with pytest.raises(UserMistake, match="no job 999"):
        queue.cancel(fleet.tenant_id, 999)
