"""Measure cold starts: `python -m bench.start`. Best and median of many runs, since the machine does other things too.

Recall is measured on a project of 10,000 memories, and beside it a bare Python that only looks at each of those files.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

from bench.store.__main__ import made_topic
from reverie import Memory, Settings

RUNS = 30
TOPICS = 10_000
QUERY = "how is the release queue deployed"
_LOOK = "import os, sys; [os.stat(each) for each in os.scandir(sys.argv[1])]"


def times_of(command: list[str], environment: dict[str, str]) -> list[float]:
    """How long each run took, in order of size."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, env=environment)
        times.append(time.perf_counter() - start)
    return sorted(times)


def write_memories(directory: Path) -> None:
    """A memory of many topics, indexed."""
    chance = random.Random(7)
    directory.mkdir(parents=True)
    with Memory(directory, settings=Settings(home=str(directory.parent))) as memory:
        memory.save_many(made_topic(number, chance) for number in range(TOPICS))
        memory.recall(QUERY, fresh=True)


def main() -> None:
    sample = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
    program = str(Path(sys.executable).with_name("reverie"))
    with tempfile.TemporaryDirectory() as home:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["HOME"] = home
        large = Path(home) / "large.jsonl"
        lines = sample.read_text(encoding="utf-8")
        large.write_text(lines * (1_500_000 // len(lines)), encoding="utf-8")
        memories = Path(home) / ".reverie" / "memory"
        write_memories(memories)
        recall = [program, "recall", QUERY, "--memory-dir", str(memories), "--words"]
        bare = times_of([sys.executable, "-c", "pass"], environment)[0]
        print(f"{'command':42} {'best ms':>8} {'median':>8} {'× bare':>7}")
        for name, command in {
            "python -c pass": [sys.executable, "-c", "pass"],
            "reverie --version": [program, "--version"],
            "reverie --help": [program, "--help"],
            "reverie settings --json": [program, "settings", "--json"],
            "reverie context (1.5 MB) --json": [program, "context", str(large), "--json"],
            "reverie context (1.5 MB)": [program, "context", str(large)],
            f"python: look at {TOPICS:,} files": [sys.executable, "-c", _LOOK, str(memories)],
            f"reverie recall, {TOPICS:,} topics": recall,
            f"reverie recall --json, {TOPICS:,} topics": [*recall, "--json"],
        }.items():
            times = times_of(command, environment)
            middle = times[len(times) // 2]
            print(f"{name:42} {times[0] * 1000:>8.1f} {middle * 1000:>8.1f} {times[0] / bare:>7.1f}", flush=True)


if __name__ == "__main__":
    main()
