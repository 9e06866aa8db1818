"""Latency, indexing time and memory on stores of up to 100,000 topics made from the data's own sentences."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recall.data import NOW, Case
from reverie.memory.search import Document, Query, SearchIndex

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

SIZES = (1_000, 10_000, 100_000)
_QUERIES = 300
_COLD = """
import sys
from datetime import datetime
from pathlib import Path
from reverie.memory.search import Query, SearchIndex
hits = SearchIndex(Path(sys.argv[1])).search(Query(sys.argv[2], datetime(2026, 1, 1)))
print(sorted(name for name in ("numpy", "yaml", "rich", "msgspec") if name in sys.modules))
"""


class _RandomVectors:
    """Stands for the model where only the time of searching counts."""

    def __init__(self, real: Embeds) -> None:
        self._real = real
        self.is_query = False

    def windows(self, text: str) -> tuple[str, ...]:
        return (text,)

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        import numpy as np

        if self.is_query:
            return self._real.embed(texts)
        found = np.random.default_rng(len(texts)).standard_normal((len(texts), 384)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def measure_speed(cases: Sequence[Case], embedder: Embeds | None, *, quick: bool) -> dict[str, dict[str, float]]:
    """Measure every size and print one row each."""
    sentences = sorted(
        {part.strip() for case in cases for each in case.documents for part in each.body.split(".") if len(part) > 20}
    )
    print("\nwarm query in ms, six words; times in s; peak memory of the process in MB")
    names = ("p50", "p99", "p50 vec", "p99 vec", "index", "one file", "cold", "MB")
    print(f"{'topics':>10}" + "".join(f"{name:>10}" for name in names))
    report = {}
    for size in SIZES[: 2 if quick else 3]:
        report[str(size)] = _measure(size, sentences, embedder)
    return report


def make_topics(count: int, sentences: Sequence[str]) -> Iterator[Document]:
    """Topics of three to twelve sentences, as files of memory are."""
    draw = random.Random(count)
    for number in range(count):
        body = ". ".join(draw.choices(sentences, k=draw.randint(3, 12)))
        name = " ".join(draw.choice(sentences).split()[:4])
        yield Document(
            key=f"topic-{number}.md",
            name=name,
            description=draw.choice(sentences),
            body=body,
            type=draw.choice(("user", "feedback", "project", "reference")),
            observed=date(2025, 1, 1) + timedelta(days=draw.randint(0, 360)),
        )


def _measure(size: int, sentences: Sequence[str], embedder: Embeds | None) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite"
        topics = list(make_topics(size, sentences))
        index = SearchIndex(path)
        started = time.perf_counter()
        for at in range(0, size, 10_000):
            index.update(topics[at : at + 10_000])
        indexed = time.perf_counter() - started
        queries = _queries(sentences)
        lexical = _latencies(index, queries)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        one = []
        for number in range(10):
            changed = replace(topics[number], body=topics[number].body + " changed")
            started = time.perf_counter()
            index.update([changed])
            one.append(time.perf_counter() - started)
        cold = _cold(path, queries[0])
        index.close()
        semantic = [0.0, 0.0]
        if embedder is not None:
            stand_in = _RandomVectors(embedder)
            index = SearchIndex(path, stand_in)
            for at in range(0, size, 10_000):
                index.add_vectors(topics[at : at + 10_000], stand_in)
            stand_in.is_query = True
            semantic = _latencies(index, queries)
            index.close()
    print(
        f"{size:>10,}{lexical[0]:>10.1f}{lexical[1]:>10.1f}{semantic[0]:>10.1f}{semantic[1]:>10.1f}{indexed:>10.1f}"
        f"{sorted(one)[5] * 1000:>8.1f}ms{cold:>10.0f}{memory:>10.0f}",
        flush=True,
    )
    names = ("p50_ms", "p99_ms", "p50_vector_ms", "p99_vector_ms", "index_seconds", "one_file_ms", "cold_ms", "peak_mb")
    return dict(zip(names, (*lexical, *semantic, indexed, sorted(one)[5] * 1000, cold, memory), strict=True))


def _queries(sentences: Sequence[str]) -> list[str]:
    draw = random.Random(11)
    return [" ".join(draw.sample(draw.choice(sentences).split() * 2, 6)) for _ in range(_QUERIES)]


def _latencies(index: SearchIndex, queries: Sequence[str]) -> list[float]:
    for text in queries[:20]:
        index.search(Query(text, NOW))
    taken = []
    for text in queries:
        best = float("inf")
        # The best of three: on a machine with other work one run measures the others.
        for _ in range(3):
            started = time.perf_counter()
            index.search(Query(text, NOW))
            best = min(best, time.perf_counter() - started)
        taken.append(best * 1000)
    taken.sort()
    return [taken[len(taken) // 2], taken[int(len(taken) * 0.99)]]


def _cold(path: Path, query: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", _COLD, str(path), query], check=True, capture_output=True, env=environment
        )
        best = min(best, time.perf_counter() - started)
    return best * 1000
