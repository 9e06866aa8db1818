"""Texts made to fit a number of tokens, at line ends where there are any. Nothing is cut without saying so."""

from __future__ import annotations

from collections.abc import Callable

Weigh = Callable[[str], int]

_MOST_CHARS_PER_TOKEN = 12
"""Beyond this only runs of one character go."""


def head(text: str, limit_tokens: int, weigh: Weigh) -> str:
    """The longest beginning that fits, cut after a whole line unless that would lose most of it."""
    if fits(text, limit_tokens, weigh):
        return text
    cut = text[: _longest(lambda size: weigh(text[:size]), len(text), limit_tokens)]
    line_end = cut.rfind("\n")
    return cut[:line_end] if line_end > len(cut) // 2 else cut


def tail(text: str, limit_tokens: int, weigh: Weigh) -> str:
    """The longest end that fits, cut likewise."""
    if fits(text, limit_tokens, weigh):
        return text
    size = _longest(lambda size: weigh(text[len(text) - size :]), len(text), limit_tokens)
    cut = text[len(text) - size :]
    line_end = cut.find("\n")
    return cut[line_end + 1 :] if 0 <= line_end < len(cut) // 2 else cut


def head_and_tail(text: str, limit_tokens: int, weigh: Weigh, pointer: str) -> str:
    """Both ends of a text with a line between them that says how much is missing and where it is."""
    if fits(text, limit_tokens, weigh):
        return text
    gap = f"\n[… {len(text):,} characters in all; {pointer} …]\n"
    room = max(0, limit_tokens - weigh(gap))
    begin = head(text, room * 2 // 3, weigh)
    end = tail(text[len(begin) :], room // 3, weigh)
    return f"{begin}{gap}{end}".strip("\n")


def shorten_text(text: str, limit_tokens: int, weigh: Weigh, pointer: str) -> str:
    """The beginning of a text and a line that says what is missing."""
    if fits(text, limit_tokens, weigh):
        return text
    notice = f"\n[… cut here: {len(text):,} characters in all; {pointer}]"
    return head(text, max(0, limit_tokens - weigh(notice)), weigh) + notice


def fits(text: str, limit_tokens: int, weigh: Weigh) -> bool:
    """Whether a text weighs at most so much; long texts are told apart without being weighed."""
    return len(text) <= limit_tokens * _MOST_CHARS_PER_TOKEN * 4 and weigh(text) <= limit_tokens


def _longest(weight: Callable[[int], int], size: int, limit_tokens: int) -> int:
    """The greatest number of characters whose weight is within the limit, found by halving."""
    if limit_tokens <= 0:
        return 0
    low, high = 0, min(size, limit_tokens * _MOST_CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if weight(middle) <= limit_tokens:
            low = middle
        else:
            high = middle - 1
    return low
