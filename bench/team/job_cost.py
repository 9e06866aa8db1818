"""`python -m bench.team.job_cost`: CPU time of one job by rules, by the number of memories of its repository.

The figures of `docs/scale.md` come from here; a model would wait, not compute.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench.team.__main__ import start_postgresql
from bench.team.fleet import SENTENCES
from reverie.apps.server.accounts import Principal, find_tenant
from reverie.apps.server.batch import BatchDocument, EntryDocument, parse_batch
from reverie.apps.server.database import ALL_TENANTS, open_database
from reverie.apps.server.entries import write_batch
from reverie.apps.server.limits import default_limits
from reverie.apps.worker.job import JobRunner, JobSpec
from reverie.memory.team.entry import hash_text
from reverie.models.from_settings import model
from reverie.settings import Settings
from reverie.settings.load import fresh_marker, from_process, system_now

SIZES = (3, 30, 300)
ROUNDS = 7
WORDS = (
    "importer",
    "gateway",
    "invoice",
    "parser",
    "scheduler",
    "mailer",
    "ledger",
    "cache",
    "router",
    "search",
    "billing",
)


def build_entries(count: int) -> dict[str, EntryDocument]:
    """Two memories that are the same and others that are not."""
    entries = {}
    for number in range(count):
        word, other = WORDS[number % len(WORDS)], WORDS[number // len(WORDS) % len(WORDS)]
        sentence = (
            f"The {word} of region {number} needs {other} version {number * 7} since ticket {number * 13 + 1000}."
        )
        body = SENTENCES[number] if number < len(SENTENCES) else sentence
        text = f"---\nname: Note {number}\ndescription: {body}\ntype: project\n---\n\n{body}\n"
        entries[f"note-{number}.md"] = EntryDocument(text, hash_text(text), "ada")
    return entries


def write_session(path: Path, session: str) -> Path:
    """A session of twenty messages, one of which teaches something."""
    texts = [f"please look at file number {number} and fix the failing test in it" for number in range(19)]
    texts.append("From now on, always run make check before you push to this repository.")
    rows = [
        {
            "type": "user",
            "uuid": f"00000000-0000-4000-8000-{number:012d}",
            "sessionId": session,
            "timestamp": f"2026-11-17T10:{number:02d}:00.000Z",
            "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main() -> int:
    missing: list[str] = []
    url = start_postgresql(missing)
    if url is None:
        print(*missing)
        return 1
    database = open_database(url)
    limits = default_limits(Settings().server)
    with tempfile.TemporaryDirectory() as folder:
        runner = JobRunner(database, from_process(), limits, Path(folder), system_now, model)
        for size in SIZES:
            times: dict[str, list[tuple[float, float]]] = {"dream": [], "learn": []}
            for number in range(ROUNDS + 1):
                repo = f"bench/{size}-{number}"
                batch = parse_batch(msgspec.json.encode(BatchDocument(build_entries(size))), limits)
                with database.writing(ALL_TENANTS) as connection:
                    tenant_id = find_tenant(connection, "default", 0)
                    principal = Principal(tenant_id, "", "bench", None, "write", None, limits)
                    write_batch(connection, principal, repo, batch, if_match="*", now=1_790_000_000)
                session = write_session(Path(folder) / f"session-{number}.jsonl", f"{size}-{number}")
                for spec in (
                    JobSpec(fresh_marker(), tenant_id, repo, "dream"),
                    JobSpec(fresh_marker(), tenant_id, repo, "learn", paths=(str(session),)),
                ):
                    began, used = time.perf_counter(), time.process_time()
                    result = runner.run(spec)
                    times[spec.kind].append((time.process_time() - used, time.perf_counter() - began))
                    assert result["merged" if spec.kind == "dream" else "saved"] == 1, result
            for kind, pairs in times.items():
                cpu, wall = (statistics.median(pair[part] for pair in pairs[1:]) * 1000 for part in (0, 1))
                print(f"{kind}, {size} memories: {cpu:.0f} ms CPU of the worker, {wall:.0f} ms, load {load()}")
    database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
