"""Splits text into search terms, by the same rules for documents and queries.

Words are folded (case, accents, width), brought to their common form, and stripped of those that are in every text;
identifiers are kept whole and in their parts; runs of Chinese, Japanese and Korean become characters and bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from reverie.memory.search.stem import OPENING_CHARS, opening, stem
from reverie.memory.search.words import CJK_FUNCTION, STOP_WORDS, SYNONYMS, WEAK_WORDS
from reverie.values import value

_WORD = re.compile(r"[^\W_]+")
_CAMEL = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_CJK = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
_SENTENCE_END = r"(?<=[.!?。！？])\s+"
"""These are compiled at their first use, as a plain query needs none of them."""
_PLAIN_PUNCTUATION = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})
_WITHOUT_ACCENTS = dict.fromkeys(range(0x300, 0x370))
_PASSAGE_CHARS = 500
"""A paragraph longer than this is cut into sentences, so that one passage speaks of one thing."""
_MEMO_LIMIT = 200_000
_TERMS_KNOWN = 10_000
_LONGEST_TERM = 64
"""Hashes, base64 and the like: cut here, so that they neither fill the index nor match by chance."""

_WEAK: dict[str, list[str]] = {}
_ALIKE: dict[str, list[tuple[str, frozenset[str]]]] = {}
"""Both by the opening of a term: a query needs the stems of a few words, not of all that are listed."""
for _word in WEAK_WORDS:
    _WEAK.setdefault(opening(_word), []).append(_word)
for _group in SYNONYMS:
    for _word in _group:
        _ALIKE.setdefault(opening(_word), []).append((_word, _group))


class _Memo(dict[str, str]):
    """A written word → its terms, joined by spaces; most words of a text were seen before."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        terms = " ".join(_terms_of_word(word))
        self[word] = terms
        return terms


_memo = _Memo()


@value
class QueryText:
    """What a query asks for."""

    terms: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    """Neighbouring terms: a text that has them side by side is more likely meant."""


def terms(text: str) -> list[str]:
    """Every term of a text, in order."""
    return " ".join(map(_memo.__getitem__, _WORD.findall(_fold(text)))).split()


def cut_passages(text: str) -> str:
    """The terms of a text, joined by spaces, its passages by line breaks; those without a term are left out."""
    passages: list[str] = []
    for line in _fold(text).split("\n"):
        pieces = (line,) if len(line) <= _PASSAGE_CHARS else re.split(_SENTENCE_END, line)
        for piece in pieces:
            body_terms = " ".join(filter(None, map(_memo.__getitem__, _WORD.findall(piece))))
            if body_terms:
                passages.append(body_terms)
    return "\n".join(passages)


def analyse_query(text: str) -> QueryText:
    """Read a query: its terms once each, and which stand side by side."""
    query_terms = _telling(terms(text))
    return QueryText(terms=tuple(dict.fromkeys(query_terms)), pairs=frozenset(pairwise(query_terms)))


@lru_cache(maxsize=_TERMS_KNOWN)
def is_weak(term: str) -> bool:
    """Whether a term is found in most requests, whatever they are about."""
    if len(term) <= 2 and not CJK_FUNCTION.isdisjoint(term):
        return True
    return any(stem(word) == term for word in _WEAK.get(term[:OPENING_CHARS], ()))


@lru_cache(maxsize=_TERMS_KNOWN)
def synonyms(term: str) -> frozenset[str]:
    """The terms that may stand for this one."""
    groups = [group for word, group in _ALIKE.get(term[:OPENING_CHARS], ()) if stem(word) == term]
    return frozenset(stem(word) for group in groups for word in group) - {term}


def _telling(found_terms: list[str]) -> list[str]:
    """Leave out the characters of pairs that are asked for anyway, and pairs of mere particles."""
    paired = {character for term in found_terms if len(term) == 2 and not term.isascii() for character in term}
    return [
        term for term in found_terms if term not in paired and not (len(term) == 2 and CJK_FUNCTION.issuperset(term))
    ]


def _fold(text: str) -> str:
    if text.isascii():
        return text
    text = text.translate(_PLAIN_PUNCTUATION)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).translate(_WITHOUT_ACCENTS))


def _terms_of_word(word: str) -> list[str]:
    if not word.isascii():
        return _terms_of_mixed(word)
    lowered = word.lower()
    if lowered in STOP_WORDS or (len(lowered) == 1 and not lowered.isdigit()):
        return []
    word_terms = [stem(lowered)[:_LONGEST_TERM]]
    if not (word.islower() or word.isupper() or word.istitle() or word.isdigit()):
        parts = [part.lower() for part in re.findall(_CAMEL, word)]
        if len(parts) > 1:
            word_terms += [stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS]
    return word_terms


def _terms_of_mixed(word: str) -> list[str]:
    mixed_terms: list[str] = []
    at = 0
    for run in re.finditer(_CJK, word):
        mixed_terms += _terms_of_plain(word[at : run.start()])
        text = run[0]
        mixed_terms += text
        mixed_terms += [text[place : place + 2] for place in range(len(text) - 1)]
        at = run.end()
    return mixed_terms + _terms_of_plain(word[at:])


def _terms_of_plain(word: str) -> list[str]:
    if not word:
        return []
    return _terms_of_word(word) if word.isascii() else [word.casefold()[:_LONGEST_TERM]]
