"""`python -m bench.recall`: recall through the product, on work and on conversations, beside the usual ways; times.

Work: developers' memories and requests (`work.py`). Conversations: LoCoMo and LongMemEval, each session or observation
saved as a topic; recall@5 as shipped, saying nothing where nothing seems to help, beside systems that always answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.recall.data import CHAT_SETS, Case, read_chat_cases
from bench.recall.figures import figure, recall
from bench.recall.peers import available_peers
from bench.recall.speed import measure_speed
from bench.recall.systems import System, fts5, fused, grep, vectors
from bench.recall.work import NOW, home, measure_work
from reverie import Memory
from reverie.memory.search.weights import find_weights


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one case in four, no large stores")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie" / "models", help="where the model lies")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-vectors.sqlite")
    parser.add_argument("--peers", type=Path, help="folder with one virtual environment per peer (see peers.py)")
    parser.add_argument("--only", choices=("work", "conversations", "speed"), help="one part")
    options = parser.parse_args(arguments)
    models = options.models if find_weights(options.models) else None
    if models is None:
        print(f"no model in {options.models}: no rows with vectors (`reverie models install`)", file=sys.stderr)
    report: dict[str, object] = {}
    if options.only in (None, "work"):
        report["work"] = measure_work(models, quick=options.quick)
    if options.only in (None, "conversations"):
        report["conversations"] = _measure_conversations(options, models)
    if options.only in (None, "speed"):
        report["speed"] = measure_speed(options.models, quick=options.quick)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")
    return 0


def _measure_conversations(options: argparse.Namespace, models: Path | None) -> dict[str, dict[str, list[float]]]:
    sets = {name: read_chat_cases(name)[:: 4 if options.quick else 1] for name in CHAT_SETS}
    systems: dict[str, System] = {"grep, term count": grep, "FTS5/BM25": fts5}
    embedder = None
    if models is not None:
        from bench.recall.embedding import RememberingEmbedder

        folder = find_weights(models)
        assert folder is not None
        embedder = RememberingEmbedder(folder, options.cache)
        systems |= {"MiniLM alone": vectors(embedder), "RRF of both": fused(fts5, vectors(embedder))}
    systems |= available_peers(options.peers, embedder)
    print("\nconversations as topics: recall@5, mean [95 % interval]")
    print(f"{'':22}" + "".join(f"{name:>24}" for name in sets))
    report: dict[str, dict[str, list[float]]] = {}
    for label, system in systems.items():
        values = {name: _ask_system(system, cases) for name, cases in sets.items()}
        report[label] = _print_row(label, values)
    for label, place in (("words", None), *((("vectors", models),) if models else ())):
        with home(place):
            values = {name: ask_product(cases) for name, cases in sets.items()}
        report[f"reverie, {label}"] = _print_row(f"reverie, {label}", values)
    return report


def _print_row(label: str, values: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    figures = {name: figure(each) for name, each in values.items()}
    print(f"{label:22}" + "".join(f"{each!s:>24}" for each in figures.values()), flush=True)
    return {name: [each.mean, each.low, each.high] for name, each in figures.items()}


def _ask_system(system: System, cases: Sequence[Case]) -> list[float]:
    values = []
    for case in cases:
        rank = system({key: topic.body for key, topic in case.topics.items()})
        values += [recall(question, rank(question.text)) for question in case.questions]
    return values


def ask_product(cases: Sequence[Case]) -> list[float]:
    """The share of each question's evidence that recall shows, every case a memory directory of its own."""
    values = []
    started = time.perf_counter()
    for case in cases:
        with tempfile.TemporaryDirectory() as directory, Memory(Path(directory) / "memory", now=lambda: NOW) as memory:
            memory.save_many(case.topics.values())
            memory.index.embed_all()
            keys = {topic.path: key for key, topic in case.topics.items()}
            for question in case.questions:
                hits = [keys[hit.topic.path] for hit in memory.recall(question.text)]
                values.append(recall(question, hits))
    print(f"{len(values)} questions: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return values


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
