"""`python -m bench.recall`: quality, abstention, latency and memory of recall beside the usual ways, in one table."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recall.data import SETS, Case, read_cases
from bench.recall.figures import figure, recall
from bench.recall.peers import available_peers
from bench.recall.speed import measure_speed
from bench.recall.systems import System, fts5, fused, grep, ours, vectors
from bench.recall.topics import topic_case
from reverie.memory.search.weights import find_weights

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

GOALS = {
    "reverie, words": (0.58, 0.87, 0.69, 0.89),
    "reverie, vectors": (0.65, 0.90, 0.75, 0.94),
}
"""recall@5 asked of us on observation, session, turn and longmemeval."""
_WITH_VECTORS = frozenset({"MiniLM alone", "RRF of both", "mem0"})
"""What our row without vectors is not compared with."""
_EVERYDAY = Path(__file__).with_name("everyday.txt")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one case in four, no large stores")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie" / "models", help="where the model lies")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-vectors.sqlite")
    parser.add_argument("--peers", type=Path, help="folder with one virtual environment per peer (see peers.py)")
    parser.add_argument("--no-speed", action="store_true", help="quality only")
    options = parser.parse_args(arguments)
    embedder = _embedder(options.models, options.cache)
    sets = {name: read_cases(name)[:: 4 if options.quick else 1] for name in SETS}
    systems = available_peers(options.peers, embedder) | _systems(embedder)
    report: dict[str, object] = {"quality": _quality(systems, sets), "abstention": _abstention(embedder, sets)}
    report["topics"] = _topics(embedder)
    if not options.no_speed:
        report["speed"] = measure_speed(options.models, quick=options.quick)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")
    return 0


def _embedder(models: Path, cache: Path) -> Embeds | None:
    folder = find_weights(models)
    if folder is None:
        print(f"no model in {models}: the rows with vectors are left out (`reverie models install`)", file=sys.stderr)
        return None
    from bench.recall.embedding import RememberingEmbedder

    return RememberingEmbedder(folder, cache)


def _systems(embedder: Embeds | None) -> dict[str, System]:
    systems: dict[str, System] = {"grep, term count": grep, "FTS5/BM25": fts5}
    if embedder is not None:
        systems["MiniLM alone"] = vectors(embedder)
        systems["RRF of both"] = fused(fts5, vectors(embedder))
    systems["reverie, words"] = ours()
    if embedder is not None:
        systems["reverie, vectors"] = ours(embedder)
    return systems


def _quality(systems: Mapping[str, System], sets: Mapping[str, list[Case]]) -> dict[str, dict[str, list[float]]]:
    print("\nrecall@5, mean [95 % interval]")
    print(f"{'':22}" + "".join(f"{name:>24}" for name in sets))
    found: dict[str, dict[str, list[float]]] = {}
    values: dict[str, dict[str, list[float]]] = {}
    for label, system in systems.items():
        values[label] = {}
        for name, cases in sets.items():
            started = time.perf_counter()
            values[label][name] = _recalls(system, cases)
            print(f"{label} on {name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        figures = {name: figure(each) for name, each in values[label].items()}
        print(f"{label:22}" + "".join(f"{each!s:>24}" for each in figures.values()), flush=True)
        if label in GOALS:
            print(f"{'  goal':22}" + "".join(f"{goal:>24.2f}" for goal in GOALS[label]))
        found[label] = {name: [each.mean, each.low, each.high] for name, each in figures.items()}
    for label in [each for each in GOALS if each in values]:
        others = [
            each for each in values if each not in GOALS and (label == "reverie, vectors" or each not in _WITH_VECTORS)
        ]
        print(f"\n{label}: by how much it is ahead, question by question, mean [95 % interval]")
        for other in others:
            leads = [
                figure([own - theirs for own, theirs in zip(values[label][name], values[other][name], strict=True)])
                for name in sets
            ]
            print(f"{other:22}" + "".join(f"{each!s:>24}" for each in leads), flush=True)
            found[f"{label}, ahead of {other}"] = {
                name: [each.mean, each.low, each.high] for name, each in zip(sets, leads, strict=True)
            }
    return found


def _recalls(system: System, cases: Sequence[Case]) -> list[float]:
    values = []
    for case in cases:
        folder = Path(tempfile.mkdtemp())
        try:
            rank = system(case.documents, folder)
            values += [recall(question, rank(question.text)) for question in case.questions]
        finally:
            shutil.rmtree(folder)
    return values


def _abstention(embedder: Embeds | None, sets: Mapping[str, list[Case]]) -> dict[str, dict[str, list[list[float]]]]:
    print("\nabstention: share of unrelated queries answered; recall@5 lost on real questions")
    print(f"{'':22}{'':14}{'foreign questions':>24}{'everyday requests':>24}{'recall lost':>24}")
    found: dict[str, dict[str, list[list[float]]]] = {}
    for label, used in (("words", None), ("vectors", embedder)):
        if label == "vectors" and embedder is None:
            continue
        found[label] = {}
        together: tuple[list[float], ...] = ([], [], [])
        for name, cases in sets.items():
            values = _abstain_on(used, cases)
            for every, own in zip(together, values, strict=True):
                every += own
            found[label][name] = _row(label, name, values)
        found[label]["all"] = _row(label, "all together", together)
    return found


def _row(label: str, name: str, values: Sequence[Sequence[float]]) -> list[list[float]]:
    figures = [figure(each or [0.0]) for each in values]
    print(f"{label:22}{name:14}" + "".join(f"{each!s:>24}" for each in figures), flush=True)
    return [[each.mean, each.low, each.high] for each in figures]


def _abstain_on(embedder: Embeds | None, cases: Sequence[Case]) -> tuple[list[float], list[float], list[float]]:
    everyday = _everyday()
    draw = random.Random(3)
    foreign: list[float] = []
    unrelated: list[float] = []
    lost: list[float] = []
    for number, case in enumerate(cases):
        folder = Path(tempfile.mkdtemp())
        freely = ours(embedder)(case.documents, folder)
        carefully = ours(embedder, abstains=True)(case.documents, folder)
        lost += [recall(each, freely(each.text)) - recall(each, carefully(each.text)) for each in case.questions]
        strangers = [each for other in cases if other is not case for each in other.questions]
        few = max(3, 480 // len(cases))
        asked = draw.sample(strangers, min(few, len(strangers)))
        foreign += [float(bool(carefully(each.text))) for each in asked]
        step = max(1, len(cases) // 4)
        unrelated += [float(bool(carefully(text))) for text in everyday[number % step :: step]]
        shutil.rmtree(folder)
    return foreign, unrelated, lost


def _topics(embedder: Embeds | None) -> dict[str, list[float]]:
    """What abstention does to paraphrases of topics about work, where no split has any."""
    case = topic_case()
    print("\ntwelve topics about work: paraphrases whose topic comes first, and is shown; everyday requests answered")
    found = {}
    for label, used in (("words", None), ("vectors", embedder)):
        if label == "vectors" and embedder is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            freely = ours(used)(case.documents, Path(folder))
            carefully = ours(used, abstains=True)(case.documents, Path(folder))
            first = [recall(each, freely(each.text), limit=1) for each in case.questions]
            hits = [carefully(each.text) for each in case.questions]
            shown = [recall(each, hit) for each, hit in zip(case.questions, hits, strict=True)]
            answered = [float(bool(carefully(text))) for text in _everyday()]
        figures = [figure(each) for each in (first, shown, answered)]
        print(f"{label:22}" + "".join(f"{each!s:>24}" for each in figures), flush=True)
        found[label] = [each.mean for each in figures]
    return found


def _everyday() -> list[str]:
    return _EVERYDAY.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
