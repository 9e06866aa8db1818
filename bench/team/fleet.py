"""`python -m bench.team.fleet`: dream jobs on workers of which one is killed and restarted every few seconds.

Goal: 1,000 jobs on 4 workers, one killed every 5 s: each done exactly once in effect.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec
from sqlalchemy import func, select

from reverie.apps.server.accounts import Principal, find_tenant
from reverie.apps.server.batch import BatchDocument, EntryDocument, parse_batch
from reverie.apps.server.database import ALL_TENANTS, ServerDatabase, open_database
from reverie.apps.server.entries import write_batch
from reverie.apps.server.limits import default_limits
from reverie.apps.server.schema import audit, jobs, repos
from reverie.apps.worker.job import JobSpec
from reverie.apps.worker.queue import JobQueue
from reverie.memory.team.entry import hash_text
from reverie.settings import Settings
from reverie.settings.load import fresh_marker

SENTENCES = (
    "Deploys of the importer go out on Tuesday from the release branch, after the tests.",
    "Deploys of the importer go out on Tuesday from the release branch, after the tests.",
    "The integration tests need the database of docker compose.",
)
"""Two that a dream merges, and one that it leaves alone: each job has something to do, once."""
SECONDS_MAX = 3_600.0


@dataclass
class FleetRun:
    """How a run went; what is wrong is a sentence each."""

    jobs: int
    seconds: float
    kills: int
    starts: int
    taken_over: int
    wrong: list[str]


def fill(database: ServerDatabase, count: int) -> int:
    """Repositories with two memories that a dream merges; returns the tenant."""
    limits = default_limits(Settings().server)
    entries = {}
    for number, sentence in enumerate(SENTENCES):
        text = f"---\nname: Note {number}\ndescription: {sentence}\ntype: project\n---\n\n{sentence}\n"
        entries[f"note-{number}.md"] = EntryDocument(text, hash_text(text), "ada")
    batch = parse_batch(msgspec.json.encode(BatchDocument(entries)), limits)
    with database.writing(ALL_TENANTS) as connection:
        tenant_id = find_tenant(connection, "default", 0)
        principal = Principal(tenant_id, "", "bench", None, "write", None, limits)
        for number in range(count):
            write_batch(connection, principal, f"bench/repo-{number}", batch, if_match="*", now=1_790_000_000)
    return tenant_id


class Workers:
    """Worker processes, killed and started again."""

    def __init__(self, database_url: str, folder: Path, count: int, stalled: float) -> None:
        self._environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ},
            "HOME": str(folder),
            "REVERIE_DATABASE_URL": database_url,
            "REVERIE_SERVER_JOBS_AT_ONCE": "0",
        }
        self._command = [sys.executable, "-m", "reverie", "worker", "--concurrency", "2", "--stalled", str(stalled)]
        self._command += ["--work", str(folder / "work")]
        self._folder = folder
        self.kills = 0
        self._processes = [self._start() for _ in range(count)]

    def _start(self) -> subprocess.Popen[bytes]:
        with (self._folder / "workers.log").open("ab") as log:
            return subprocess.Popen(self._command, env=self._environment, cwd=self._folder, stderr=log)

    def kill_one(self, number: int) -> None:
        """End a worker at whatever it does, and start another in its place."""
        process = self._processes[number]
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        self.kills += 1
        self._processes[number] = self._start()

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait(60)


def run(
    database_url: str,
    *,
    count: int,
    workers: int = 4,
    kill_seconds: float = 5.0,
    stalled: float = 8.0,
    seed: int = 1,
    waits_for_progress: bool = False,
) -> FleetRun:
    """Run `count` dreams to the end, killing as it goes, and look what came of it.

    With `waits_for_progress` nobody is killed before another job is done, so that it ends on a slow machine too.
    """
    randomness = random.Random(seed)
    database = open_database(database_url)
    queue = JobQueue(database)
    with tempfile.TemporaryDirectory() as folder:
        tenant_id = fill(database, count)
        specs = [JobSpec(fresh_marker(), tenant_id, f"bench/repo-{number}", "dream") for number in range(count)]
        queue.submit(specs)
        began = time.monotonic()
        fleet = Workers(database_url, Path(folder), workers, stalled)
        next_kill, done_then = began + kill_seconds, 0
        try:
            while (done := queue.count_jobs().get("succeeded", 0)) < count and time.monotonic() < began + SECONDS_MAX:
                if time.monotonic() >= next_kill and (done > done_then or not waits_for_progress):
                    fleet.kill_one(randomness.randrange(workers))
                    next_kill, done_then = next_kill + kill_seconds, done
                time.sleep(0.2)
            seconds = time.monotonic() - began
        finally:
            fleet.stop()
            states = queue.count_jobs()
            wrong = [] if states == {"succeeded": count} else [f"states of the jobs: {states}"]
            wrong += find_wrong(database, tenant_id, count)
            starts, taken_over = _count_starts(database)
            queue.close()
            database.close()
    return FleetRun(count, seconds, fleet.kills, starts, taken_over, wrong)


def find_wrong(database: ServerDatabase, tenant_id: int, count: int) -> list[str]:
    """What does not look as if each job had been done exactly once."""
    with database.reading(ALL_TENANTS) as connection:
        rows = connection.execute(select(repos.c.name, repos.c.version, repos.c.live_entries)).all()
        finished = connection.execute(
            select(func.count()).select_from(jobs).where(jobs.c.finished_at.is_not(None))
        ).scalar()
        query = select(audit.c.repo).where(audit.c.tenant_id == tenant_id, audit.c.actor.startswith("dream job"))
        written = [row[0] for row in connection.execute(query)]
    wrong = [f"{name}: version {version}, {live} entries" for name, version, live in rows if (version, live) != (2, 2)]
    wrong += [] if finished == count else [f"{finished} of {count} jobs have a result"]
    wrong += [] if sorted(written) == sorted(row[0] for row in rows) else [f"{len(written)} writes for {count} jobs"]
    return wrong


def _count_starts(database: ServerDatabase) -> tuple[int, int]:
    with database.reading(ALL_TENANTS) as connection:
        starts = [row[0] for row in connection.execute(select(jobs.c.starts))]
    return sum(starts), sum(number > 1 for number in starts)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill-seconds", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    from bench.team.__main__ import start_postgresql

    missing: list[str] = []
    url = start_postgresql(missing)
    if url is None:
        print(*missing)
        return 1
    result = run(url, count=options.jobs, workers=options.workers, kill_seconds=options.kill_seconds, seed=options.seed)
    print(f"{result.jobs} dreams on {options.workers} workers in {result.seconds:.0f} s: "
          f"{result.jobs / result.seconds:.1f}/s, load {os.getloadavg()[0]:.1f}")  # fmt: skip
    print(f"{result.kills} workers killed; {result.starts} starts, {result.taken_over} jobs started more than once")
    for sentence in result.wrong[:20]:
        print(f"wrong: {sentence}")
    print("each done exactly once in effect" if not result.wrong else f"{len(result.wrong)} deviations")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
