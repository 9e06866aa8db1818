"""Classifies a sentence by similarity to exemplars: something lasting, or a request, a quote, a remark.

Needs vectors of meaning, so it works for English, and where the `semantic` extra and its weights are installed; else
the rules decide alone. `python -m bench.extraction.fit` has fitted the weights in `reading.json`.
Deterministic: the same sentence is always read the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from reverie.memory.extraction.form import is_english, marks
from reverie.memory.topics.topic import MemoryType
from reverie.values import value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reverie.memory.search.vectors import Embeds

MEANING_SCALE = 5.0
"""What a vector of meaning counts beside a mark of form."""


class SentenceKind(StrEnum):
    """What a sentence reads like."""

    feedback = "feedback"
    user = "user"
    project = "project"
    reference = "reference"
    task = "a request for the task at hand"
    question = "a question"
    quote = "words of somebody else"
    passing = "a passing remark"
    maybe = "something that is not settled"
    code = "a fact that the code shows"
    talk = "small talk"
    person = "a judgement of a person"
    output = "printed or pasted text"

    @property
    def is_lasting(self) -> bool:
        """Whether such a sentence is worth a memory."""
        return self.name in MemoryType.__members__


@value
class SentenceReading:
    """How one sentence reads."""

    worth: float
    """How surely it is something lasting, from 0 to 1."""
    type: MemoryType
    """What it would be then."""
    otherwise: SentenceKind
    """What it would be else."""


class Reader:
    """Reads sentences by their meaning and their form; where there are no vectors it reads nothing.

    `embedder` is asked when the first sentence is read: loading the weights takes a moment.
    """

    def __init__(self, embedder: Callable[[], Embeds | None]) -> None:
        self._embedder = embedder
        self._known: dict[str, SentenceReading] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def read(self, sentences: Sequence[str]) -> dict[str, SentenceReading]:
        """Sentence → how it reads; one that is not English is left out."""
        flat = {sentence: " ".join(sentence.split()) for sentence in sentences}
        new = [text for text in dict.fromkeys(flat.values()) if text not in self._known and is_english(text)]
        embedder = self._embedder() if new else None
        if embedder is not None:
            for text, shares in zip(new, _shares(features(new, embedder)), strict=True):
                self._known[text] = _reading(shares)
        return {sentence: self._known[text] for sentence, text in flat.items() if text in self._known}

    def likest(self, text: str, others: Sequence[str]) -> tuple[int, float]:
        """Which of the others is nearest in meaning, and how near, from -1 to 1; only English is compared."""
        english = [each for each in (text, *others) if is_english(each)]
        embedder = self._embedder() if len(english) > 1 and english[0] == text else None
        if embedder is None:
            return -1, -1.0
        new = [each for each in dict.fromkeys(english) if each not in self._vectors]
        if new:
            self._vectors |= dict(zip(new, embedder.embed(new), strict=True))
        near = {
            number: float(self._vectors[text] @ self._vectors[each])
            for number, each in enumerate(others)
            if each in self._vectors
        }
        best = max(near, key=lambda number: near[number])
        return best, near[best]


def features(sentences: Sequence[str], embedder: Embeds) -> NDArray[np.float64]:
    """What the weights are for: meaning, form and a constant."""
    import numpy as np

    form = np.array([[*marks(text), 1.0] for text in sentences], dtype=np.float64)
    return np.hstack([embedder.embed(sentences).astype(np.float64) * MEANING_SCALE, form])


@cache
def _weights() -> NDArray[np.float64]:
    import numpy as np

    return np.array(json.loads((files(__package__) / "reading.json").read_text(encoding="utf-8"))["weights"])


def _shares(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    scores = inputs @ _weights().T
    shares: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _reading(shares: NDArray[np.float64]) -> SentenceReading:
    by_kind = dict(zip(SentenceKind, shares.tolist(), strict=True))
    # Rounded: the last digits of a sum depend on how many sentences were read at once.
    worth = round(sum(share for kind, share in by_kind.items() if kind.is_lasting), 3)
    best = max((kind for kind in SentenceKind if kind.is_lasting), key=lambda kind: by_kind[kind])
    other = max((kind for kind in SentenceKind if not kind.is_lasting), key=lambda kind: by_kind[kind])
    return SentenceReading(worth, MemoryType[best.name], other)
