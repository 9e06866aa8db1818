"""`python -m bench.extraction.fit`: the weights by which extraction classifies sentences, from the examples.

Logistic regressions over the features of `classify.py`: whether a sentence is worth a memory, one for English and one
for the other languages, and which type it has. It learns from `examples/` without the held-out files, from the
exemplars and from the parts of our own messages that may be tuned on. `--check` leaves out one author at a time and
prints what `extract` stores of their messages, threshold by threshold.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from bench.extraction.__main__ import measure
from bench.extraction.labels import HELD_OUT, HERE, Labelled, part_of, read_written
from reverie.memory.extraction import classify, find
from reverie.memory.extraction.classify import BUCKETS, LinearModel, Weights, hash_features, message_features
from reverie.memory.extraction.typed import Sentence, find_typed_sentences
from reverie.memory.topics.topic import MemoryType

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = Path(classify.__file__).parent / "weights.json"
EXAMPLES = tuple(file for file in sorted((HERE / "examples").glob("*.jsonl")) if not file.name.startswith(HELD_OUT))
THRESHOLDS = (0.6, 0.7, 0.8, 0.85, 0.9)
DAMPING = 1.0
TYPE_DAMPING = 1.0
MIN_COUNT = 3
"""A feature of fewer sentences says nothing."""
_LASTING = frozenset(MemoryType.__members__)
_ROUNDS = 100
_MEMORY = 10
_LARGEST = 127


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence with its features and what it is."""

    file: str
    message: str
    features: dict[str, float]
    type: str
    """Empty for what is not to be kept."""
    is_left_out: bool = False
    """The reason of something kept: nothing to learn from, either way."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.extraction.fit", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only print how it does on files it was not fitted to")
    options = parser.parse_args(arguments)
    examples = list(read_examples())
    if options.check:
        _print_check(examples)
        return 0
    weights = {
        "fitted_to": digest(),
        "worth": {group: _fit_worth(examples, group) for group in ("en", "other")},
        "types": _fit_types(examples),
    }
    TARGET.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")
    print(f"fitted to {len(examples)} sentences: {TARGET} ({TARGET.stat().st_size // 1024} KiB)")
    return 0


def digest() -> int:
    """A number that changes with the examples and signals, so that weights which were not fitted again are noticed."""
    sources = (*EXAMPLES, HERE / "exemplars.txt", HERE / "written.jsonl", TARGET.parent / "signals.txt")
    return zlib.crc32(b"".join(file.read_bytes() for file in sources))


def read_exemplars() -> tuple[tuple[str, str], ...]:
    """Single sentences of ours, each with the kind of thing it is."""
    exemplars: list[tuple[str, str]] = []
    kind = ""
    for line in (HERE / "exemplars.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif line and not line.startswith("#"):
            exemplars.append((kind, line))
    return tuple(exemplars)


def read_examples() -> Iterator[Example]:
    """Everything that the weights are fitted to."""
    for file in EXAMPLES:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            labels = [(row["text"].index(each["sentence"]), each["sentence"], each["type"]) for each in row["keep"]]
            reasons = [each["reason"] for each in row["keep"] if each["reason"]]
            yield from _examples(file.stem, row["id"], row["text"], labels, reasons, is_answer=bool(row["before"]))
    for number, (kind, text) in enumerate(read_exemplars()):
        labels = [(0, text, kind)] if kind in _LASTING else []
        yield from _examples("exemplars", f"exemplar {number}", text, labels)
    for line in (HERE / "written.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if part_of(row).startswith(("dev", "fresh", "tempting")):
            labels = [(row["text"].index(each["words"]), each["words"], each["type"]) for each in row["expect"]]
            # Only one passage is labelled; what stands beside it says nothing for sure.
            yield from _examples("written", row["id"], row["text"], labels, is_partial=bool(labels))


def _examples(
    file: str,
    message: str,
    text: str,
    labels: Sequence[tuple[int, str, str]],
    reasons: Sequence[str] = (),
    *,
    is_answer: bool = False,
    is_partial: bool = False,
) -> Iterator[Example]:
    spoken = find_typed_sentences(text)
    for sentence, features in zip(spoken, message_features(spoken, is_answer=is_answer), strict=True):
        shared = {kind: _overlap(sentence, start, len(words)) for start, words, kind in labels}
        kind = max(shared, key=lambda each: shared[each], default="")
        kind = kind if kind and shared[kind] > 0 else ""
        bare = sentence.text.strip(" .!。")
        is_reason = any(bare in each or each.strip(" .!。") in sentence.text for each in reasons)
        yield Example(file, message, features, kind, is_left_out=not kind and (is_partial or is_reason))


def _overlap(sentence: Sentence, start: int, length: int) -> int:
    return min(sentence.end, start + length) - max(sentence.start, start)


def _fit_worth(examples: Sequence[Example], group: str) -> dict[str, Any]:
    """The weights of one group of languages; the exemplars are English and would distort the others."""
    chosen = [
        each
        for each in examples
        if not each.is_left_out and (group == "en" or each.file not in {"exemplars", "written"})
    ]
    matrix = Matrix([each.features for each in chosen])
    wanted = np.array([bool(each.type) for each in chosen], dtype=np.float64)
    return pack(matrix.in_buckets(fit(matrix, wanted, DAMPING)))


def _fit_types(examples: Sequence[Example]) -> list[dict[str, Any]]:
    """The weights of each type against the others; the surroundings say nothing about it."""
    chosen = [each for each in examples if each.type]
    own = [
        {name: size for name, size in each.features.items() if name[0] not in "<>~" and "&" not in name}
        for each in chosen
    ]
    matrix = Matrix(own)
    kinds = [np.array([each.type == kind for each in chosen], dtype=np.float64) for kind in MemoryType]
    return [pack(matrix.in_buckets(fit(matrix, wanted, TYPE_DAMPING))) for wanted in kinds]


def pack(weights: NDArray[np.float64]) -> dict[str, Any]:
    """Weights as `LinearModel.parse` reads them: whole numbers of a step, compressed."""
    step = float(np.abs(weights[:-1]).max()) / _LARGEST
    packed = np.rint(weights[:-1] / step).astype(np.int8).tobytes()
    text = base64.b85encode(zlib.compress(packed, 9)).decode()
    return {"bias": round(float(weights[-1]), 4), "step": step, "weights": text}


class Matrix:
    """Rows of features by bucket, as a sparse matrix with a bias in the last column."""

    def __init__(self, rows: Sequence[dict[str, float]]) -> None:
        counts = Counter(name for row in rows for name in row)
        common = [{name: size for name, size in row.items() if counts[name] >= MIN_COUNT} for row in rows]
        cells = [
            (number, bucket, size) for number, row in enumerate(common) for bucket, size in hash_features(row).items()
        ]
        rows_of_cells = np.array([cell[0] for cell in cells], dtype=np.int64)
        self._buckets, self._columns = np.unique([cell[1] for cell in cells], return_inverse=True)
        self._sizes = np.array([cell[2] for cell in cells], dtype=np.float64)
        self._counts = np.bincount(rows_of_cells, minlength=len(rows))
        self._starts = np.concatenate(([0], np.cumsum(self._counts)[:-1]))
        self.width = len(self._buckets) + 1

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.add.reduceat(self._sizes * weights[self._columns], self._starts)
        return np.asarray(sums + weights[-1], dtype=np.float64)

    def transposed_times(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = self._sizes * np.repeat(values, self._counts)
        sums = np.bincount(self._columns, cells, self.width).astype(np.float64)
        sums[-1] = values.sum()
        return sums

    def in_buckets(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights in the order of the buckets, the bias last."""
        spread = np.zeros(BUCKETS + 1)
        spread[self._buckets] = weights[:-1]
        spread[-1] = weights[-1]
        return spread


def fit(matrix: Matrix, wanted: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """The weights of a logistic regression, by L-BFGS."""

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = matrix.times(weights)
        damped = np.append(weights[:-1], 0.0)
        value = np.logaddexp(0, scores).sum() - wanted @ scores + damping / 2 * damped @ damped
        return float(value), matrix.transposed_times(1 / (1 + np.exp(-scores)) - wanted) + damping * damped

    weights = np.zeros(matrix.width)
    value, slope = loss(weights)
    steps: list[tuple[NDArray[np.float64], NDArray[np.float64], float]] = []
    for _ in range(_ROUNDS):
        direction = -_curved(slope, steps)
        size = 1.0 if steps else 1.0 / max(1.0, float(np.abs(slope).sum()))
        while True:
            moved = weights + size * direction
            next_value, next_slope = loss(moved)
            if next_value <= value + 1e-4 * size * float(slope @ direction) or size < 1e-9:
                break
            size /= 2
        change, turn = moved - weights, next_slope - slope
        if (product := float(change @ turn)) > 1e-12:
            steps = [*steps[-_MEMORY + 1 :], (change, turn, product)]
        is_flat = value - next_value < 1e-2
        weights, value, slope = moved, next_value, next_slope
        if is_flat:
            break
    return weights


def _curved(
    slope: NDArray[np.float64], steps: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], float]]
) -> NDArray[np.float64]:
    direction = slope.copy()
    shares = []
    for change, turn, product in reversed(steps):
        shares.append(float(change @ direction) / product)
        direction -= shares[-1] * turn
    if steps:
        _, turn, product = steps[-1]
        direction *= product / float(turn @ turn)
    for (change, turn, product), share in zip(steps, reversed(shares), strict=True):
        direction += (share - float(turn @ direction) / product) * change
    return direction


def author_of(file: Path) -> str:
    """Who wrote a file: `-2` and `-3` are one person each in all languages, `eval-` another; else one a file."""
    return (
        "eval"
        if file.stem.startswith("eval-")
        else {"2": "second", "3": "third"}.get(file.stem.rpartition("-")[2], file.stem)
    )


def _print_check(examples: Sequence[Example]) -> None:
    """What `extract` stores of each author's messages by weights that were fitted without them."""
    types = tuple(map(LinearModel.parse, _fit_types(examples)))
    for group in ("en", "other"):
        files = [file for file in EXAMPLES if ("en" in file.stem.split("-")) == (group == "en")]
        fitted: dict[str, LinearModel] = {}
        for author in dict.fromkeys(map(author_of, files)):
            theirs = {file.stem for file in EXAMPLES if author_of(file) == author}
            fields = _fit_worth([each for each in examples if each.file not in theirs], group)
            fitted[author] = LinearModel.parse(fields)
        print(f"{group}: {', '.join(fitted)}, each by weights that were fitted without this author")
        for threshold in THRESHOLDS:
            labelled: dict[str, list[Labelled]] = {}
            for file in files:
                worth = fitted[author_of(file)]
                weights = Weights({"en": worth, "other": worth}, types)
                with (
                    patch.object(classify, "_weights", lambda weights=weights: weights),
                    patch.object(find, "SURE", {"other": threshold}),
                ):
                    labelled[file.stem] = list(read_written(file))
            print(f"let in from {threshold:.2f} on")
            for stem, rows in labelled.items():
                print(stem, *map(str, measure(rows).values()), sep="  ")
            every = [each for rows in labelled.values() for each in rows]
            print("all", *map(str, measure(every).values()), sep="  ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
