"""`python -m bench.team`: the team server on SQLite, and on PostgreSQL where there is one, under a load from here.

Beside it the least that the same server program can do: an ASGI application that answers 304 to everything.
Goals: an unchanged pull at least a third as fast as a bare ASGI answer in the same run; 1,000 entries pulled in 1 s.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2

from bench.figures import RANGE, Figure, Result, Row, Table, add_options, report, spread

SECONDS = 1.0
ROUNDS, QUICK_ROUNDS = 9, 5
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


def measure(name: str, database_url: str, home: str, count: int) -> list[Table]:
    """One database: pulls under load beside the bare answers, and whole pulls and pushes."""
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
        rounds = [(load(bare, "/"), load(url, "/team_memory?repo=bench/repo", *headers)) for _ in range(count)]
        spent = read_cpu_seconds(pid) - before[0], read_cpu_seconds(bare_pid) - before[1]
    answers = [SECONDS * sum(each[which][0] for each in rounds) for which in (1, 0)]
    micros = [seconds / count * 1e6 for seconds, count in zip(spent, answers, strict=True)]
    rows = [
        Row(
            label,
            {
                "rate": spread([each[which][0] for each in rounds], "/s"),
                "median wait": spread([each[which][1] for each in rounds], "ms"),
                "99th percentile": spread([each[which][2] for each in rounds], "ms"),
                "processor time": Figure(used, unit="µs"),
                **more,
            },
            is_ours=which == 1,
        )
        for label, which, used, more in (
            ("reverie, unchanged pull", 1, micros[0], {"share of bare": Figure(answers[0] / answers[1], unit="%")}),
            ("bare ASGI answer", 0, micros[1], {}),
        )
    ]
    seconds = {"time": spread(pulls, "s")}, {"time": Figure(filled_seconds, unit="s")}
    bulk = [
        Row(f"first pull of {ENTRIES:,} entries of {ENTRY_BYTES:,} bytes, with its JSON parsed", seconds[0], True),
        Row(f"{ENTRIES:,} entries stored in batches of 80, scan for secrets included", seconds[1], True),
    ]
    about = (
        f"One server process, one process of load with 32 connections, {len(rounds)} rounds of {SECONDS:.0f} s each, "
        "in turn. Processor time is the server's for one answer. The goal is a third of the bare answers."
    )
    return [
        Table(name, f"Unchanged pulls, {name}", about, f"{RANGE} of the rounds", rows, picture="rate"),
        Table(f"{name} bulk", f"Whole pulls and pushes, {name}", "By the clock.", f"{RANGE} of five", bulk),
    ]


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.team", description=__doc__))
    options = parser.parse_args(arguments)
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        rounds = QUICK_ROUNDS if options.quick else ROUNDS
        result.tables += measure("SQLite", f"sqlite:///{folder}/bench.db", folder, rounds)
        if (server := start_postgresql(result.left_out)) is not None:
            result.tables += measure("PostgreSQL", server, folder, rounds)
    return report(result, options)


def start_postgresql(left_out: list[str]) -> str | None:
    """The URL of a new database; None where there is no PostgreSQL, and the reason goes to `left_out`."""
    import pytest
    from tests import postgresql

    try:
        return postgresql.create_database(
            postgresql.start_postgresql(Path(tempfile.gettempdir()) / f"bench-{os.getpid()}")
        )
    except pytest.skip.Exception as reason:
        left_out.append(f"PostgreSQL: {reason}")
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
