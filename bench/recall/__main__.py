"""`python -m bench.recall`: quality, abstention, latency and memory of recall beside the usual ways, in one table."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recall.data import SETS, Case, read_cases
from bench.recall.figures import Figure, figure, recall
from bench.recall.peers import available_peers
from bench.recall.speed import measure_speed
from bench.recall.systems import System, fts5, fused, grep, ours, vectors
from reverie.memory.search.weights import find_weights

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

GOALS = {
    "reverie, words": (0.58, 0.87, 0.69, 0.89),
    "reverie, vectors": (0.65, 0.90, 0.75, 0.94),
}
"""recall@5 asked of us on observation, session, turn and longmemeval."""
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
    systems = _systems(embedder) | available_peers(options.peers)
    report: dict[str, object] = {"quality": _quality(systems, sets), "abstention": _abstention(embedder, sets)}
    if not options.no_speed:
        report["speed"] = measure_speed(sets["longmemeval"], embedder, quick=options.quick)
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


def _quality(systems: dict[str, System], sets: dict[str, list[Case]]) -> dict[str, dict[str, list[float]]]:
    print("\nrecall@5, mean [95 % interval]")
    print(f"{'':22}" + "".join(f"{name:>24}" for name in sets))
    found: dict[str, dict[str, list[float]]] = {}
    for label, system in systems.items():
        figures = {name: figure(_recalls(system, cases)) for name, cases in sets.items()}
        print(f"{label:22}" + "".join(f"{each!s:>24}" for each in figures.values()), flush=True)
        if label in GOALS:
            print(f"{'  goal':22}" + "".join(f"{goal:>24.2f}" for goal in GOALS[label]))
        found[label] = {name: [each.mean, each.low, each.high] for name, each in figures.items()}
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


def _abstention(embedder: Embeds | None, sets: dict[str, list[Case]]) -> dict[str, dict[str, dict[str, float]]]:
    everyday = _EVERYDAY.read_text(encoding="utf-8").split("\n")[:-1]
    print("\nabstention: share of unrelated queries answered; points of recall@5 lost on real questions")
    print(f"{'':22}{'':14}{'foreign questions':>24}{'everyday requests':>24}{'recall lost':>24}")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for label, used in (("words", None), ("vectors", embedder)):
        if label == "vectors" and embedder is None:
            continue
        found[label] = {}
        for name, cases in sets.items():
            foreign, unrelated, lost = _abstain_on(used, cases, everyday)
            print(f"{label:22}{name:14}{foreign!s:>24}{unrelated!s:>24}{lost!s:>24}", flush=True)
            found[label][name] = {"foreign": foreign.mean, "everyday": unrelated.mean, "lost": lost.mean}
    return found


def _abstain_on(
    embedder: Embeds | None, cases: Sequence[Case], everyday: Sequence[str]
) -> tuple[Figure, Figure, Figure]:
    draw = random.Random(3)
    foreign: list[float] = []
    unrelated: list[float] = []
    lost: list[float] = []
    for number, case in enumerate(cases):
        folder = Path(tempfile.mkdtemp())
        freely = ours(embedder)(case.documents, folder)
        carefully = ours(embedder, abstains=True)(case.documents, folder)
        for question in case.questions:
            answered = carefully(question.text)
            lost.append(0.0 if answered else recall(question, freely(question.text)))
        strangers = [each for other in cases if other is not case for each in other.questions]
        few = max(3, 480 // len(cases))
        asked = draw.sample(strangers, min(few, len(strangers)))
        foreign += [float(bool(carefully(each.text))) for each in asked]
        step = max(1, len(cases) // 4)
        unrelated += [float(bool(carefully(text))) for text in everyday[number % step :: step]]
        shutil.rmtree(folder)
    return figure(foreign or [0.0]), figure(unrelated), figure(lost)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
