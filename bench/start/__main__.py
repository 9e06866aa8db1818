"""Measure cold starts: `python -m bench.start`. Median, least and most of many runs: the machine does other things too.

Processor time is that of the process and its children. Recall is measured on a project of 10,000 memories, and beside
it a bare Python that only looks at each of those files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.figures import (
    RANGE,
    Figure,
    Result,
    Row,
    Table,
    add_options,
    default_models,
    default_peers,
    report,
    spread,
)
from bench.peers import find_peer
from bench.store.__main__ import made_topic
from reverie import Memory, Settings, Topic
from reverie.memory.search.weights import find_weights
from reverie.memory.topics.topic import MemoryType

RUNS, QUICK_RUNS, OTHER_RUNS = 30, 12, 5
TOPICS = 10_000
QUERY = "how is the release queue deployed"
PROGRAM = str(Path(sys.executable).with_name("reverie"))
_LOOK = "import os, sys; [os.stat(each) for each in os.scandir(sys.argv[1])]"


def measure_start(
    command: list[str], environment: Mapping[str, str], runs: int, *, event: Path | None = None
) -> dict[str, Figure]:
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
    return {"time": spread(times, "ms"), "processor time": spread(worked, "ms")}


def environment_at(home: str) -> dict[str, str]:
    """An environment with a home of its own, in which Python keeps what it compiles."""
    return {key: said for key, said in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {"HOME": home}


def write_memories(directory: Path, topics: Iterable[Topic]) -> float:
    """A memory of many topics, indexed; return how many seconds saving took."""
    directory.mkdir(parents=True)
    with Memory(directory, settings=Settings(home=str(directory.parent))) as memory:
        started = time.perf_counter()
        memory.save_many(topics)
        taken = time.perf_counter() - started
        memory.recall(QUERY, fresh=True)
    return taken


def measure_starts(models: Path, peers: Path, *, quick: bool) -> Result:
    """Every command in new processes, and other programs beside."""
    result = Result()
    runs = QUICK_RUNS if quick else RUNS
    sample = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environment = environment_at(home)
        large = Path(home) / "large.jsonl"
        lines = sample.read_text(encoding="utf-8")
        large.write_text(lines * (1_500_000 // len(lines)), encoding="utf-8")
        memories = Path(home) / ".reverie" / "memory"
        chance = random.Random(7)
        write_memories(memories, (made_topic(number, chance) for number in range(TOPICS)))
        place = ["--memory-dir", str(memories)]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "python that looks at each file": [sys.executable, "-c", _LOOK, str(memories)],
            **_other_programs(peers, result),
            "reverie --version": [PROGRAM, "--version"],
            "reverie --help": [PROGRAM, "--help"],
            "reverie settings --json": [PROGRAM, "settings", "--json"],
            "reverie context, session of 1.5 MB": [PROGRAM, "context", str(large)],
            "reverie recall": [PROGRAM, "recall", QUERY, *place, "--words"],
            "reverie recall --json": [PROGRAM, "recall", QUERY, *place, "--words", "--json"],
            "reverie list": [PROGRAM, "list", *place],
        }
        if find_weights(models):
            few = Path(home) / "few"
            names = ("kiwi server", "mango queue", "plum branch", "fig cache", "lime index")
            kind = MemoryType("project")
            (Path(home) / ".reverie" / "models").symlink_to(models.absolute())
            write_memories(few, [Topic("", name, f"The {name} is ours", kind, name) for name in names])
            question = "where does the kiwi server run"
            commands["reverie recall with vectors, 5 memories"] = [
                PROGRAM, "recall", question, "--memory-dir", str(few),
            ]  # fmt: skip
        else:
            result.left_out.append("recall with vectors: their weights are not installed (`reverie models install`)")
        for name, command in commands.items():
            times = OTHER_RUNS if name.endswith("only imported") else runs
            rows.append(Row(name, measure_start(command, environment, times), is_ours=name.startswith("reverie")))
            print(name, *map(str, rows[-1].figures.values()), sep="  ", flush=True)
        named = {**environment, "REVERIE_MEMORY_PATH_OVERRIDE": str(memories)}
        for event in ("UserPromptSubmit", "SessionStart"):
            command = [PROGRAM, "hook", event]
            figures = measure_start(command, named, runs, event=Path(home) / "event.json")
            rows.append(Row(f"reverie hook {event}", figures, is_ours=True))
    about = (
        f"Each command {runs} times in a new process (other libraries {OTHER_RUNS} times), by the clock and by the "
        f"processor; recall, list and hooks on {TOPICS:,} memories."
    )
    result.tables.append(Table("commands", "Commands in a new process", about, RANGE, rows, picture="time"))
    return result


def _other_programs(peers: Path, result: Result) -> dict[str, list[str]]:
    """Programs of others that keep memories, as far as they are installed: the least that each can be asked."""
    found = {}
    asked = {"basic-memory": "from basic_memory.cli.app import app", "mem0": "import mem0"}
    for name, code in asked.items():
        python = find_peer(peers, name)
        if python is None:
            result.left_out.append(f"{name}: it is not installed (`python -m bench.peers`)")
        else:
            found[f"{name}, only imported"] = [str(python), "-c", code]
    return found


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.start", description=__doc__))
    parser.add_argument("--models", type=Path, default=default_models(), help="where the weights of vectors lie")
    parser.add_argument("--peers", type=Path, default=default_peers(), help="environments of other libraries")
    options = parser.parse_args(arguments)
    return report(measure_starts(options.models, options.peers, quick=options.quick), options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
