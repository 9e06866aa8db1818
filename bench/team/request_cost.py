"""`python -m bench.team.request_cost`: CPU time that one request costs the server and PostgreSQL, and bytes it leaves.

CPU time, because it hardly depends on what else the machine does; `docs/scale.md` is computed from it. Requests come
one after another, so the server cannot answer several with one query, which makes these figures the upper bound.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import psycopg

from bench.team.__main__ import start_postgresql
from reverie.apps.server.database import open_database
from reverie.apps.worker.job import JobSpec
from reverie.apps.worker.queue import QUEUE, JobQueue
from reverie.memory.team.entry import hash_text
from reverie.settings.load import fresh_marker

ROUNDS = 300
ENTRIES = 200
ENTRY_BYTES = 1_500
JOBS = 10_000
_TICKS = os.sysconf("SC_CLK_TCK")


def read_cpu_seconds(pid: int) -> float:
    """CPU time of a process and of those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def read_tree_seconds(pid: int) -> float:
    """CPU time of a process and of all its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return read_cpu_seconds(pid) + sum(read_cpu_seconds(int(child)) for child in children)


def build_text(number: int, edition: int) -> str:
    line = f"Memory {number} in edition {edition}: deploys go out from the release branch after all tests.\n"
    return (line * (ENTRY_BYTES // len(line) + 1))[:ENTRY_BYTES]


def main() -> int:
    missing: list[str] = []
    url = start_postgresql(missing)
    if url is None:
        print(*missing)
        return 1
    with psycopg.connect(url, autocommit=True) as connection, tempfile.TemporaryDirectory() as folder:
        backend = connection.info.backend_pid
        postmaster = int(Path(f"/proc/{backend}/stat").read_text().rpartition(") ")[2].split()[1])
        environment = {**os.environ, "HOME": folder, "REVERIE_DATABASE_URL": url}
        environment["REVERIE_SERVER_REQUESTS_PER_MINUTE"] = "0"
        command = [sys.executable, "-m", "reverie", "serve"]
        token = subprocess.run([*command, "token"], env=environment, capture_output=True, text=True, check=True).stdout
        with subprocess.Popen(
            [*command, "--port", "0"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            try:
                measure(address, token.strip(), server.pid, postmaster, connection)
            finally:
                server.terminate()
    measure_queue(url)
    return 0


def measure(
    address: str, token: str, server: int, postmaster: int, connection: psycopg.Connection[tuple[object, ...]]
) -> None:
    client = httpx2.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=60)

    def push(first: int, count: int, edition: int) -> str:
        texts = {f"entry-{number}.md": build_text(number, edition) for number in range(first, first + count)}
        entries = {path: {"text": text, "sha256": hash_text(text)} for path, text in texts.items()}
        body = json.dumps({"entries": entries})
        answer = client.put("/team_memory?repo=bench/repo", headers={"if-match": "*"}, content=body)
        assert answer.status_code == 200, answer.text
        return answer.headers["etag"]

    def pull(expected: int, query: str = "", **headers: str) -> None:
        answer = client.get(f"/team_memory?repo=bench/repo{query}", headers=headers)
        assert answer.status_code == expected, answer.text

    def report(name: str, act: Callable[[int], object]) -> None:
        act(0)
        server_used, database_used = read_cpu_seconds(server), read_tree_seconds(postmaster)
        for number in range(1, ROUNDS + 1):
            act(number)
        server_ms = (read_cpu_seconds(server) - server_used) / ROUNDS * 1000
        database_ms = (read_tree_seconds(postmaster) - database_used) / ROUNDS * 1000
        print(f"{name}: {server_ms:.2f} ms CPU of the server, {database_ms:.2f} ms of PostgreSQL")

    for first in range(0, ENTRIES, 50):
        etag = push(first, 50, 0)
    print(f"load {os.getloadavg()[0]:.1f}")
    report("unchanged pull (304)", lambda _: pull(304, **{"if-none-match": etag}))
    report(f"whole pull of {ENTRIES} entries", lambda _: pull(200))
    before = read_bytes(connection)
    report("push of one entry", lambda number: push(number % ENTRIES, 1, number + 1))
    per_push = (read_bytes(connection) - before) / (ROUNDS + 1)
    print(f"bytes that a push of {ENTRY_BYTES} bytes leaves in the database: {per_push:,.0f}")
    since = push(0, 1, 10_000)
    push(1, 1, 10_001)
    report("pull of one changed entry", lambda _: pull(200, f"&since={since.strip(chr(34))}"))


def read_bytes(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    query = (
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relname IN ('entries', 'revisions', 'audit')"
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(str(row[0]))


def measure_queue(url: str) -> None:
    """How long a worker waits for its next job while a night's jobs of all repositories wait."""
    database = open_database(url)
    queue = JobQueue(database)
    specs = [JobSpec(fresh_marker(), 1, f"bench/repo-{number}", "dream") for number in range(JOBS)]
    began = time.perf_counter()
    queue.submit(specs)
    print(f"{JOBS:,} jobs submitted in {time.perf_counter() - began:.1f} s")
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT worker_id FROM procrastinate_register_worker_v1()").fetchone()
        assert row is not None
        waits = []
        for _ in range(50):
            began = time.perf_counter()
            connection.execute("SELECT id FROM procrastinate_fetch_job_v2(ARRAY[%s]::varchar[], %s)", (QUEUE, row[0]))
            waits.append(time.perf_counter() - began)
    print(f"next of {JOBS:,} waiting jobs: {sorted(waits)[25] * 1000:.1f} ms median, load {os.getloadavg()[0]:.1f}")
    queue.close()
    database.close()


if __name__ == "__main__":
    sys.exit(main())
