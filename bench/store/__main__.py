"""Measure saves, sweeps, bulk saves and the size of the history; plain git beside it.

`python -m bench.store [--quick] [speed|size …]`. Every figure is of this machine in this run. Kills and many writers at
once are `bench.crash`.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from reverie import Memory, Settings
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.history import pack_when_due, packing_stopped
from reverie.memory.store.topic_store import Store
from reverie.memory.topics.topic import MemoryType, Topic

WORDS = ("the", "of", "release", "database", "test", "queue", "index", "user", "session", "branch", "deploy", "cache")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store")
    parser.add_argument("parts", nargs="*", default=["speed", "size"])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()
    parts: dict[str, Callable[[bool], None]] = {"speed": speed, "size": size}
    for part in options.parts:
        parts[part](options.quick)


def made_topic(number: int, chance: random.Random) -> Topic:
    """A topic of about a kilobyte."""
    body = " ".join(chance.choices(WORDS, k=150))
    kind = chance.choice(list(MemoryType))
    return Topic("", f"{chance.choice(WORDS)} number {number}", " ".join(chance.choices(WORDS, k=9)), kind, body)


def open_here(directory: Path) -> Store:
    directory.mkdir(parents=True, exist_ok=True)
    return Store(MemoryFolder(directory, directory), now=lambda: datetime.now(UTC))


def speed(quick: bool) -> None:
    """One save at 1,000 and 10,000 topics: warm, cold, and by plain git on an equal directory.

    A warm save is told by the system which files were touched; a `sync` looks at every one, and so does a new store.
    """
    repetitions = 30 if quick else 100
    # Nothing is deleted in between: ext4 spends a millisecond on each new file where many were deleted just now.
    with scratch() as whole:
        for count in (1_000, 10_000):
            folder = whole / str(count)
            store = open_here(folder / "memory")
            chance = random.Random(count)
            started = time.perf_counter()
            store.save_many([made_topic(number, chance) for number in range(count)])
            print(f"save_many of {count:,} topics: {time.perf_counter() - started:.1f} s")
            timed_memory(folder / "whole", count)
            shutil.copytree(folder / "memory", folder / "plain", ignore=shutil.ignore_patterns(".git", ".reverie"))
            store.save(made_topic(0, chance))
            timed(f"sync without changes, {count:,} topics", store.sync, repetitions)
            timed(f"save, warm, {count:,} topics", saver(store, count, chance), repetitions)
            timed(f"save, a new store each time, {count:,} topics", fresh_saver(folder / "memory", count, chance), 10)
            timed(f"git add -A && git commit, {count:,} files", plain_git(folder / "plain", chance), repetitions // 3)


def timed_memory(directory: Path, count: int) -> None:
    """The same batch through `Memory`: dates, situations and the search index as well."""
    chance = random.Random(count)
    batch = [made_topic(number, chance) for number in range(count)]
    with Memory(directory, settings=Settings(home=str(directory / "home"))) as memory:
        started = time.perf_counter()
        memory.save_many(batch)
        print(f"Memory.save_many of {count:,} topics, indexed: {time.perf_counter() - started:.1f} s", flush=True)


def saver(store: Store, count: int, chance: random.Random) -> Callable[[], object]:
    numbers = iter(range(count, count + 1_000_000))
    return lambda: store.save(made_topic(next(numbers), chance))


def fresh_saver(directory: Path, count: int, chance: random.Random) -> Callable[[], object]:
    numbers = iter(range(2 * count + 1_000, count + 1_000_000))
    return lambda: open_here(directory).save(made_topic(next(numbers), chance))


def plain_git(directory: Path, chance: random.Random) -> Callable[[], object]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "gc.auto=0")
        subprocess.run(["git", *identity, *arguments], cwd=directory, env=environment, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "start")
    numbers = iter(range(1_000_000))

    def save() -> None:
        (directory / f"new_{next(numbers)}.md").write_text(" ".join(chance.choices(WORDS, k=150)), encoding="utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", "save")

    return save


def size(quick: bool) -> None:
    """The history after 1,000 saves at 10,000 topics, and at its largest on the way."""
    saves = 200 if quick else 1_000
    with scratch() as folder:
        store = open_here(folder / "memory")
        chance = random.Random(3)
        store.save_many([made_topic(number, chance) for number in range(10_000)])
        largest, durations = 0, []
        for number in range(saves):
            started = time.perf_counter()
            store.save(made_topic(chance.randrange(10_500), chance))
            durations.append(time.perf_counter() - started)
            if number % 20 == 0:
                largest = max(largest, size_of(folder / "memory" / ".git"))
        report(f"save while packing beside, {saves} in a row", durations)
        pack_when_due(store.history)
        with packing_stopped(store.history):
            final = size_of(folder / "memory" / ".git")
        print(f"history after {saves} saves at 10,000 topics: {final / 1e6:.1f} MB, at most {largest / 1e6:.1f} MB")


def timed(what: str, act: Callable[[], object], repetitions: int) -> None:
    durations, worked = [], []
    for _ in range(repetitions):
        started, begun = time.perf_counter(), time.process_time()
        act()
        durations.append(time.perf_counter() - started)
        worked.append(time.process_time() - begun)
    report(what, durations, f", of the processor p50 {statistics.median(worked) * 1e3:.1f} ms")


def report(what: str, durations: list[float], more: str = "") -> None:
    ordered = [seconds * 1e3 for seconds in sorted(durations)]
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    times = f"p50 {statistics.median(ordered):.1f} ms, p95 {p95:.1f} ms, largest {ordered[-1]:.1f} ms"
    print(f"{what}: {times}{more}, load {os.getloadavg()[0]:.1f}", flush=True)


def size_of(folder: Path) -> int:
    """In bytes; a packing beside us may remove files and folders meanwhile."""
    total = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += (Path(inside) / name).lstat().st_size
    return total


class scratch(tempfile.TemporaryDirectory[str]):  # noqa: N801 - reads as a verb where it is used
    """A temporary folder as a path; the background packing may still hold files in it."""

    def __init__(self) -> None:
        super().__init__(prefix="bench-store-", ignore_cleanup_errors=True)

    def __enter__(self) -> Path:  # type: ignore[override] # a path is what everyone wants
        return Path(super().__enter__())


if __name__ == "__main__":
    main()
