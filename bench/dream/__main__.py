"""`python -m bench.dream`: kills at random points of dreams; the time of a dream by size of the memory; contradictions.

`--kills N` kills so many, half of them while the rules dream and half while a model does (the simulator's), within
`--minutes`; `--sizes` alone times nothing. Times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tests.memory.dream.kit import text
from tests.memory.dream.worker import Killer, model_script, opened, problems, seed

from bench.dream.contradictions import print_labelled, print_on_data
from reverie.memory.memory import Memory
from reverie.testing.simulator import simulator

SIZES = (1_200, 5_000, 10_000)
_TELL_EVERY = 10
_SYLLABLES = ("ba", "cor", "del", "fin", "gra", "hul", "jen", "kip", "lom", "mar", "nes", "pod", "quo", "rus", "tev")
_WORDS = tuple(f"{a}{b}{c}" for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES)
"""Some three thousand, taken the oftener the earlier they stand, as words are."""


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--minutes", type=float, default=20.0, help="At most so long for all kills.")
    options.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    said = options.parse_args()
    bad = 0
    for by_model, count in ((False, said.kills - said.kills // 2), (True, said.kills // 2)):
        bad += _kills(count, 30 * said.minutes, by_model=by_model)
    for size in said.sizes:
        _timed(size)
    print_labelled()
    print_on_data()
    return 1 if bad else 0


def _kills(count: int, limit_seconds: float, *, by_model: bool) -> int:
    """Kill dreamers at random points of what a dream takes on this machine; how many kills left something wrong."""
    chance = random.Random(7)
    who = "a model" if by_model else "the rules"
    done = bad = finished = 0
    until = time.monotonic() + limit_seconds
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        directory, home = Path(folder, "memory"), Path(folder, "home")
        seed(directory, home)
        address = ""
        if by_model and count:
            provider = stack.enter_context(simulator(model_script(directory, home)))
            address = f"{provider.base_url} {provider.api_key}"
        started = datetime.now(UTC)
        killer = stack.enter_context(Killer(directory, home, address))
        longest_seconds = 1.3 * killer.timed(10_000) if count else 0.0
        while done < count and time.monotonic() < until:
            seconds = chance.uniform(0.0, longest_seconds)
            finished += killer.kill_after(seconds, done).count("dreamt completed")
            found = list(problems(directory, home, started))
            bad += bool(found)
            for problem in found:
                print(f"kill {done} of {who} after {seconds * 1000:.1f} ms: {problem}", flush=True)
            done += 1
            if done % _TELL_EVERY == 0:
                print(f"… {done} of {count} kills while {who} dreamt, {bad} left something wrong", flush=True)
    print(
        f"{done} of {count} kills while {who} dreamt: {bad} left something wrong; "
        f"{finished} dreams ended before their kill",
        flush=True,
    )
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
    print(
        f"{size:>6} topics: {first:.2f} s ({merged} merged), right after it {second:.2f} s ({again} merged)",
        flush=True,
    )


def _dream(memory: Memory) -> tuple[float, int]:
    began = time.process_time()
    done = asyncio.run(memory.dream())
    return time.process_time() - began, done.merged


if __name__ == "__main__":
    sys.exit(main())
