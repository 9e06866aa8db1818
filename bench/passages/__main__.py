"""`python -m bench.passages`: indexing and searching 200 MB of transcripts, each in a process of its own.

CPU seconds are those of the process; latencies are of queries on a current index, text read and secrets taken out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

from bench.passages.corpus import queries, write_corpus

NOW = datetime(2026, 11, 15, tzinfo=UTC)
_MB = 1_000_000
_GREPPED = 8
"""How many queries grep gets, each for its longest word: it reads everything every time."""
_SHOWN = 10


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.passages", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="use this folder for the transcripts, and leave it")
    parser.add_argument("--step", choices=sorted(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        print(json.dumps(_measured(lambda: STEPS[options.step](options.keep, options.index, options.queries))))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch) / "transcripts"
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.glob("*.jsonl")):
            write_corpus(folder, options.megabytes * _MB)
        _report(folder, Path(scratch), options.queries)
    return 0


def _report(folder: Path, scratch: Path, count: int) -> None:
    size = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
    print(f"{size / _MB:.0f} MB in {len(list(folder.glob('*.jsonl')))} transcripts\n")
    print(f"{'indexing':28} {'CPU s':>8} {'MB/s':>8} {'wall s':>8} {'index MB':>9} {'peak MB':>8}")
    for label, step, index in (
        ("reverie", "index", scratch / "ours.db"),
        ("FTS5 straight", "index_fts5", scratch / "fts5.db"),
    ):
        found = _run(step, folder, index, count)
        large = sum(path.stat().st_size for path in scratch.glob(f"{index.name}*")) / _MB
        rate = size / _MB / found["cpu"]
        print(f"{label:28} {found['cpu']:8.1f} {rate:8.1f} {found['wall']:8.1f} {large:9.1f} {found['peak']:8.0f}")
    print(
        f"\n{'warm query, ms':28} {'p50':>8} {'p99':>8} {'CPU p50':>8} {'CPU p99':>8} {'all words':>9} {'peak MB':>8}"
    )
    for label, step, index in (
        ("reverie", "search", scratch / "ours.db"),
        ("FTS5 straight", "search_fts5", scratch / "fts5.db"),
        ("ripgrep", "rg", scratch),
        ("grep -rn", "grep", scratch),
    ):
        if label == "ripgrep" and shutil.which("rg") is None:
            continue
        _show_latency(label, _run(step, folder, index, count))
    print(f"\n{'one appended record, ms':28} {_run('append', folder, scratch / 'ours.db', count)['p50']:8.1f}")


def _show_latency(label: str, found: dict[str, float]) -> None:
    times = " ".join(f"{found[name]:8.1f}" for name in ("p50", "p99", "cpu_p50", "cpu_p99"))
    print(f"{label:28} {times} {found['whole']:9.0%} {found['peak']:8.0f}")


def _run(step: str, folder: Path, index: Path, count: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.passages", "--step", step, "--keep", str(folder)]
    command += ["--index", str(index), "--queries", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _measured(step: Callable[[], dict[str, float]]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = step()
    found |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    unit = _MB if sys.platform == "darwin" else 1_000
    return found | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}


def _latencies(ask: Callable[[str], Sequence[str]], asked: Sequence[str]) -> dict[str, float]:
    """Times of all queries, and for how many of them one of the hits has all their words."""
    took, used, whole = [], [], 0
    for query in asked:
        started, began = time.perf_counter(), _cpu_seconds()
        hits = ask(query)
        used.append(1000 * (_cpu_seconds() - began))
        took.append(1000 * (time.perf_counter() - started))
        words = query.lower().split()
        whole += any(all(word in hit for word in words) for hit in map(str.lower, hits))
    wall, cpu = (quantiles(times, n=100, method="inclusive") for times in (took, used))
    figures = {"p50": wall[49], "p99": wall[98], "cpu_p50": cpu[49], "cpu_p99": cpu[98]}
    return figures | {"whole": whole / len(asked)}


def _cpu_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _index(folder: Path, index: Path, _count: int) -> dict[str, float]:
    from reverie.memory.search.passages import PastSearch
    from reverie.memory.search.passages.update import SearchedTranscript

    past = PastSearch(index, lambda: [SearchedTranscript(path, path.stem) for path in folder.glob("*.jsonl")])
    past.sweep()
    past.close()
    return {}


def _search(folder: Path, index: Path, count: int) -> dict[str, float]:
    from reverie.memory.search.passages import PastQuery, PastSearch
    from reverie.memory.search.passages.update import SearchedTranscript

    past = PastSearch(index, lambda: [SearchedTranscript(path, path.stem) for path in folder.glob("*.jsonl")])
    past.search(PastQuery("warm up the cache"), now=NOW)
    return _latencies(lambda query: [hit.text for hit in past.search(PastQuery(query), now=NOW).hits], queries(count))


def _append(folder: Path, index: Path, _count: int) -> dict[str, float]:
    from reverie.memory.search.passages import PastSearch
    from reverie.memory.search.passages.update import SearchedTranscript

    paths = sorted(folder.glob("*.jsonl"))
    past = PastSearch(index, lambda: [SearchedTranscript(path, path.stem) for path in paths])
    past.sweep()
    before = paths[0].read_bytes()
    line = before[: before.index(b"\n") + 1]
    took = []
    for _ in range(20):
        with paths[0].open("ab") as file:
            file.write(line)
        started = time.perf_counter()
        past.sweep()
        took.append(1000 * (time.perf_counter() - started))
    paths[0].write_bytes(before)
    return {"p50": sorted(took)[10]}


def _index_fts5(folder: Path, index: Path, _count: int) -> dict[str, float]:
    connection = sqlite3.connect(index, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE VIRTUAL TABLE lines USING fts5(text, tokenize='porter unicode61')")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO lines(text) VALUES (?)", ((line,) for line in _all_lines(folder)))
    connection.execute("COMMIT")
    connection.close()
    return {}


def _search_fts5(_folder: Path, index: Path, count: int) -> dict[str, float]:
    connection = sqlite3.connect(index)

    def ask(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in query.split())
        sql = "SELECT text FROM lines(?) ORDER BY bm25(lines) LIMIT 10"
        return [text for (text,) in connection.execute(sql, (words,))]

    ask("warm up the cache")
    return _latencies(ask, queries(count))


def _all_lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.jsonl")):
        yield from path.read_text(encoding="utf-8").split("\n")


def _command(*command: str) -> Callable[[Path, Path, int], dict[str, float]]:
    def step(folder: Path, _index: Path, _count: int) -> dict[str, float]:
        def ask(query: str) -> list[str]:
            word = max(query.split(), key=len)
            done = subprocess.run([*command, word, str(folder)], capture_output=True, check=False)
            return done.stdout.decode("utf-8", "replace").split("\n")[:_SHOWN]

        return _latencies(ask, queries(_GREPPED))

    return step


STEPS: dict[str, Callable[[Path, Path, int], dict[str, float]]] = {
    "index": _index,
    "search": _search,
    "append": _append,
    "index_fts5": _index_fts5,
    "search_fts5": _search_fts5,
    "grep": _command("grep", "-rn"),
    "rg": _command("rg", "-n"),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
