"""Measure cold starts: `python -m bench.start`. Best and median of many runs, since the machine does other things too.

Processor time is that of the process and its children. Recall is measured on a project of 10,000 memories, and beside
it a bare Python that only looks at each of those files.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.store.__main__ import made_topic
from reverie import Memory, Settings, Topic

RUNS = 30
TOPICS = 10_000
QUERY = "how is the release queue deployed"
PROGRAM = str(Path(sys.executable).with_name("reverie"))
_LOOK = "import os, sys; [os.stat(each) for each in os.scandir(sys.argv[1])]"


@dataclass(frozen=True, slots=True)
class Started:
    """How long the runs of a command took, in milliseconds."""

    best: float
    median: float
    worked: float
    """The processor's time, median."""

    def __str__(self) -> str:
        return f"{self.best:>9.1f}{self.median:>9.1f}{self.worked:>9.1f}"


HEADINGS = f"{'best ms':>9}{'median':>9}{'cpu':>9}"


def measure_start(
    command: list[str], environment: Mapping[str, str], runs: int = RUNS, *, event: Path | None = None
) -> Started:
    """Run a command many times; `event` is a hook's event, which goes to standard input with a session of its own."""
    times, worked = [], []
    sink = os.open(os.devnull, os.O_RDWR)
    quietly: list[Any] = [(os.POSIX_SPAWN_DUP2, sink, number) for number in (1, 2)]
    for number in range(runs):
        given = []
        if event is not None:
            text = json.dumps({"session_id": f"s{number}", "cwd": environment["HOME"], "prompt": QUERY})
            event.write_text(text, encoding="utf-8")
            given = [(os.POSIX_SPAWN_OPEN, 0, str(event), os.O_RDONLY, 0)]
        started = time.perf_counter()
        child = os.posix_spawn(command[0], command, environment, file_actions=[*given, *quietly])
        _, status, used = os.wait4(child, 0)
        times.append((time.perf_counter() - started) * 1000)
        worked.append((used.ru_utime + used.ru_stime) * 1000)
        if status != 0:
            raise SystemExit(f"{' '.join(command)} failed with {os.waitstatus_to_exitcode(status)}")
    os.close(sink)
    return Started(min(times), statistics.median(times), statistics.median(worked))


def environment_at(home: str) -> dict[str, str]:
    """An environment with a home of its own, in which Python keeps what it compiles."""
    return {key: said for key, said in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {"HOME": home}


def recall_commands(memories: Path, query: str = QUERY) -> dict[str, list[str]]:
    """A cold recall, and a bare Python that only looks at the same files."""
    recall = [PROGRAM, "recall", query, "--memory-dir", str(memories), "--words"]
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        f"python: look at {TOPICS:,} files": [sys.executable, "-c", _LOOK, str(memories)],
        f"reverie recall, {TOPICS:,} topics": recall,
        f"reverie recall --json, {TOPICS:,} topics": [*recall, "--json"],
    }


def write_memories(directory: Path, topics: Iterable[Topic]) -> float:
    """A memory of many topics, indexed; return how many seconds saving took."""
    directory.mkdir(parents=True)
    with Memory(directory, settings=Settings(home=str(directory.parent))) as memory:
        started = time.perf_counter()
        memory.save_many(topics)
        taken = time.perf_counter() - started
        memory.recall(QUERY, fresh=True)
    return taken


def print_hook_start(memories: Path, environment: Mapping[str, str]) -> None:
    """A cold `reverie hook UserPromptSubmit` beside a bare Python of the same environment, in the same run."""
    bare = measure_start([sys.executable, "-I", "-c", "pass"], environment)
    named = {**environment, "REVERIE_MEMORY_PATH_OVERRIDE": str(memories)}
    hook = measure_start([PROGRAM, "hook", "UserPromptSubmit"], named, event=Path(environment["HOME"]) / "event.json")
    print(f"{'python -I -c pass':42}{bare}")
    print(f"{f'reverie hook UserPromptSubmit, {TOPICS:,}':42}{hook}")
    print(f"{'hook / bare python':42}{hook.best / bare.best:>9.1f}{hook.median / bare.median:>9.1f}", flush=True)


def main() -> None:
    sample = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
    with tempfile.TemporaryDirectory() as home:
        environment = environment_at(home)
        large = Path(home) / "large.jsonl"
        lines = sample.read_text(encoding="utf-8")
        large.write_text(lines * (1_500_000 // len(lines)), encoding="utf-8")
        memories = Path(home) / ".reverie" / "memory"
        chance = random.Random(7)
        write_memories(memories, (made_topic(number, chance) for number in range(TOPICS)))
        print(f"{'command, load ' + format(os.getloadavg()[0], '.1f'):42}{HEADINGS}")
        commands = {
            "reverie --version": [PROGRAM, "--version"],
            "reverie --help": [PROGRAM, "--help"],
            "reverie settings --json": [PROGRAM, "settings", "--json"],
            "reverie context (1.5 MB) --json": [PROGRAM, "context", str(large), "--json"],
            "reverie context (1.5 MB)": [PROGRAM, "context", str(large)],
        }
        for name, command in {**commands, **recall_commands(memories)}.items():
            print(f"{name:42}{measure_start(command, environment)}", flush=True)
        print_hook_start(memories, environment)


if __name__ == "__main__":
    main()
