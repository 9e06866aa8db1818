"""Identifiers in text: paths, symbols, flags, codes, versions, numbers and short quoted strings.

What counts as one is told from its shape, so that it works for every language of code and prose.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reverie.patterns import lazy_regex

_TERM = lazy_regex(
    r"""
    ([\w.@~+-]*+(?:/[\w.@+\-\[\]$]++)++/?)                 # a path: a/b, /a/b.c, ../x
  | ((?<![\w-])--?[A-Za-z][\w-]+)                         # a flag: --no-verify, -rf
  | ([^\W\d]\w*+(?:(?:\.|::|->|\#)[^\W\d]\w*+)*+(?:-\w++)*+\(?)   # a word: name, a.b, A::b, kebab-case, call(
  | (\d[\d_]*(?:[.:]\d+)+|\d[\w]*)                        # a number: 1.2.3, 8080, 4bdbf8f
    """,
    re.VERBOSE,
)
_RUN = lazy_regex(r"[\w.@~+\-/\[\]$:#>(]{3,}")
"""All letters that an identifier can have. What stands between two runs is part of none, so each is read by itself."""
_QUOTED = lazy_regex(r"`([^`\n]{3,60})`|\"([^\"\n]{3,60})\"|'([^'\n]{3,60})'")
_MIXED = lazy_regex(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|_[^\W_]|[^\W_]_")
_JOINTS = lazy_regex(r"\.|::|->|#")
_LOOSE_ENDS = ".-,:;#"
SHORTEST = 3


def terms(text: str) -> frozenset[str]:
    """All identifiers of a text."""
    identifiers: set[str] = set()
    for run in set(_RUN.findall(text)):
        identifiers.update(_in_run(run))
    for double, single, third in _QUOTED.findall(text):
        inner = (double or single or third).strip()
        if len(inner) >= SHORTEST:
            identifiers.add(inner)
    return frozenset(identifiers)


@lru_cache(maxsize=32_768)
def terms_of_line(line: str) -> frozenset[str]:
    """The same for one line; lines come back again and again, within one history and at its next compaction."""
    return terms(line)


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def _add_path(identifiers: set[str], value: str) -> None:
    path = value.rstrip("/.")
    if len(path) < SHORTEST:
        return
    identifiers.add(path)
    name = base_name(path)
    if "." in name and len(name) >= SHORTEST:
        identifiers.add(name)


def _add_number(identifiers: set[str], value: str) -> None:
    if value.isdigit() and len(value) < SHORTEST:
        return
    if len(value) >= SHORTEST:
        identifiers.add(value)


@lru_cache(maxsize=32_768)
def _in_run(run: str) -> tuple[str, ...]:
    """The identifiers of a run of letters; remembered, because code says the same words again and again."""
    identifiers: set[str] = set()
    for path, flag, word, number in _TERM.findall(run):
        if word:
            identifiers.update(_in_word(word))
        elif path:
            _add_path(identifiers, path)
        elif number:
            _add_number(identifiers, number)
        else:
            identifiers.add(flag)
    return tuple(identifiers)


def _in_word(value: str) -> tuple[str, ...]:
    """The identifiers that a word holds."""
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
