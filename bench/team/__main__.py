"""`python -m bench.team`: the team server on SQLite, and on PostgreSQL where there is one, under a load from here.

Goals: an unchanged pull at least a third as fast as a bare ASGI answer in the same run; 1,000 entries pulled in 1 s.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

SECONDS = 1.0
ROUNDS = 9
"""Short and many: both servers then meet the same neighbours on a busy machine."""
ENTRIES = 1_000
ENTRY_BYTES = 2_000


@contextmanager
def running(*command: str, **environment: str) -> Iterator[tuple[str, int]]:
    """A server process; gives its URL and its id."""
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def load(url: str, path: str, *headers: str) -> tuple[float, float, float]:
    """Requests per second, and the median and 99th percentile in milliseconds."""
    command = [sys.executable, "-m", "bench.team.load", url, path, "304", str(SECONDS), *headers]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate, median, late = map(float, printed.split())
    return rate, median * 1000, late * 1000


def read_cpu_seconds(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill(url: str, token: str) -> str:
    """Store the entries in batches as clients send them; returns the ETag."""
    headers = {"authorization": f"Bearer {token}", "if-match": "*"}
    etag = ""
    for start in range(0, ENTRIES, 80):
        texts = {f"entry-{number}.md": _text(number) for number in range(start, min(start + 80, ENTRIES))}
        entries = {
            path: {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()} for path, text in texts.items()
        }
        body = json.dumps({"entries": entries})
        answer = httpx2.put(f"{url}/team_memory?repo=bench/repo", headers=headers, content=body, timeout=60)
        answer.raise_for_status()
        etag = answer.headers["etag"]
    return etag


def _text(number: int) -> str:
    line = f"Memory {number}: deploys go out on Tuesday from the release branch, after the tests of the importer.\n"
    return (line * (ENTRY_BYTES // len(line) + 1))[:ENTRY_BYTES]


def measure(name: str, database_url: str, home: str) -> None:
    environment = {"REVERIE_DATABASE_URL": database_url, "HOME": home, "REVERIE_SERVER_REQUESTS_PER_MINUTE": "0"}
    token = subprocess.run(
        [sys.executable, "-m", "reverie", "serve", "token"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    ).stdout.strip()
    with (
        running("reverie", "serve", "--port", "0", **environment) as (url, pid),
        running("bench.team.bare") as (bare, bare_pid),
    ):
        began = time.perf_counter()
        etag = fill(url, token)
        filled_seconds = time.perf_counter() - began
        pulls = []
        for _ in range(5):
            began = time.perf_counter()
            answer = httpx2.get(f"{url}/team_memory?repo=bench/repo", headers={"authorization": f"Bearer {token}"})
            assert len(answer.json()["entries"]) == ENTRIES
            pulls.append(time.perf_counter() - began)
        headers = (f"authorization: Bearer {token}", f"if-none-match: {etag}")
        before = read_cpu_seconds(pid), read_cpu_seconds(bare_pid)
        rounds = [(load(bare, "/"), load(url, "/team_memory?repo=bench/repo", *headers)) for _ in range(ROUNDS)]
        spent = read_cpu_seconds(pid) - before[0], read_cpu_seconds(bare_pid) - before[1]
    answers = [SECONDS * sum(each[which][0] for each in rounds) for which in (1, 0)]
    ours_us, bare_us = (seconds / count * 1e6 for seconds, count in zip(spent, answers, strict=True))
    bare_rate = statistics.median(each[0][0] for each in rounds)
    rate, median, late = (statistics.median(each[1][part] for each in rounds) for part in range(3))
    shares = sorted(ours[0] / theirs[0] for theirs, ours in rounds)
    print(f"{name}: unchanged pull {rate:,.0f}/s ({median:.1f} ms median, {late:.1f} ms p99)")
    print(f"{name}: bare ASGI answer {bare_rate:,.0f}/s")
    print(
        f"{name}: share of bare {answers[0] / answers[1]:.2f} of all rounds together, {statistics.median(shares):.2f} "
        f"median, {shares[0]:.2f} to {shares[-1]:.2f}; goal 0.33"
    )
    print(f"{name}: processor time of the server per answer {ours_us:.0f} µs, bare {bare_us:.0f} µs")
    print(f"{name}: first pull of {ENTRIES} entries {min(pulls):.3f} s best, {statistics.median(pulls):.3f} s median")
    print(f"{name}: {ENTRIES} entries stored in {filled_seconds:.2f} s, batches of 80")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        measure("SQLite", f"sqlite:///{folder}/bench.db", folder)
        if (server := start_postgresql()) is not None:
            measure("PostgreSQL", server, folder)
    return 0


def start_postgresql() -> str | None:
    """The URL of a new database; None where there is no PostgreSQL."""
    import pytest
    from tests import postgresql

    try:
        return postgresql.create_database(
            postgresql.start_postgresql(Path(tempfile.gettempdir()) / f"bench-{os.getpid()}")
        )
    except pytest.skip.Exception as reason:
        print(f"PostgreSQL: not measured, {reason}")
        return None


if __name__ == "__main__":
    sys.exit(main())
