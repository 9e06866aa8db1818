"""`lazy_regex`: a regular expression that is compiled when it is first used.

A command starts a process and uses few of the several hundred expressions in the modules that it imports. Compiling
them all makes a cold `-p` take 735 ms of processor time instead of 497 (`bench/NOTES.md`, start-up).
"""

from __future__ import annotations

import re
from typing import cast

_MEMBERS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "flags", "groups")


class _LazyRegex:
    """Stands for a compiled expression; after the first use its attributes are those of the compiled one."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name not in _MEMBERS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for member in _MEMBERS:
            setattr(self, member, getattr(compiled, member))
        return getattr(compiled, name)


def lazy_regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """The expression as `re.compile` gives it, for its methods; functions of `re` do not take it."""
    return cast("re.Pattern[str]", _LazyRegex(text, flags))
