"""Removes characters from a text and maps positions back to the original.

What hides a token hides an injection as well; `messages/injection.py` uses this too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from reverie.patterns import lazy_regex

INVISIBLE = lazy_regex("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]+")
"""Characters without width that may stand inside a word."""


_SINGLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
_INVISIBLE_BYTES = (*(char.encode() for char in _SINGLE), b"\xf3\xa0")
_ASCII = bytes(range(128))


def beyond_ascii(text: str) -> bytes:
    """The characters of a text that are not of ASCII, as UTF-8: few, so that a search in them takes no time."""
    return b"" if text.isascii() else text.encode("utf-8", "surrogatepass").translate(None, _ASCII)


def has_invisible(foreign: bytes) -> bool:
    """Whether `INVISIBLE` finds anything in a text, of which `beyond_ascii` is given."""
    return bool(foreign) and any(char in foreign for char in _INVISIBLE_BYTES)


def without(pattern: re.Pattern[str], text: str) -> tuple[str, Callable[[int], int]]:
    """The text without the matches, and the way from a position in it back to the original."""
    if pattern.search(text) is None:
        return text, lambda position: position
    visible_parts: list[str] = []
    starts, origins, size, done = [], [], 0, 0
    for match in [*pattern.finditer(text), None]:
        piece = text[done : match.start() if match else len(text)]
        starts.append(size)
        origins.append(done)
        visible_parts.append(piece)
        size += len(piece)
        done = match.end() if match else done

    def origin(position: int) -> int:
        piece = bisect_right(starts, position) - 1
        return origins[piece] + position - starts[piece]

    return "".join(visible_parts), origin


def lines_of(places: Iterable[int], text: str) -> list[int]:
    """The line of each place, counted from 1; the places ascend."""
    numbers, line, done = [], 1, 0
    for place in places:
        line += text.count("\n", done, place)
        done = place
        numbers.append(line)
    return numbers
