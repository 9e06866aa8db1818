"""Measure sessions: `python -m bench.session`.

Wall time, median, best and worst of several, since the machine does other things too; beside it the median of the CPU
time, which says what the wall time is on an idle machine. For turns that is all of the turn: before the request, the
answer, and what follows it. Each kind of session is measured in a process of its own, whose peak is its memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count as numbers
from pathlib import Path
from typing import Any

from bench.figures import RANGE, Figure, Result, Row, Table, add_options, report, spread
from bench.session.material import MODEL, grow
from bench.session.wire import Provider, provider
from bench.window.__main__ import measure_window
from reverie.files.places import Places
from reverie.models.choose import Access, choose
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from reverie.settings.load import new_id, system_now

TURNS, QUICK_TURNS = 15, 8
RESUMES, QUICK_RESUMES = 5, 3
_NOBODY = "other agents beside: none runs offline with a provider of our own in the same way"
WEEK_BYTES = 50_000_000
_marks = numbers(os.getpid() * 1_000)
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


async def warm(room: Room, session: str, count: int) -> dict[str, Any]:
    """Turns of a session after its first."""
    async with Session.open(room.setup(), resume=session) as going:
        await turn_ms(going, room.at)
        turns = []
        for _ in range(count):
            turns.append(await turn_ms(going, room.at))
            # A person reads the answer; notes and extraction, which begin with it, end meanwhile.
            await asyncio.sleep(0.3)
        wall, cpu = zip(*turns, strict=True)
        return {"wire": wall, "cpu": cpu, "tokens": going.status.used_tokens}


async def resumed(room: Room, session: str, _count: int) -> dict[str, Any]:
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


def in_a_process(job: str, room: Room, session: str, count: int = 0) -> dict[str, Any]:
    """Measure in a process of its own, with the vendor's library loaded as a terminal loads it while one types."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "bench.session", job, str(room.folder), room.at.base_url, session, str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _row(name: str, wall: Sequence[float], cpu: Sequence[float] | None, found: Mapping[str, Any]) -> Row:
    figures = {
        "tokens in view": Figure(found["tokens"]),
        "time": spread(wall, "ms"),
        "processor time": spread(cpu, "ms") if cpu else Figure(None),
        "memory, at most": Figure(found["peak_mb"], unit="MB"),
    }
    row = Row(name, figures, is_ours=True)
    print(name, *map(str, figures.values()), sep="  ", flush=True)
    return row


def measure_sessions(*, quick: bool) -> Result:
    """Sessions of several lengths: resumed, and in their turns."""
    rows = []
    turns, resumes = (QUICK_TURNS, QUICK_RESUMES) if quick else (TURNS, RESUMES)
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
            many = [in_a_process("resumed", room, path.stem) for _ in range(resumes)]
            rows += [
                _row(f"{name}: resumed", [one["opened"] for one in many], [one["cpu"] for one in many], many[0]),
                _row(f"{name}: resumed, first request sent", [one["wire"] for one in many], None, many[0]),
            ]
            found = in_a_process("warm", room, path.stem, turns)
            rows.append(_row(f"{name}: Enter to request", found["wire"], found["cpu"], found))
    about = (
        f"Each session resumed {resumes} times, in a process of its own, then {turns} turns in one: from the Enter key "
        "to the first request at the provider (which answers at once); processor time of a turn is that of all of it. "
        "Goals: 50 ms to the request, 2 s to resume 50 MB."
    )
    result = Result([Table("sessions", "Resuming and turns", about, RANGE, rows)], [_NOBODY])
    result.tables.append(measure_window())
    return result


def main() -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.session", description=__doc__))
    options = parser.parse_args()
    return report(measure_sessions(quick=options.quick), options)


def work(job: str, folder: Path, base_url: str, session: str, turns: int) -> None:
    from reverie.models.connection import load_sdk

    load_sdk("anthropic")
    room = Room(folder, Provider(base_url))
    jobs = {"warm": warm, "resumed": resumed}
    found = asyncio.run(jobs[job](room, session, turns))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    print(json.dumps({**found, "peak_mb": peak}))


if __name__ == "__main__":
    if len(sys.argv) == 6 and sys.argv[1] in {"warm", "resumed"}:
        work(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        sys.exit(main())
