"""Classifies the sentences of a message: how surely each is worth a memory, and of which type it would be.

A logistic model over signals (`signals.py`), pairs of them, words, pieces of words, and the signals of the sentences
around; it needs neither vectors nor numpy. `python -m bench.extraction.fit` has fitted the weights in `weights.json` to
examples. Deterministic: the same message is always read the same way.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

from reverie.memory.extraction.signals import find_language, find_signals
from reverie.memory.extraction.typed import Sentence
from reverie.memory.topics.topic import MemoryType
from reverie.patterns import lazy_regex
from reverie.values import value

BUCKETS = 1 << 18
PAIR = 0.3
WORDS = 0.3
PIECES = 0.15
AROUND = 0.5
"""What a feature of each kind counts beside a signal of the sentence itself."""
_ANSWERS = ("praise", "keepon", "q", "ask", "standing", "always")
"""Signals that mean something else in an answer to the agent."""
_WORD = lazy_regex(r"[^\W_]+(?:'[^\W_]+)*|[?!,:;]")
_DIGIT = lazy_regex(r"\d")
_UNSPACED = lazy_regex("[\u3040-\u30ff\u3400-\u9fff]")
_MANY = 4
_PIECE_CHARS = (3, 4, 5)


@value
class SentenceReading:
    """How one sentence reads."""

    worth: float
    """How surely it is something lasting, from 0 to 1."""
    type: MemoryType
    """What it would be then."""
    signals: frozenset[str] = frozenset()


@value
class LinearModel:
    """The weights of the features, each found by the hash of the feature's name."""

    bias: float
    step: float
    """What a weight of 1 stands for."""
    weights: array[int]

    def score(self, features: dict[int, float]) -> float:
        """The sum of the weights of these features, by bucket."""
        return self.bias + self.step * sum(self.weights[bucket] * size for bucket, size in features.items())

    @staticmethod
    def parse(fields: dict[str, Any]) -> LinearModel:
        """A model as `bench.extraction.fit` wrote it."""
        packed = zlib.decompress(base64.b85decode(fields["weights"]))
        return LinearModel(fields["bias"], fields["step"], array("b", packed))


@value
class Weights:
    """The models: what is worth a memory, in English and in the other languages, and which type it has."""

    worth: dict[str, LinearModel]
    types: tuple[LinearModel, ...]
    """In the order of `MemoryType`."""


def classify_sentences(spoken: Sequence[Sentence], *, is_answer: bool) -> tuple[SentenceReading, ...]:
    """How the sentences of a message read; `is_answer` when the agent had said something before."""
    weights = _weights()
    language = find_language(" ".join(each.plain for each in spoken))
    worth = weights.worth["en" if language == "en" else "other"]
    readings = []
    for features in message_features(spoken, is_answer=is_answer):
        hashed = hash_features(features)
        scores = [model.score(hashed) for model in weights.types]
        best = max(range(len(scores)), key=lambda number: scores[number])
        signals = frozenset(name for name in features if name.isalpha())
        sure = round(1 / (1 + math.exp(-worth.score(hashed))), 3)
        readings.append(SentenceReading(sure, tuple(MemoryType)[best], signals))
    return tuple(readings)


def hash_features(features: dict[str, float]) -> dict[int, float]:
    """The features by the bucket in which their weight stands; names that share one are added."""
    hashed: dict[int, float] = {}
    for name, size in features.items():
        bucket = zlib.crc32(name.encode()) % BUCKETS
        hashed[bucket] = hashed.get(bucket, 0.0) + size
    return hashed


def message_features(spoken: Sequence[Sentence], *, is_answer: bool) -> Iterator[dict[str, float]]:
    """The features of each sentence of a message; their names are what the weights are found by."""
    language = find_language(" ".join(each.plain for each in spoken))
    signals = [find_signals(each.plain, language) for each in spoken]
    for number, sentence in enumerate(spoken):
        own = signals[number]
        features = dict.fromkeys(own, 1.0)
        features |= {f"{one}&{other}": PAIR for one, other in combinations(sorted(own), 2)}
        rest = " ".join(each.plain for each in spoken if each is not sentence)
        features |= {f"<{name}": AROUND for name in (signals[number - 1] if number else ("none",))}
        features |= {f">{name}": AROUND for name in (signals[number + 1] if number + 1 < len(spoken) else ("none",))}
        features |= {f"~{name}": AROUND for name in (find_signals(rest, language) if rest else ())}
        features |= {"first": float(number == 0), "last": float(number == len(spoken) - 1)}
        features |= {f"{min(len(spoken), _MANY)} sentences": 1.0, f"in {language}": PAIR}
        if is_answer:
            features |= {"answer": 1.0} | {f"answer&{name}": 1.0 for name in _ANSWERS if name in own}
        features |= {f"w {gram}": WORDS for gram in _grams(sentence.plain)}
        features |= {f"c {piece}": PIECES for piece in _pieces(sentence.plain)}
        yield features


def _grams(text: str) -> Iterator[str]:
    """One to three words in a row; of Chinese and Japanese one to four characters."""
    lower = text.lower().replace("’", "'")
    units = list(lower) if _UNSPACED.search(lower) else ["<", *_WORD.findall(_DIGIT.sub("0", lower)), ">"]
    between, longest = ("", 4) if _UNSPACED.search(lower) else (" ", 3)
    for size in range(1, longest + 1):
        for start in range(len(units) - size + 1):
            yield between.join(units[start : start + size])


def _pieces(text: str) -> Iterator[str]:
    """Three to five letters in a row of each word, so that endings and misspelt words count too."""
    lower = text.lower().replace("’", "'")
    if _UNSPACED.search(lower):
        return
    for word in set(_DIGIT.sub("0", lower).split()):
        padded = f" {word} "
        for size in _PIECE_CHARS:
            yield from (padded[start : start + size] for start in range(len(padded) - size + 1))


@cache
def _weights() -> Weights:
    fields = json.loads((files(__package__) / "weights.json").read_text(encoding="utf-8"))
    worth = {group: LinearModel.parse(each) for group, each in fields["worth"].items()}
    return Weights(worth, tuple(map(LinearModel.parse, fields["types"])))
