"""Latency, memory and indexing time on up to 100,000 topics, and saves: `python -m bench.recall.speed`.

Topics are made of the data's own sentences. Each way of asking runs in a process of its own, so that its memory is its
own, and asks every query once. SQLite's FTS5 alone on the same texts is the floor. Queries are embedded by the model;
the stores get real vectors of other sentences, with noise, as embedding a million sentences takes an hour. New
processes are measured by `bench.start`.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import (
    BOOTSTRAP,
    RANGE,
    Figure,
    Result,
    Row,
    Table,
    add_options,
    default_models,
    percentile,
    report,
    spread,
)
from bench.recall.data import folder, read_chat_cases
from bench.recall.work import NOW
from bench.start.__main__ import write_memories
from bench.store.__main__ import made_topic, plain_git
from reverie import Memory, Settings, Topic
from reverie.memory.search.document import Query, SearchDocument
from reverie.memory.search.engine import SearchIndex, embed_documents
from reverie.memory.search.weights import find_weights

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
_GOALS = {"words": {1_000: 10, 10_000: 30}, "vectors": {1_000: 15, 10_000: 40}}
"""Milliseconds of the 99th percentile, by size."""
SAVES, QUICK_SAVES = 30, 12


def measure_speed(models: Path, *, quick: bool) -> Result:
    """Queries at all sizes, indexing, and saves."""
    result = Result()
    if not folder().is_dir():
        result.left_out.append("queries and indexing: the sentences of the sample data are not here")
    else:
        _measure_queries(result, models, SIZES[: 2 if quick else 3])
        if quick:
            result.left_out.append("a store of 100,000: in a full run only")
    result.tables.append(_measure_saves(QUICK_SAVES if quick else SAVES))
    return result


def _measure_queries(result: Result, models: Path, sizes: Sequence[int]) -> None:
    weights = find_weights(models)
    if weights is None:
        result.left_out.append("rows with vectors: their weights are not installed (`reverie models install`)")
    sentences = _sentences()
    stand_in = None if weights is None else _StandIn(weights, sentences)
    built = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-speed-") as place:
            path = Path(place) / "index.db"
            built.append(Row(f"reverie, {size:,} memories", _build(path, size, sentences), is_ours=True))
            ways = {"FTS5 alone": "fts5", "reverie, words": "words"}
            if stand_in is not None:
                _add_vectors(path, size, sentences, stand_in)
                ways["reverie, vectors"] = "vectors"
            rows = [
                Row(label, _ask_in_a_process(path, way, models), is_ours=way != "fts5") for label, way in ways.items()
            ]
            for row in rows:
                print(f"{size:,}", row.label, *map(str, row.figures.values()), sep="  ", flush=True)
        goals = ", ".join(f"{way} {by_size[size]} ms" for way, by_size in _GOALS.items() if size in by_size)
        about = (
            f"{_QUERIES} queries of six words in an open memory of {size:,}, each asked once."
            + (f" Goals for the 99th percentile: {goals}." if goals else "")
            + " Memory is that of the process, and what of it is no page of a file."
        )
        title = f"Queries, {size:,} memories"
        result.tables.append(Table(f"queries {size}", title, about, BOOTSTRAP, rows, picture="99th percentile"))
    about = "Indexing without vectors, and one changed memory. Goals at 10,000: 10 s and 20 ms."
    result.tables.append(Table("indexing", "Indexing", about, f"{RANGE} of eleven", built))


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


def _build(path: Path, size: int, sentences: Sequence[str]) -> dict[str, Figure]:
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
    return {
        "indexing": Figure(taken, unit="s"),
        "processor time": Figure(worked, unit="s"),
        "one changed": spread(changes, "ms"),
    }


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


def _ask_in_a_process(path: Path, way: str, models: Path) -> dict[str, Figure]:
    command = [sys.executable, "-m", __spec__.name if __spec__ else "bench.recall.speed"]
    command += ["--ask", str(path), "--by", way, "--models", str(models)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    asked = json.loads(said)
    return {
        "median": percentile(asked["wall"], 0.5, "ms"),
        "99th percentile": percentile(asked["wall"], 0.99, "ms"),
        "processor time, median": percentile(asked["cpu"], 0.5, "ms"),
        "memory": Figure(asked["resident"], unit="MB"),
        "its own": Figure(asked["own"], unit="MB"),
    }


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


def _asked(ask: Callable[[str], object], queries: Sequence[str]) -> dict[str, object]:
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
    return {"wall": wall, "cpu": cpu, "resident": resident, "own": own}


def _memory() -> tuple[float, float]:
    """What this process holds in memory, and what of it is its own; where that is not told, the peak twice."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return peak, peak
    said = dict(line.split(":", 1) for line in lines)
    return tuple(int(said[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))  # type: ignore[return-value]


def _measure_saves(count: int) -> Table:
    """One save after another in an open memory, beside git alone on as many files."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-speed-", ignore_cleanup_errors=True) as place:
        for size in (1_000, 10_000):
            chance = random.Random(size)
            directory, plain = Path(place) / f"memory{size}", Path(place) / f"plain{size}"
            seconds = write_memories(directory, (made_topic(number, chance) for number in range(size)))
            print(f"{size:,} memories saved at once: {seconds:.1f} s", flush=True)
            shutil.copytree(directory, plain, ignore=shutil.ignore_patterns(".git", ".reverie"))
            with Memory(directory, settings=Settings(home=str(directory.parent))) as memory:
                memory.keep(made_topic(size, chance))
                later = [made_topic(number, chance) for number in range(size + 1, size + 1 + count)]
                rows.append(_timed(f"reverie, {size:,} memories", count, partial(_keep_next, memory, later)))
            rows.append(_timed(f"git add and commit, {size:,} files", count, plain_git(plain, chance)))
            rows[-2].figures["all at once"] = Figure(seconds, unit="s")
    about = (
        f"{count} saves of about a kilobyte, one after another, with history and index. All at once: as many memories "
        "in one call. Goals: 80 ms at 1,000 and 250 ms at 10,000."
    )
    return Table("saves", "One save", about, RANGE, rows, picture="time")


def _keep_next(memory: Memory, topics: list[Topic]) -> None:
    memory.keep(topics.pop())


def _timed(label: str, count: int, act: Callable[[], object]) -> Row:
    wall, cpu = [], []
    for _ in range(count):
        started, worked = time.perf_counter(), time.process_time()
        act()
        wall.append((time.perf_counter() - started) * 1000)
        cpu.append((time.process_time() - worked) * 1000)
    figures = {"time": spread(wall, "ms")}
    if label.startswith("reverie"):
        figures["processor time, without git"] = spread(cpu, "ms")
    return Row(label, figures, is_ours=label.startswith("reverie"))


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.recall.speed", description=__doc__))
    parser.add_argument("--models", type=Path, default=default_models(), help="where the weights of vectors lie")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--by", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.ask:
        _ask(options.ask, options.by, options.models)
        return 0
    return report(measure_speed(options.models, quick=options.quick), options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
