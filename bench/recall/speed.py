"""Latency, memory and indexing time on up to 100,000 topics, cold starts, saves: `python -m bench.recall.speed`.

Topics are made of the data's own sentences. Each way of asking runs in a process of its own, so that its memory is its
own, and asks every query once. SQLite's FTS5 alone on the same texts is the floor. Queries are embedded by the model;
the stores get real vectors of other sentences, with noise, as embedding a million sentences takes an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recall.data import read_chat_cases
from bench.recall.work import NOW
from bench.start.__main__ import (
    HEADINGS,
    PROGRAM,
    TOPICS,
    environment_at,
    measure_start,
    recall_commands,
    write_memories,
)
from reverie import Memory, Settings, Topic
from reverie.memory.search.document import Query, SearchDocument
from reverie.memory.search.engine import SearchIndex, embed_documents
from reverie.memory.search.weights import find_weights
from reverie.memory.topics.topic import MemoryType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZES = (1_000, 10_000, 100_000)
_QUERIES = 300
_UNMEASURED = 30
"""Asked first, to warm up."""
_MOST_SECONDS = 20.0
"""Whoever takes longer is measured by fewer queries, but by thirty at least."""
_AT_ONCE = 5_000
_POOL = 600
"""So many sentences are embedded for the stores."""
_NOISE = 0.02
_GOALS = {"words": (10, 30), "vectors": (15, 40)}
"""p99 in milliseconds, by size."""
_SAVES = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """What asking took, in milliseconds, and what the process holds, in megabytes."""

    wall_p50: float
    wall_p99: float
    cpu_p50: float
    cpu_p99: float
    resident: float
    own: float
    """Of that, what is neither shared nor a page of a file."""
    load: float

    def __str__(self) -> str:
        times = f"{self.wall_p50:>10.1f}{self.wall_p99:>10.1f}{self.cpu_p50:>10.1f}{self.cpu_p99:>10.1f}"
        return f"{times}{self.resident:>10.0f}{self.own:>10.0f}{self.load:>8.1f}"


def measure_speed(models: Path, *, quick: bool) -> dict[str, object]:
    """Measure everything and print it."""
    weights = find_weights(models)
    if weights is None:
        print(f"no model in {models}: vectors are left out (`reverie models install`)")
    sentences = _sentences()
    stand_in = None if weights is None else _StandIn(weights, sentences)
    report: dict[str, object] = {}
    print("\nwarm queries of six words, each asked once; ms of the clock and of the processor; MB of the process")
    headings = ("p50", "p99", "cpu p50", "cpu p99", "resident", "own")
    print(f"{'topics':>8}  {'asked by':10}" + "".join(f"{name:>10}" for name in headings) + f"{'load':>8}  goal p99")
    indexing = []
    for number, size in enumerate(SIZES[: 2 if quick else 3]):
        with tempfile.TemporaryDirectory(prefix="bench-speed-") as folder:
            path = Path(folder) / "index.db"
            indexing.append(f"{size:>8,}  {_build(path, size, sentences)}")
            ways = ["fts5", "words"]
            if stand_in is not None:
                _add_vectors(path, size, sentences, stand_in)
                ways.append("vectors")
            for way in ways:
                found = _ask_in_a_process(path, way, models)
                goal = f"{_GOALS[way][number]:>6} ms" if number < len(_GOALS.get(way, ())) else ""
                print(f"{size:>8,}  {way:10}{found}  {goal}", flush=True)
                report[f"{size} {way}"] = {name: getattr(found, name) for name in Asked.__slots__}
    print("\nindexing without vectors, and one changed document (goals at 10,000: 10 s and 20 ms)")
    print("\n".join(indexing), flush=True)
    report["cold"] = _measure_commands(sentences, models if weights is not None else None)
    return report


def make_topics(count: int, sentences: Sequence[str]) -> Iterator[SearchDocument]:
    """Topics of three to twelve sentences, as files of memory are."""
    draw = random.Random(count)
    for number in range(count):
        body = ". ".join(draw.choices(sentences, k=draw.randint(3, 12)))
        name = " ".join(draw.choice(sentences).split()[:4])
        yield SearchDocument(
            key=f"topic-{number}.md",
            name=name,
            description=draw.choice(sentences),
            body=body,
            type=draw.choice(("user", "feedback", "project", "reference")),
            observed=date(2025, 1, 1) + timedelta(days=draw.randint(0, 360)),
        )


def _sentences() -> list[str]:
    bodies = (each.body for case in read_chat_cases("longmemeval") for each in case.topics.values())
    return sorted({part.strip() for body in bodies for part in body.split(".") if len(part) > 20})


def _queries(sentences: Sequence[str]) -> list[str]:
    draw = random.Random(11)
    return [" ".join(draw.sample(draw.choice(sentences).split() * 2, 6)) for _ in range(_QUERIES + _UNMEASURED)]


def _build(path: Path, size: int, sentences: Sequence[str]) -> str:
    """Index the topics, here and in a plain table of FTS5; say how long ours took."""
    topics = list(make_topics(size, sentences))
    plain = sqlite3.connect(_plain(path))
    plain.execute("CREATE VIRTUAL TABLE topics USING fts5(body, tokenize='porter unicode61')")
    with plain:
        plain.executemany("INSERT INTO topics VALUES (?)", [(f"{each.name}\n{each.body}",) for each in topics])
    plain.close()
    with SearchIndex(path) as index:
        started, worked = time.perf_counter(), time.process_time()
        for at in range(0, size, _AT_ONCE):
            index.update(topics[at : at + _AT_ONCE])
        taken, worked = time.perf_counter() - started, time.process_time() - worked
        changes = []
        for number in range(11):
            changed = replace(topics[number], body=topics[number].body + " changed")
            started = time.perf_counter()
            index.update([changed])
            changes.append((time.perf_counter() - started) * 1000)
    one = sorted(changes)[len(changes) // 2]
    return f"{taken:.1f} s ({worked:.1f} s of the processor); one document {one:.1f} ms"


def _plain(path: Path) -> Path:
    return path.with_name("plain.db")


class _StandIn:
    """Gives texts the vectors of other sentences, with noise."""

    def __init__(self, weights: Path, sentences: Sequence[str]) -> None:
        import numpy as np

        from reverie.memory.search.embed import Embedder

        self._draw = np.random.default_rng(3)
        self._pool = Embedder(weights).embed(random.Random(5).sample(sentences, _POOL))

    def windows(self, text: str) -> tuple[str, ...]:
        return (text,)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        found: NDArray[np.float32] = self._pool[self._draw.integers(len(self._pool), size=len(texts))]
        found += self._draw.standard_normal(found.shape, dtype=np.float32) * np.float32(_NOISE)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found


def _add_vectors(path: Path, size: int, sentences: Sequence[str], stand_in: _StandIn) -> None:
    topics = list(make_topics(size, sentences))
    with SearchIndex(path) as index:
        for at in range(0, size, _AT_ONCE):
            index.write_vectors(embed_documents(topics[at : at + _AT_ONCE], stand_in))


def _ask_in_a_process(path: Path, way: str, models: Path) -> Asked:
    command = [sys.executable, "-m", __spec__.name if __spec__ else "bench.recall.speed"]
    command += ["--ask", str(path), "--by", way, "--models", str(models)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Asked(**json.loads(said))


def _ask(path: Path, way: str, models: Path) -> None:
    """Ask all queries in this process and print what it took."""
    queries = _queries(_sentences())
    if way == "fts5":
        plain = sqlite3.connect(_plain(path))
        sql = "SELECT rowid FROM topics(?) ORDER BY rank LIMIT 5"

        def ask(text: str) -> object:
            words = "".join(letter if letter.isalnum() else " " for letter in text).split()
            return plain.execute(sql, (" OR ".join(f'"{word}"' for word in words) or '"none"',)).fetchall()

    else:
        embedder = None
        if way == "vectors":
            from reverie.memory.search.embed import Embedder

            weights = find_weights(models)
            assert weights is not None
            embedder = Embedder(weights)
        index = SearchIndex(path, embedder)

        def ask(text: str) -> object:
            return index.search(Query(text, NOW))

    print(json.dumps(_asked(ask, queries)))


def _asked(ask: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    wall: list[float] = []
    cpu: list[float] = []
    for number, text in enumerate(queries):
        started, worked = time.perf_counter(), time.process_time()
        ask(text)
        if number >= _UNMEASURED:
            if len(wall) >= _UNMEASURED and sum(wall) > _MOST_SECONDS * 1000:
                break
            cpu.append((time.process_time() - worked) * 1000)
            wall.append((time.perf_counter() - started) * 1000)
    resident, own = _memory()
    percentiles = {
        f"{name}_p{share}": sorted(times)[len(times) * share // 100]
        for name, times in (("wall", wall), ("cpu", cpu))
        for share in (50, 99)
    }
    return {**percentiles, "resident": resident, "own": own, "load": os.getloadavg()[0]}


def _memory() -> tuple[float, float]:
    """What this process holds in memory, and what of it is its own; where that is not told, the peak twice."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return peak, peak
    said = dict(line.split(":", 1) for line in lines)
    return tuple(int(said[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))  # type: ignore[return-value]


def _measure_commands(sentences: Sequence[str], models: Path | None) -> dict[str, object]:
    """Cold commands and saves on a memory of 10,000 files."""
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="bench-speed-", ignore_cleanup_errors=True) as home:
        memories = Path(home) / ".reverie" / "memory"
        topics = map(_topic, make_topics(TOPICS, sentences))
        seconds = write_memories(memories, topics)
        print(f"\n{TOPICS:,} files: save_many {seconds:.1f} s (goal 20 s), {_measure_saves(memories, sentences)}")
        print(f"{'cold, load ' + format(os.getloadavg()[0], '.1f'):42}{HEADINGS}   goal 150 ms")
        commands = recall_commands(memories, _queries(sentences)[0])
        if models is not None:
            (Path(home) / ".reverie" / "models").symlink_to(models)
            few = [PROGRAM, "recall", "where does the kiwi server run", "--memory-dir", str(_few(home))]
            commands["reverie recall with vectors, 5 topics"] = few
        for name, command in commands.items():
            found = measure_start(command, environment_at(home), runs=20)
            print(f"{name:42}{found}", flush=True)
            report[name] = found.median
    return report


def _few(home: str) -> Path:
    """A memory of a few topics that have their vectors."""
    directory = Path(home) / "few"
    names = ("kiwi server", "mango queue", "plum branch", "fig cache", "lime index")
    write_memories(directory, [Topic("", name, f"The {name} is ours", MemoryType("project"), name) for name in names])
    return directory


def _measure_saves(memories: Path, sentences: Sequence[str]) -> str:
    taken = []
    with Memory(memories, settings=Settings(home=str(memories.parent))) as memory:
        for number, document in enumerate(make_topics(_SAVES, sentences)):
            started = time.perf_counter()
            memory.keep(replace(_topic(document), name=f"later {number}"))
            taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    return (
        f"one save p50 {taken[len(taken) // 2]:.0f} ms, largest {taken[-1]:.0f} ms (goal 80 ms at 1,000, 250 at 10,000)"
    )


def _topic(document: SearchDocument) -> Topic:
    number = document.key.removeprefix("topic-").removesuffix(".md")
    kind = MemoryType(document.type or "project")
    return Topic("", f"{document.name} {number}", document.description, kind, document.body, observed=document.observed)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no store of 100,000")
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie" / "models", help="where the model lies")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--by", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.ask:
        _ask(options.ask, options.by, options.models)
        return 0
    report = measure_speed(options.models, quick=options.quick)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
