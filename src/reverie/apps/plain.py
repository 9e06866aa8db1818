"""Makes untrusted text safe to print: control characters are removed, or shown where somebody must decide."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

from reverie.patterns import lazy_regex

_STEERS = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but line ends and tabs, and those that reorder what is read."""
_OURS = lazy_regex(r"(\A\r|\x1b\[[0-9;]*m|\r(?:\x1b\[K)?\Z)|" + _STEERS.pattern)
"""The same beside what this program writes itself: colours, and a line of progress that is written over."""


def strip_control_characters(text: str) -> str:
    """The text without what would move the cursor, name the window, fill the clipboard or reorder words."""
    return _STEERS.sub("", text)


def escape_control_characters(text: str) -> str:
    """The same with such characters spelled out, so that nothing hides in what a person is asked to allow."""
    return _STEERS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def escape_json(document: str) -> str:
    """A JSON document with such characters as escapes, which mean the same."""
    return _STEERS.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


@contextmanager
def sanitised_streams() -> Iterator[None]:
    """For a while nothing that is printed steers the terminal, wherever it was read and whoever prints it."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            # JSON is UTF-8 whatever the locale says, and a file name may hold bytes that are no text at all.
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout, sys.stderr = (cast("TextIO", _Unsteered(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Unsteered:
    """A stream that writes to another; in all else it is that one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_OURS.sub(lambda match: match[1] or "", text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
