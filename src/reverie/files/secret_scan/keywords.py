"""Finds the places where a rule in context may match: those of its keywords, all of them in few passes.

A pass costs the same for one word as for several that share a letter, so a long text is searched once for each of few
letters; in a short one the expressions would cost more than they save.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from reverie.files.secret_scan.rules import IN_CONTEXT, SecretRule

LONG_TEXT_CHARS = 10_000
"""Texts from this length on are searched by expressions."""

_RARE_LETTERS = b"@kbpcwh"
"""A search stops at each of its first letters: it begins with a rare one, in the middle of a keyword if need be."""

_REACH_CHARS = 240
"""How far before its keyword a match of a rule with `begins` may begin."""


def places_of_rules(text: str, plain: bytes, foreign: bytes) -> Iterator[tuple[int, SecretRule]]:
    """Where to try which rule, given a text, one byte for each of its characters, and those beyond ASCII as UTF-8."""
    lowered = plain.lower()
    rules_by_keyword = _rules_by_keyword()
    if len(lowered) < LONG_TEXT_CHARS:
        places: Iterator[tuple[int, bytes]] = (
            (place, keyword) for keyword in rules_by_keyword if keyword in lowered for place in _each(keyword, lowered)
        )
    else:
        places = _places_in_long_text(lowered)
    for place, keyword in places:
        for rule in rules_by_keyword[keyword]:
            if not rule.begins:
                yield place, rule
            elif (first := lowered.rfind(rule.begins.encode(), max(0, place - _REACH_CHARS), place)) >= 0:
                yield first, rule
    if foreign:
        yield from _places_beyond_ascii(text, foreign)


def _each(keyword: bytes, lowered: bytes) -> Iterator[int]:
    place = lowered.find(keyword)
    while place >= 0:
        yield place
        place = lowered.find(keyword, place + 1)


def _places_in_long_text(lowered: bytes) -> Iterator[tuple[int, bytes]]:
    for search, keywords in _expressions():
        for match in search.finditer(lowered):
            offset, keyword = keywords[match[0]]
            yield match.start() - offset, keyword


@cache
def _rules_by_keyword() -> dict[bytes, list[SecretRule]]:
    """By the shortest keywords: `passw` is also where `passwort` begins."""
    pairs = [(keyword.encode(), rule) for rule in IN_CONTEXT for keyword in rule.keywords if keyword.isascii()]
    shortest = [word for word, _ in pairs if not any(word.startswith(other) and word != other for other, _ in pairs)]
    return {
        keyword: list(dict.fromkeys(rule for word, rule in pairs if word.startswith(keyword))) for keyword in shortest
    }


@cache
def _expressions() -> list[tuple[re.Pattern[bytes], dict[bytes, tuple[int, bytes]]]]:
    """One for each rare letter; with it, by what it finds, how far before that the keyword begins, and the keyword."""
    groups: dict[bytes, list[tuple[bytes, int, bytes]]] = {}
    for keyword in _rules_by_keyword():
        offset = next((offset for offset, letter in enumerate(keyword) if letter in _RARE_LETTERS), 0)
        before, rest = keyword[: offset + 1], keyword[offset + 1 :]
        # One literal stands first, which `re` looks for much faster than for any of several.
        source = (b"(?<=%b)" % re.escape(before) if offset else b"") + re.escape(rest)
        groups.setdefault(before[-1:], []).append((source, offset, keyword))
    return [
        (
            re.compile(re.escape(letter) + b"(?:" + b"|".join(source for source, _, _ in group) + b")"),
            {keyword[offset:]: (offset, keyword) for _, offset, keyword in group},
        )
        for letter, group in groups.items()
    ]


def _places_beyond_ascii(text: str, foreign: bytes) -> Iterator[tuple[int, SecretRule]]:
    for rule, search, letters in _searches_beyond_ascii():
        if any(letter in foreign for letter in letters):
            for match in search.finditer(text):
                yield match.start(), rule


@cache
def _searches_beyond_ascii() -> list[tuple[SecretRule, re.Pattern[str], tuple[bytes, bytes]]]:
    """Each keyword with its first letter beyond ASCII, without which the text cannot hold it."""
    searches = []
    for rule in IN_CONTEXT:
        for keyword in rule.keywords:
            letter = next((char for char in keyword if not char.isascii()), "")
            if letter:
                has_case = keyword.lower() != keyword.upper()
                search = re.compile(keyword, re.IGNORECASE if has_case else 0)
                searches.append((rule, search, (letter.lower().encode(), letter.upper().encode())))
    return searches
