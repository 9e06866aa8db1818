"""Counts tokens with a tokenizer other than the product's own estimator.

Text is counted by `toktok` where it is installed and by a rough pattern elsewhere, then stretched by the model's
generation and by a random skew that is drawn once per run, so that no estimate can be tuned to the simulator.
Remembering counts is `prompt`'s part.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from math import ceil
from typing import TypeAlias

TextCount: TypeAlias = Callable[[str], int]

SKEW_RANGE = (0.9, 1.15)
_OLD_TOKENIZER = 1.1
"""Tokens of the provider's older models per token of the counting vocabulary, from recorded prose."""
_ROUGH_TOKEN = re.compile(r"\w{1,5}|[^\w\s]{1,2}|\s+(?=\s)|\n", re.UNICODE)


class TokenCounter:
    """Counts text for one run."""

    seed: int
    skew: float
    """By how much this run's tokens are smaller or larger than usual."""

    def __init__(self, seed: int, *, count_text: TextCount | None = None, skew: float | None = None) -> None:
        self.seed = seed
        self.skew = random.Random(seed).uniform(*SKEW_RANGE) if skew is None else skew
        self._count = count_text or best_text_count()

    def text(self, text: str, factor: float = 1.0) -> int:
        """Tokens of a text for a model with the given factor."""
        return self.stretch(self._count(text), factor) if text else 0

    def stretch(self, tokens: int, factor: float) -> int:
        """What a plain count is in this run."""
        return ceil(tokens * _OLD_TOKENIZER * factor * self.skew)

    def warm(self) -> None:
        """Build the tokenizer's tables now, which takes up to a second, instead of at the first request."""
        self._count("warm")


def best_text_count() -> TextCount:
    """`toktok` when it is installed, else the rough pattern."""
    try:
        from toktok import batch_count
    except ImportError:
        return rough_text_count

    def count(text: str) -> int:
        try:
            return int(batch_count([text], "o200k_base", 1)[0])
        except UnicodeEncodeError:
            return rough_text_count(text)

    return count


def rough_text_count(text: str) -> int:
    """Pieces of up to five letters, runs of signs, and two tokens for each letter of a script without spaces."""
    dense = sum(1 for letter in text if letter > "\u2e7f")
    return dense + sum(1 for _ in _ROUGH_TOKEN.finditer(text))
