"""Measure sessions: `python -m bench.session`.

Wall time, median, best and worst of several, since the machine does other things too; beside it the median of the CPU
time, which says what the wall time is on an idle machine. For turns that is all of the turn: before the request, the
answer, and what follows it. Each kind of session is measured in a process of its own, whose peak is its memory.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from bench.session.material import MODEL, grow
from bench.session.wire import Provider, provider
from reverie.files.places import Places
from reverie.models.choose import Access, choose
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from reverie.settings.load import new_id, system_now

TURNS = 15
RESUMES = 5
WEEK_BYTES = 50_000_000
_marks = count(os.getpid() * 1_000)
"""No two processes have the same."""


@dataclass(frozen=True, slots=True)
class Room:
    """A home, a project, a provider."""

    folder: Path
    at: Provider

    def setup(self) -> SessionOptions:
        access = Access(anthropic_key="measured", anthropic_url=self.at.base_url)
        home, project = self.folder / "home", self.folder / "project"
        project.mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True)
        return SessionOptions(
            settings=Settings(),
            places=Places.at(home / ".reverie", home / ".claude"),
            directory=project,
            project=project,
            model=MODEL,
            make_model=lambda name: choose(name, access),
            now=system_now,
            new_id=new_id,
            user_home=home,
            environment={"PATH": os.environ["PATH"], "HOME": str(home)},
            is_interactive=True,
        )


async def turn_ms(session: Session, at: Provider) -> tuple[float, float]:
    """From Enter to the first request on the wire, and the CPU time of the whole turn."""
    mark = next(_marks)
    start, used = time.monotonic(), time.process_time()
    async for _ in session.send(f"Where does the importer count its rows? mark-{mark}"):
        pass
    used = time.process_time() - used
    return (at.arrival(mark) - start) * 1000, used * 1000


async def begun(room: Room) -> Path:
    """A session of one turn."""
    async with Session.open(room.setup()) as session:
        await turn_ms(session, room.at)
        return session.path


async def warm(room: Room, session: str) -> dict[str, Any]:
    """Turns of a session after its first."""
    async with Session.open(room.setup(), resume=session) as going:
        await turn_ms(going, room.at)
        turns = []
        for _ in range(TURNS):
            turns.append(await turn_ms(going, room.at))
            # A person reads the answer; notes and extraction, which begin with it, end meanwhile.
            await asyncio.sleep(0.3)
        wall, cpu = zip(*turns, strict=True)
        return {"wire": wall, "cpu": cpu, "tokens": going.status.used_tokens}


async def resumed(room: Room, session: str) -> dict[str, Any]:
    """Open it, and its first request."""
    start, used = time.monotonic(), time.process_time()
    async with Session.open(room.setup(), resume=session) as going:
        opened, opened_cpu = time.monotonic() - start, time.process_time() - used
        wire, _ = await turn_ms(going, room.at)
        return {
            "opened": opened * 1000,
            "cpu": opened_cpu * 1000,
            "wire": opened * 1000 + wire,
            "tokens": going.status.used_tokens,
        }


def in_a_process(job: str, room: Room, session: str) -> dict[str, Any]:
    """Measure in a process of its own, with the vendor's library loaded as a terminal loads it while one types."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "bench.session", job, str(room.folder), room.at.base_url, session]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(name: str, wall: list[float], cpu: list[float] | None, found: dict[str, Any]) -> None:
    middle = f"{statistics.median(cpu):>8.1f}" if cpu else f"{'':8}"
    print(
        f"{name:66} {found['tokens']:>8} {statistics.median(wall):>8.1f} {min(wall):>8.1f} {max(wall):>8.1f} {middle}"
        f" {found['peak_mb']:>8.0f}",
        flush=True,
    )


def main() -> None:
    heads = ("tokens", "median", "best", "worst", "CPU ms", "peak MB")
    print(f"{'session':66} {' '.join(f'{head:>8}' for head in heads)}")
    with tempfile.TemporaryDirectory() as folder, provider() as at:
        for name, tokens, size_bytes, chars in [
            ("a few words", 0, 0, 3_000),
            ("100,000 tokens", 100_000, 0, 3_000),
            ("100,000 tokens in small pieces", 100_000, 0, 400),
            ("a week, 50 MB", 0, WEEK_BYTES, 3_000),
        ]:
            room = Room(Path(folder) / name, at)
            path = asyncio.run(begun(room))
            grow(path, tokens=tokens, size_bytes=size_bytes, result_chars=chars)
            many = [in_a_process("resumed", room, path.stem) for _ in range(RESUMES)]
            report(f"{name}: resumed", [one["opened"] for one in many], [one["cpu"] for one in many], many[0])
            report(f"{name}: resumed, first request on the wire", [one["wire"] for one in many], None, many[0])
            found = in_a_process("warm", room, path.stem)
            report(f"{name}: Enter to wire", found["wire"], found["cpu"], found)


def work(job: str, folder: Path, base_url: str, session: str) -> None:
    from reverie.models.connection import load_sdk

    load_sdk("anthropic")
    room = Room(folder, Provider(base_url))
    jobs = {"warm": warm, "resumed": resumed}
    found = asyncio.run(jobs[job](room, session))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    print(json.dumps({**found, "peak_mb": peak}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        main()
