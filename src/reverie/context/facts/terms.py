"""Identifiers in text: paths, symbols, flags, codes, versions, numbers and short quoted strings.

What counts as one is told from its shape, so that it works for every language of code and prose.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TERM = re.compile(
    r"""
    (?P<path>[\w.@~+-]*(?:/[\w.@+\-\[\]$]+)+/?)            # a/b, /a/b.c, ../x
  | (?P<flag>(?<![\w-])--?[A-Za-z][\w-]+)                  # --no-verify, -rf
  | (?P<word>[^\W\d]\w*(?:(?:\.|::|->|\#)[^\W\d]\w*)*(?:-\w+)*\(?)   # name, a.b, A::b, kebab-case, call(
  | (?P<number>\d[\d_]*(?:[.:]\d+)+|\d[\w]*)               # 1.2.3, 8080, 4bdbf8f
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(r"`([^`\n]{3,60})`|\"([^\"\n]{3,60})\"|'([^'\n]{3,60})'")
_MIXED = re.compile(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|_[^\W_]|[^\W_]_")
_JOINTS = re.compile(r"\.|::|->|#")
_LOOSE_ENDS = ".-,:;#"
SHORTEST = 3


def terms(text: str) -> frozenset[str]:
    """All identifiers of a text."""
    found: set[str] = set()
    for match in _TERM.finditer(text):
        kind, value = match.lastgroup, match.group()
        if kind == "path":
            _add_path(found, value)
        elif kind == "flag":
            found.add(value)
        elif kind == "number":
            _add_number(found, value)
        else:
            found.update(_in_word(value))
    for match in _QUOTED.finditer(text):
        inner = (match[1] or match[2] or match[3]).strip()
        if len(inner) >= SHORTEST:
            found.add(inner)
    return frozenset(found)


@lru_cache(maxsize=4096)
def terms_of_line(line: str) -> frozenset[str]:
    """The same for one line; lines come back again and again."""
    return terms(line)


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def _add_path(found: set[str], value: str) -> None:
    path = value.rstrip("/.")
    if len(path) < SHORTEST:
        return
    found.add(path)
    name = base_name(path)
    if "." in name and len(name) >= SHORTEST:
        found.add(name)


def _add_number(found: set[str], value: str) -> None:
    if value.isdigit() and len(value) < SHORTEST:
        return
    if len(value) >= SHORTEST:
        found.add(value)


@lru_cache(maxsize=16_384)
def _in_word(value: str) -> tuple[str, ...]:
    """The identifiers that a word holds; remembered, because code says the same words again and again."""
    called = value.endswith("(")
    word = value.rstrip("(").rstrip(_LOOSE_ENDS)
    if len(word) < SHORTEST:
        return ()
    parts = _JOINTS.split(word)
    if len(parts) > 1:
        inner = (part for part in parts if len(part) >= SHORTEST and (_MIXED.search(part) or part == parts[-1]))
        return (word, *inner)
    is_name = called or _MIXED.search(word) or (word.isupper() and word.isascii())
    return (word,) if is_name else ()
