"""`python -m bench.extraction.fit`: the weights by which extraction reads English sentences, from the exemplars.

A multinomial logistic regression over meaning and form. Besides the exemplars it learns from the parts of our own
messages that the rules were made with; `held out`, `unseen` and the real sessions stay out.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.extraction.labels import HERE, part_of
from reverie.memory.extraction import classify as reading
from reverie.memory.extraction.classify import SentenceKind, features
from reverie.memory.extraction.form import is_english
from reverie.memory.extraction.typed import find_typed_sentences
from reverie.memory.search.semantic import load_embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = Path(reading.__file__).parent / "reading.json"
ROUNDS = 400
DAMPING = 3.0
_STEP = 0.05
_FOLDS = 5


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.extraction.fit", description=__doc__)
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie/models", help="where the weights lie")
    parser.add_argument("--check", action="store_true", help="only say how it does on sentences it was not fitted to")
    options = parser.parse_args(arguments)
    embedder = load_embedder(options.models)
    if embedder is None:
        print(f"no vectors below {options.models}: `reverie models install` gets them", file=sys.stderr)
        return 1
    examples = list(all_examples())
    given = features([text for _, text in examples], embedder)
    kinds = _numbered(given, [kind for kind, _ in examples])
    if options.check:
        _print_check(given, kinds)
        return 0
    rows = [[round(float(value), 3) for value in row] for row in fit(given, kinds).T]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    TARGET.write_text(f'{{"fitted_to":{digest(examples)},"weights":[\n{lines}\n]}}\n', encoding="utf-8")
    print(f"fitted to {len(examples)} sentences: {TARGET}")
    return 0


def read_exemplars() -> tuple[tuple[SentenceKind, str], ...]:
    """Our own sentences, each with what it is."""
    found: list[tuple[SentenceKind, str]] = []
    kind = SentenceKind.task
    for line in (HERE / "exemplars.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = SentenceKind[line.strip("[]")]
        elif line and not line.startswith("#"):
            found.append((kind, line))
    return tuple(found)


def all_examples() -> Iterator[tuple[SentenceKind | None, str]]:
    """Everything that the weights are fitted to; no kind means that it is none of the lasting ones."""
    yield from read_exemplars()
    for line in (HERE / "written.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if part_of(row).startswith(("dev", "fresh")):
            yield from _sentences(row["text"], row["expect"])


def digest(examples: Sequence[tuple[SentenceKind | None, str]]) -> int:
    """A number that changes with the examples, so that weights which were not fitted again are noticed."""
    return zlib.crc32("\n".join(f"{kind and kind.name} {text}" for kind, text in examples).encode())


def fit(given: NDArray[np.float64], kinds: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weights, one column for each kind."""
    wanted = np.eye(len(SentenceKind))[kinds]
    weights = np.zeros((given.shape[1], len(SentenceKind)))
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for number in range(1, ROUNDS + 1):
        slope = (given.T @ (shares(given, weights) - wanted) + DAMPING * weights) / len(given)
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope**2
        step = _STEP * (1 - 0.9 * number / ROUNDS)
        weights -= step * (mean / (1 - 0.9**number)) / (np.sqrt(spread / (1 - 0.99**number)) + 1e-8)
    return weights


def shares(given: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How surely each row is of each kind."""
    scores = given @ weights
    found: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found


def _sentences(text: str, expect: Sequence[dict[str, str]]) -> Iterator[tuple[SentenceKind | None, str]]:
    """The English sentences of a message of ours; beside a labelled one the rest says nothing for sure."""
    spans = [(text.index(each["words"]), len(each["words"]), each["type"]) for each in expect]
    for one in find_typed_sentences(text):
        kind = next((kind for at, length, kind in spans if at < one.end and one.start < at + length), None)
        if kind and is_english(one.text):
            yield SentenceKind[kind], one.text
        elif not expect and is_english(one.text):
            yield None, one.text


def _numbered(given: NDArray[np.float64], kinds: Sequence[SentenceKind | None]) -> NDArray[np.int64]:
    """The number of each kind; where only `not lasting` is known, the kind that the others make most likely."""
    all_kinds = list(SentenceKind)
    known = np.array([kind is not None for kind in kinds])
    numbers = np.array([all_kinds.index(kind) if kind else 0 for kind in kinds])
    likely = shares(given[~known], fit(given[known], numbers[known]))
    likely[:, [kind.is_lasting for kind in SentenceKind]] = 0
    numbers[~known] = likely.argmax(axis=1)
    return numbers


def _print_check(given: NDArray[np.float64], kinds: NDArray[np.int64]) -> None:
    fold = np.arange(len(kinds)) * 7919 % _FOLDS
    worth = np.zeros(len(kinds))
    lasting = np.array([kind.is_lasting for kind in SentenceKind])
    for number in range(_FOLDS):
        held = fold == number
        worth[held] = shares(given[held], fit(given[~held], kinds[~held]))[:, lasting].sum(axis=1)
    is_lasting = lasting[kinds]
    for limit in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        taken = worth >= limit
        right = int((taken & is_lasting).sum())
        print(f"{limit:.2f}  precision {right / max(1, int(taken.sum())):.2f}  recall {right / is_lasting.sum():.2f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
