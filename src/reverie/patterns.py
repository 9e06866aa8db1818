"""`lazy_regex`, an expression that is compiled when it is first used, and the one rule of where a sentence ends.

A command starts a process and uses few of the several hundred expressions in the modules that it imports. Compiling
them all makes a cold `-p` take 735 ms of processor time instead of 497 (`bench/NOTES.md`, start-up).
"""

from __future__ import annotations

import re
from typing import AnyStr, Generic, cast

_MEMBERS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "flags", "groups")


class _LazyRegex(Generic[AnyStr]):
    """Stands for a compiled expression; after the first use its attributes are those of the compiled one."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name not in _MEMBERS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for member in _MEMBERS:
            setattr(self, member, getattr(compiled, member))
        return getattr(compiled, name)


def lazy_regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression as `re.compile` gives it, for its methods; functions of `re` do not take it."""
    return cast("re.Pattern[AnyStr]", _LazyRegex(text, flags))


_SENTENCE_END = lazy_regex(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
CLAUSE_END = lazy_regex(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)\s+(?=\S)|(?<=[。！？；])|[\n\0]+")
"""Where a sentence or a half of one ends in what people type: at a semicolon too, and not behind an abbreviation."""


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in their order, stripped; a line break ends one. Hashes on disk depend on it."""
    return [sentence for piece in _SENTENCE_END.split(text) if (sentence := piece.strip())]
