"""`python -m bench.recall`: recall in recorded conversations through the product, beside the usual ways.

LoCoMo and LongMemEval, each session or observation saved as a topic; recall@5 as shipped, saying nothing where nothing
seems to help, beside systems that always answer. Recall at work is `bench.recall.work`, times are `bench.recall.speed`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.figures import BOOTSTRAP, Result, Row, Table, add_options, default_models, default_peers, mean, report
from bench.recall.data import CHAT_SETS, Case, folder, read_chat_cases, recall
from bench.recall.peers import available_peers
from bench.recall.systems import System, fts5, fused, grep, vectors
from bench.recall.work import NOW, home
from reverie import Memory
from reverie.memory.search.weights import find_weights

_NAMES = {"observation": "LoCoMo observations", "session": "LoCoMo sessions", "longmemeval": "LongMemEval sessions"}


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__))
    parser.add_argument("--models", type=Path, default=default_models(), help="where the weights of vectors lie")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-vectors.sqlite")
    parser.add_argument("--peers", type=Path, default=default_peers(), help="environments of other libraries")
    parser.add_argument("--words", action="store_true", help="no vectors, whose computation takes minutes")
    options = parser.parse_args(arguments)
    return report(measure_conversations(options), options)


def measure_conversations(options: argparse.Namespace) -> Result:
    """All ways on all sets; a quick run takes one case in eight."""
    result = Result()
    if not folder().is_dir():
        result.left_out.append("everything: the recorded conversations are not here (`REVERIE_SHARED_DATA`)")
        return result
    sets = {name: read_chat_cases(name)[:: 8 if options.quick else 1] for name in CHAT_SETS}
    weights = None if options.words else find_weights(options.models)
    if weights is None:
        reason = "computing them takes minutes" if options.words else "their weights are not installed"
        result.left_out.append(f"rows with vectors: {reason}")
    systems: dict[str, System] = {"grep, term count": grep, "FTS5/BM25": fts5}
    embedder = None
    if weights is not None:
        from bench.recall.embedding import RememberingEmbedder

        embedder = RememberingEmbedder(weights, options.cache)
        systems |= {"MiniLM alone": vectors(embedder), "FTS5 and MiniLM fused": fused(fts5, vectors(embedder))}
    systems |= available_peers(options.peers, embedder, result.left_out)
    rows = []
    for label, system in systems.items():
        try:
            rows.append(_row(label, {name: _ask_system(system, cases) for name, cases in sets.items()}))
        except RuntimeError as problem:
            result.left_out.append(f"{label}: {problem}")
    for label, place in (("words", None), *((("vectors", options.models),) if weights else ())):
        with home(place):
            values = {name: ask_product(cases) for name, cases in sets.items()}
        rows.append(_row(f"reverie, {label}", values, is_ours=True))
    questions = {name: sum(len(case.questions) for case in cases) for name, cases in sets.items()}
    told = ", ".join(f"{count:,} of {_NAMES[name]}" for name, count in questions.items())
    about = f"Share of a question's evidence among the first five hits; questions: {told}."
    result.tables.append(
        Table("conversations", "recall@5", about, BOOTSTRAP, rows, picture=_NAMES["observation"]),
    )
    return result


def _row(label: str, values: Mapping[str, Sequence[float]], *, is_ours: bool = False) -> Row:
    row = Row(label, {_NAMES[name]: mean(list(enumerate(each))) for name, each in values.items()}, is_ours)
    print(label, *map(str, row.figures.values()), sep="  ", flush=True)
    return row


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
