"""`python -m bench.recall.fit`: fit the weights of `rank.py` and the coefficients of `abstain.py`, and print them.

Ranking: a listwise softmax over each question's candidates; with vectors then the share of the evidence among the first
five, made smooth, with the softmax holding it in place (for words that lost as much as it gained). Abstention: a
logistic model of the best hit, with real questions against foreign ones and everyday requests. Both are checked by
leaving out every fourth case in turn.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.recall.data import NOW, SETS, Case, read_cases
from bench.recall.embedding import RememberingEmbedder
from reverie.memory.search.document import Query
from reverie.memory.search.engine import SearchIndex
from reverie.memory.search.features import Candidate, WeighedQuery
from reverie.memory.search.rank import (
    VECTOR_COEFFICIENTS,
    VECTOR_WEIGHTS,
    WORD_COEFFICIENTS,
    WORD_WEIGHTS,
    hit_features,
    parts_of,
    query_features,
)
from reverie.memory.search.weights import find_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_FOLDS = 4
_FOREIGN = 12
"""Strangers' questions of a case that has one question of its own; cases with many are asked ten times as many."""
_WORTH = {"observation": 2.0}
"""How much a set counts in the ranking with vectors, 1 unless named. An observation is one fact in one sentence, as
memories are; the other sets are conversations."""
_WIDTH = 48
"""How many candidates of a question take part in the smooth share; the others are far from the first five."""
_HOLD = 0.1
"""How much the softmax counts beside the smooth share."""
_ANSWERED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_SET_BY_HAND = {
    "words": ("known_names", "complete", "single", "titled", "personal"),
    "vectors": ("known_names", "complete", "single", "titled", "personal"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One query, its candidates and which of them answer."""

    set_name: str
    fold: int
    kind: str
    wanted: WeighedQuery
    candidates: tuple[Candidate, ...]
    pieces: tuple[tuple[int, ...], ...] = ()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.fit", description=__doc__)
    parser.add_argument("--only", choices=("words", "vectors"), help="fit one of the two")
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie" / "models")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-vectors.sqlite")
    options = parser.parse_args(arguments)
    folder = find_weights(options.models)
    if folder is None:
        print(f"no model in {options.models}; run `reverie models install` first", file=sys.stderr)
        return 2
    embedder = RememberingEmbedder(folder, options.cache)
    for label, used, weights, table in (
        ("words", None, WORD_WEIGHTS, WORD_COEFFICIENTS),
        ("vectors", embedder, VECTOR_WEIGHTS, VECTOR_COEFFICIENTS),
    ):
        if options.only not in (None, label):
            continue
        asked = [each for name in SETS for each in _ask_all(name, read_cases(name), used)]
        real = [each for each in asked if each.kind == "real"]
        fitted = fit_ranking(real, list(weights), is_smooth=used is not None)
        print(label, "ranking", fitted)
        by_hand = {name: table[name] for name in _SET_BY_HAND[label]}
        print(label, "abstention", fit_abstention(asked, fitted, list(table), by_hand))
    return 0


def _ask_all(name: str, cases: Sequence[Case], embedder: RememberingEmbedder | None) -> list[Asked]:
    draw = random.Random(1)
    everyday = Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines()
    found = []
    for number, case in enumerate(cases):
        with (
            tempfile.TemporaryDirectory() as folder,
            SearchIndex(Path(folder) / "index.sqlite", embedder) as index,
        ):
            index.update(case.documents)
            if embedder is not None:
                index.add_vectors(case.documents, embedder)
            strangers = [each.text for other in cases if other is not case for each in other.questions]
            few = _FOREIGN if len(case.questions) == 1 else 10 * _FOREIGN
            queries = [("real", each.text, each.pieces) for each in case.questions]
            queries += [("foreign", text, ()) for text in draw.sample(strangers, few)]
            queries += [
                ("everyday", text, ()) for text in draw.sample(everyday, 6 if few == _FOREIGN else len(everyday))
            ]
            for kind, text, pieces in queries:
                wanted, measured, _ = index.measure_candidates(Query(text, NOW))
                places = {each.row.key: at for at, each in enumerate(measured)}
                known = tuple(tuple(places[key] for key in piece if key in places) for piece in pieces)
                found.append(Asked(name, number % _FOLDS, kind, wanted, tuple(measured), known))
    return found


def fit_ranking(asked: Sequence[Asked], names: Sequence[str], *, is_smooth: bool) -> dict[str, float]:
    """Weights for the measures; prints recall@5 on left-out cases and when fitted on all."""
    tables = [
        np.array([[c.values.get(n, 0.0) for n in names] for c in each.candidates] or [[0.0] * len(names)])
        for each in asked
    ]
    scores: list[Array] = [np.zeros(0)] * len(asked)
    for fold in range(_FOLDS):
        kept = [at for at, each in enumerate(asked) if each.fold != fold]
        weights = _fit([tables[at] for at in kept], [asked[at] for at in kept], is_smooth=is_smooth)
        for at, each in enumerate(asked):
            if each.fold == fold:
                scores[at] = tables[at] @ weights
    print("recall@5 on left-out cases:", _recalls(asked, scores))
    weights = np.round(_fit(tables, asked, is_smooth=is_smooth), 2)
    print("recall@5 when fitted on all:", _recalls(asked, [table @ weights for table in tables]), flush=True)
    return dict(zip(names, weights.tolist(), strict=True))


def _recalls(asked: Sequence[Asked], scores: Sequence[Array]) -> dict[str, float]:
    shares: dict[str, list[float]] = {}
    for each, score in zip(asked, scores, strict=True):
        top = set(np.argsort(-score, kind="stable")[:5].tolist())
        share = sum(not top.isdisjoint(piece) for piece in each.pieces) / len(each.pieces)
        shares.setdefault(each.set_name, []).append(share)
    return {name: round(sum(values) / len(values), 4) for name, values in shares.items()}


def _fit(tables: Sequence[Array], asked: Sequence[Asked], *, is_smooth: bool) -> Array:
    spread: Array = np.concatenate(tables).std(axis=0) + 1e-6
    scaled = [table / spread for table in tables]
    likely = _Softmax(scaled, asked, _worth(asked, _WORTH if is_smooth else {}))
    weights = _descend([(1.0, likely)], np.zeros(len(spread)), steps=150, rate=0.08)
    if is_smooth:
        share = _SmoothShare(scaled, asked, weights, _worth(asked, _WORTH))
        weights = _descend([(1.0, share), (_HOLD, likely)], weights, steps=150, rate=0.03)
    fitted: Array = weights / spread
    return fitted


def _worth(asked: Sequence[Asked], of_sets: Mapping[str, float]) -> dict[str, float]:
    """How much one question of each set counts: a set as a whole counts the same, however many questions it has."""
    return {name: of_sets.get(name, 1.0) / count for name, count in Counter(each.set_name for each in asked).items()}


def _descend(
    goals: Sequence[tuple[float, Callable[[Array], Array]]], weights: Array, *, steps: int, rate: float
) -> Array:
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    weights = weights.copy()
    for step in range(1, steps + 1):
        slope = np.sum([share * goal(weights) for share, goal in goals], axis=0)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return weights


class _Softmax:
    """The slope of how unlikely the answers are among a question's candidates."""

    def __init__(self, tables: Sequence[Array], asked: Sequence[Asked], of_sets: Mapping[str, float]) -> None:
        rows, targets, sizes, worth = [], [], [], []
        for table, each in zip(tables, asked, strict=True):
            answers = sorted({place for piece in each.pieces for place in piece})
            if answers:
                target = np.zeros(len(table))
                target[answers] = 1 / len(answers)
                rows.append(table)
                targets.append(target)
                sizes.append(len(table))
                worth.append(of_sets[each.set_name])
        self._matrix = np.concatenate(rows)
        self._target = np.concatenate(targets)
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._share = np.array(worth)[self._owner]

    def __call__(self, weights: Array) -> Array:
        scores = self._matrix @ weights
        likely = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._owner])
        likely /= np.add.reduceat(likely, self._starts)[self._owner]
        slope: Array = ((likely - self._target) * self._share) @ self._matrix + 0.003 * weights
        return slope


class _SmoothShare:
    """The slope of the evidence missed: each piece's best unit against the fifth best of the other candidates."""

    def __init__(
        self, tables: Sequence[Array], asked: Sequence[Asked], weights: Array, of_sets: Mapping[str, float]
    ) -> None:
        blocks, inside, real, worth = [], [], [], []
        for table, each in zip(tables, asked, strict=True):
            answers = sorted({place for piece in each.pieces for place in piece})
            order = np.argsort(-(table @ weights), kind="stable").tolist()
            chosen = list(dict.fromkeys([*answers, *order]))[:_WIDTH]
            padding = _WIDTH - len(chosen)
            block = np.pad(table[chosen], ((0, padding), (0, 0)))
            for piece in filter(None, each.pieces):
                blocks.append(block)
                inside.append([place in piece for place in chosen] + [False] * padding)
                real.append([True] * len(chosen) + [False] * padding)
                worth.append(of_sets[each.set_name] / len(each.pieces))
        self._blocks, self._inside, self._worth = np.array(blocks), np.array(inside), np.array(worth)
        self._others = np.array(real) & ~self._inside

    def __call__(self, weights: Array) -> Array:
        scores = self._blocks @ weights
        each = np.arange(len(scores))
        own = np.where(self._inside, scores, -np.inf).argmax(axis=1)
        others = np.where(self._others, scores, -1e9)
        fifth = np.argpartition(-others, 4, axis=1)[:, 4]
        ahead = 1 / (1 + np.exp(-np.clip(scores[each, own] - others[each, fifth], -30, 30)))
        steep = self._worth * ahead * (1 - ahead)
        slope: Array = -(steep[:, None] * (self._blocks[each, own] - self._blocks[each, fifth])).sum(axis=0)
        return slope


def fit_abstention(
    asked: Sequence[Asked], weights: Mapping[str, float], names: Sequence[str], by_hand: Mapping[str, float]
) -> dict[str, float]:
    """Coefficients for the best hit, those set by hand in place; prints on left-out cases what saying nothing costs."""
    best = [_best_hit(each, weights) for each in asked]
    matrix = np.array([[1.0, *(features.get(name, 0.0) for name in names[1:])] for features, _ in best])
    likely = np.zeros(len(asked))
    folds = np.array([each.fold for each in asked])
    for fold in range(_FOLDS):
        kept = np.flatnonzero(folds != fold)
        found = _with_hand(names, _logistic_fit(matrix[kept], [asked[int(at)] for at in kept]), by_hand)
        likely[folds == fold] = matrix[folds == fold] @ np.array([found[name] for name in names])
    for set_name in SETS:
        _print_trade_off(set_name, asked, likely, [recall for _, recall in best])
    return _with_hand(names, _logistic_fit(matrix, asked), by_hand)


def _best_hit(each: Asked, weights: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """The features of the first hit, and recall@5 of the whole ranking."""
    scores = [sum(parts_of(candidate.values, weights).values()) for candidate in each.candidates]
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    if not order:
        return {}, 0.0
    of_query = query_features(each.wanted, each.candidates)
    others = [scores[at] for at in order[1:]]
    features = hit_features(each.wanted, each.candidates[order[0]], scores[order[0]], others, of_query)
    found = sum(not set(order[:5]).isdisjoint(piece) for piece in each.pieces)
    return features, found / max(1, len(each.pieces))


def _logistic_fit(matrix: Array, asked: Sequence[Asked]) -> Array:
    counts = Counter((each.set_name, each.kind) for each in asked)
    share = np.array([(2 if each.kind == "real" else 1) / counts[each.set_name, each.kind] for each in asked]) * 1000
    target = np.array([float(each.kind == "real") for each in asked])
    spread = np.r_[1, matrix[:, 1:].std(axis=0) + 1e-9]
    scaled = matrix / spread
    found = np.zeros(scaled.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-np.clip(scaled @ found, -60, 60)))
        slope = scaled.T @ (share * (likely - target)) + 0.001 * found
        bend = (scaled * (share * likely * (1 - likely))[:, None]).T @ scaled + 0.001 * np.eye(len(found))
        found -= np.linalg.solve(bend, slope)
    fitted: Array = found / spread
    return fitted


def _with_hand(names: Sequence[str], fitted: Array, by_hand: Mapping[str, float]) -> dict[str, float]:
    """What is set by hand takes part in the fit, so that nothing else stands in for it, and keeps its value."""
    found = dict(zip(names, np.round(fitted, 3).tolist(), strict=True))
    return {**found, **by_hand}


def _print_trade_off(set_name: str, asked: Sequence[Asked], likely: Array, recalls: Sequence[float]) -> None:
    """On left-out cases: recall@5 lost at several shares of strangers answered, and that share when 0.02 is lost."""
    foreign = np.sort([likely[at] for at, e in enumerate(asked) if e.set_name == set_name and e.kind == "foreign"])
    real = sorted(
        (likely[at], recalls[at]) for at, e in enumerate(asked) if e.set_name == set_name and e.kind == "real"
    )
    lost = np.cumsum([recall for _, recall in real]) / len(real)
    mild = real[min(int(np.searchsorted(lost, 0.02, side="right")), len(real) - 1)][0]
    curve = []
    for answered in _ANSWERED:
        strict = foreign[-1 - int(answered * len(foreign))]
        curve.append(f"{answered:.2f}: {sum(recall for score, recall in real if score <= strict) / len(real):.3f}")
    print(f"{set_name}, left-out cases, strangers answered: recall lost", ", ".join(curve), end="; ")
    print(f"{(foreign >= mild).mean():.3f} answered when 0.02 is lost", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
