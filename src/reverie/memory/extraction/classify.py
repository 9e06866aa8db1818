"""Classifies the sentences of a message: how surely each is worth a memory, and of which type it would be.

A logistic model over signals (`signals.py`), pairs of them, words, and the same of the sentences around; it needs
neither vectors nor numpy. `python -m bench.extraction.fit` has fitted the weights in `weights.json` to examples.
Deterministic: the same message is always read the same way.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import TypedDict

from reverie.memory.extraction.signals import find_language, find_signals
from reverie.memory.extraction.typed import Sentence
from reverie.memory.topics.topic import MemoryType
from reverie.patterns import lazy_regex
from reverie.values import value

PAIR = 0.3
WORDS = 0.3
AROUND = 0.5
"""What a feature of each kind counts beside a signal of the sentence itself."""
_ANSWERS = ("praise", "keepon", "q", "ask", "standing", "always")
"""Signals that mean something else in an answer to the agent."""
_WORD = lazy_regex(r"[^\W_]+(?:'[^\W_]+)*|[?!,:;]")
_DIGIT = lazy_regex(r"\d")
_UNSPACED = lazy_regex("[\u3040-\u30ff\u3400-\u9fff]")
_MANY = 4


@value
class SentenceReading:
    """How one sentence reads."""

    worth: float
    """How surely it is something lasting, from 0 to 1."""
    type: MemoryType
    """What it would be then."""
    signals: frozenset[str] = frozenset()


class _Weights(TypedDict):
    worth: dict[str, dict[str, float]]
    types: dict[str, list[float]]


def classify_sentences(spoken: Sequence[Sentence], *, is_answer: bool) -> tuple[SentenceReading, ...]:
    """How the sentences of a message read; `is_answer` when the agent had said something before."""
    weights = _weights()
    language = find_language(" ".join(each.plain for each in spoken))
    worth = weights["worth"]["en" if language == "en" else "other"]
    readings = []
    for features in message_features(spoken, is_answer=is_answer):
        score = worth["bias"] + sum(worth.get(name, 0.0) * size for name, size in features.items())
        kinds = [0.0] * len(MemoryType)
        for name, size in {"bias": 1.0, **features}.items():
            for number, weight in enumerate(weights["types"].get(name, ())):
                kinds[number] += weight * size
        best = max(range(len(kinds)), key=lambda number: kinds[number])
        signals = frozenset(name for name in features if name.isalpha())
        readings.append(SentenceReading(round(1 / (1 + math.exp(-score)), 3), tuple(MemoryType)[best], signals))
    return tuple(readings)


def message_features(spoken: Sequence[Sentence], *, is_answer: bool) -> Iterator[dict[str, float]]:
    """The features of each sentence of a message; their names are the keys of the weights."""
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
        yield features


def _grams(text: str) -> Iterator[str]:
    """One to three words in a row; of Chinese and Japanese one to four characters."""
    lower = text.lower().replace("’", "'")
    units = list(lower) if _UNSPACED.search(lower) else ["<", *_WORD.findall(_DIGIT.sub("0", lower)), ">"]
    between, longest = ("", 4) if _UNSPACED.search(lower) else (" ", 3)
    for size in range(1, longest + 1):
        for start in range(len(units) - size + 1):
            yield between.join(units[start : start + size])


@cache
def _weights() -> _Weights:
    weights: _Weights = json.loads((files(__package__) / "weights.json").read_text(encoding="utf-8"))
    return weights
