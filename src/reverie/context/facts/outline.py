"""Definitions in source text of any language, told by the shape of their first line.

Takes text as tools print it: with line numbers in front (`12→`, `12\\t`, `12:`) or without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.context.facts.values import Symbol
from reverie.patterns import lazy_regex

_NUMBERED = lazy_regex(r"\s*(\d+)(?:→|\t|:|-(?=\s)|\s{2,})")
_DEFINES = lazy_regex(
    r"""^\s*
    (?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|async|abstract|final|sealed|unsafe
        |declare|override|open|inline|virtual|extern)\s+)*
    (?:(?:def|class|func|fn|function\*?|struct|enum|union|trait|interface|type|impl(?:<[^>]*>)?|module|mod|namespace
        |macro_rules!|protocol|extension|record|object|data\ class|fun|sub|defmodule|defp?|defmacro|theorem
        |CREATE\ TABLE|model|message|service)\s+
       (?:\([^)]*\)\s*)?(?P<name>[^\W\d][\w.$]*(?:::\w+)*)
     |(?:const|let|var|val)\s+(?P<const>[A-Za-z_$][\w$]*)\s*(?::[^=]+)?=
     |(?P<constant>[A-Z][A-Z0-9_]{2,})\s*(?::[^=]+)?=(?!=)
     |(?P<heading>\#{1,4}\ .{3,80}$)
    )""",
    re.VERBOSE,
)
LONGEST_LINE_CHARS = 110
LEAST_LETTERS = 3


def lines_of(text: str) -> Iterable[tuple[int | None, str]]:
    """The lines of a printed file with their numbers, where the print has them."""
    rows = text.split("\n")
    numbered = sum(1 for row in rows[:40] if _NUMBERED.match(row)) >= max(1, len(rows[:40]) * 0.6)
    for row in rows:
        match = _NUMBERED.match(row) if numbered else None
        yield (int(match[1]), row[match.end() :]) if match else (None, row)


def is_bare_punctuation(line: str) -> bool:
    """Whether a line only opens or closes something."""
    letters_left = LEAST_LETTERS
    for letter in line:
        if letter.isalnum():
            letters_left -= 1
            if letters_left == 0:
                return False
    return True


def outline(text: str, *, starts_at: int | None = None, in_round: int = 0, changed: bool = False) -> tuple[Symbol, ...]:
    """The definitions of a piece of source, in order; `starts_at` numbers lines that have no numbers of their own."""
    symbols: list[Symbol] = []
    for offset, (number, line) in enumerate(lines_of(text)):
        match = _DEFINES.match(line)
        if match is None:
            continue
        name = match["name"] or match["const"] or match["constant"] or match["heading"]
        if number is None and starts_at is not None:
            number = starts_at + offset
        symbols.append(Symbol(name.strip(), _short(line), number, in_round, changed))
    return tuple(symbols)


def _short(line: str) -> str:
    """The defining line without its body; a long one is cut, and the cut shows."""
    plain = line.strip().removesuffix("{").rstrip(" :")
    return plain if len(plain) <= LONGEST_LINE_CHARS else plain[: LONGEST_LINE_CHARS - 1] + "…"
