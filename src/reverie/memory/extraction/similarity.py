"""How near two texts are in meaning, where vectors can be had: duplicates are told in other words too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reverie.patterns import lazy_regex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reverie.memory.search.vectors import Embeds

_OTHER_LANGUAGE = lazy_regex(
    r"\b(?:und|ist|nicht|bitte|der|das|ein|eine|wir|ich|kein\w*|auf|mit|nie|immer|für|le|les|est|una?|los|que|para|por)\b",
    re.IGNORECASE,
)
_MIN_ASCII_SHARE = 0.97


class Similarity:
    """Compares English texts by their vectors; where there are none it finds nothing alike.

    `embedder` is asked when the first texts are compared: loading the weights takes a moment.
    """

    def __init__(self, embedder: Callable[[], Embeds | None]) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

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


def is_english(text: str) -> bool:
    """Whether a text is English, the only language of the vectors."""
    plain = text.replace("’", "'").replace("—", "-").replace("–", "-").replace("“", '"').replace("”", '"')
    ascii_chars = sum(char.isascii() for char in plain)
    return ascii_chars >= _MIN_ASCII_SHARE * len(plain) and not _OTHER_LANGUAGE.search(plain)
