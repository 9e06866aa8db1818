"""`python -m bench.dream [--kills N]`: kills at random points of dreams; the time of a dream by size of the memory."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.memory.dream.kit import text
from tests.memory.dream.worker import Killer, opened, problems, seed

from reverie.api.memory import Memory

SIZES = (100, 1_000, 5_000)
_SYLLABLES = ("ba", "cor", "del", "fin", "gra", "hul", "jen", "kip", "lom", "mar", "nes", "pod", "quo", "rus", "tev")
_WORDS = tuple(f"{a}{b}{c}" for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES)
"""Some three thousand, taken the oftener the earlier they stand, as words are."""


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--longest-seconds", type=float, default=0.5)
    said = options.parse_args()
    bad = _kills(said.kills, said.longest_seconds)
    for size in SIZES:
        _timed(size)
    return 1 if bad else 0


def _kills(count: int, longest_seconds: float) -> int:
    chance = random.Random(7)
    bad = finished = 0
    with tempfile.TemporaryDirectory() as folder:
        directory, home = Path(folder, "memory"), Path(folder, "home")
        seed(directory, home)
        started = datetime.now(UTC)
        with Killer(directory, home) as killer:
            for number in range(count):
                seconds = chance.uniform(0.0, longest_seconds)
                finished += killer.kill_after(seconds, number).count("dreamt completed")
                found = list(problems(directory, home, started))
                bad += bool(found)
                for problem in found:
                    print(f"kill {number} after {seconds * 1000:.1f} ms: {problem}", flush=True)
    print(f"{count} kills: {bad} left something wrong; {finished} dreams ended before their kill")
    return bad


def _timed(size: int) -> None:
    """One dream over so many topics, of which every tenth is a copy; then one over the result."""
    chance = random.Random(size)
    with tempfile.TemporaryDirectory() as folder:
        directory, home = Path(folder, "memory"), Path(folder, "home")
        directory.mkdir()
        weights = [1 / (rank + 5) for rank in range(len(_WORDS))]
        bodies = [" ".join(chance.choices(_WORDS, weights, k=14)) + "." for _ in range(size)]
        with opened(directory, home) as memory:
            topics = {
                f"t{n}.md": text(f"t{n}.md", bodies[n - 1] if n % 10 == 0 and n else bodies[n]) for n in range(size)
            }
            memory.store.write_files(topics, author="import", reason="begin")
            first, merged = _dream(memory)
            second, again = _dream(memory)
    print(f"{size:>6} topics: {first:.2f} s ({merged} merged), right after it {second:.2f} s ({again} merged)")


def _dream(memory: Memory) -> tuple[float, int]:

    began = time.perf_counter()
    done = asyncio.run(memory.dream())
    return time.perf_counter() - began, done.merged


if __name__ == "__main__":
    sys.exit(main())
