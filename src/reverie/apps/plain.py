"""Words of others on a terminal: characters that steer it are taken out, or shown where somebody must decide."""

from __future__ import annotations

import re

_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but line ends and tabs, and those that reorder what is read."""


def unsteered(text: str) -> str:
    """The text without what would move the cursor, name the window, fill the clipboard or reorder words."""
    return _STEERS.sub("", text)


def revealed(text: str) -> str:
    """The same with such characters spelled out, so that nothing hides in what a person is asked to allow."""
    return _STEERS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
