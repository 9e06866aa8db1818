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
from reverie.memory.search.words import CJK_FUNCTION, FIRST_PERSON, MONTHS, STOP_WORDS, SYNONYMS, TIME_WORDS, WEAK_WORDS
from reverie.values import value

_WORD = re.compile(r"[^\W_]+")
_CAMEL = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_CJK = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
_SENTENCE_END = r"(?<=[.!?。！？])\s+"
"""These three are compiled at their first use, as a plain query needs none of them."""
_PROPER = re.compile(r"(?<![.!?:\n] )(?<!^)(?<![^\s\"'(])[A-Z][a-z]+\b")
_YEAR = re.compile(r"(?:19|20)\d\d")
_WHEN_QUESTION = re.compile(
    r"\s*(?:when|how long|what (?:year|month|date|day|time))\b|いつ|什么时候|何时", re.IGNORECASE
)
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
_FIRST_PERSON = FIRST_PERSON | {word.capitalize() for word in FIRST_PERSON}
_TIME_WORDS = TIME_WORDS | {word.capitalize() for word in TIME_WORDS}


@value
class Analysed:
    """The terms of a text and the few facts about its manner that ranking uses."""

    passages: str
    """Terms joined by spaces, passages by line breaks."""
    length: int
    """How many terms."""
    asking: float
    """The share of its characters that stand in questions."""
    personal: float
    """The share of its words that are `I`, `my`, `we`, …"""
    has_time: bool


@value
class QueryText:
    """What a query asks for."""

    terms: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    """Neighbouring terms: a text that has them side by side is more likely meant."""
    proper: frozenset[str]
    """Terms written like names: capitalised though no sentence begins there."""
    is_personal: bool
    asks_when: bool
    months: frozenset[int]
    years: frozenset[int]
    days: frozenset[tuple[int, int, int]]
    """Days named in full or without their year, which is then 0: (year, month, day)."""


def terms(text: str) -> list[str]:
    """Every term of a text, in order."""
    return " ".join(map(_memo.__getitem__, _WORD.findall(_fold(text)))).split()


def analyse(text: str) -> Analysed:
    """Cut a text into passages of terms and note its manner."""
    folded = _fold(text)
    passages: list[str] = []
    words: list[str] = []
    length = 0
    for line in folded.split("\n"):
        pieces = (line,) if len(line) <= _PASSAGE_CHARS else re.split(_SENTENCE_END, line)
        for piece in pieces:
            written = _WORD.findall(piece)
            words += written
            body_terms = " ".join(filter(None, map(_memo.__getitem__, written)))
            if body_terms:
                length += body_terms.count(" ") + 1
                passages.append(body_terms)
    personal = sum(map(_FIRST_PERSON.__contains__, words)) / max(20, len(words))
    return Analysed(
        passages="\n".join(passages),
        length=length,
        asking=_share_asking(folded),
        personal=personal,
        has_time=not _TIME_WORDS.isdisjoint(words) or _YEAR.search(folded) is not None,
    )


def analyse_query(text: str) -> QueryText:
    """Read a query: its terms once each, and what kind of question it is."""
    query_terms = _telling(terms(text))
    words = set(_WORD.findall(text.lower()))
    months = frozenset(
        number
        for number, month in enumerate(MONTHS, start=1)
        if month in words and (month != "may" or re.search(r"\bMay\b", text))
    )
    return QueryText(
        terms=tuple(dict.fromkeys(query_terms)),
        pairs=frozenset(pairwise(query_terms)),
        proper=frozenset(terms(" ".join(_PROPER.findall(text)))),
        is_personal=not FIRST_PERSON.isdisjoint(words),
        asks_when=_WHEN_QUESTION.match(text) is not None,
        months=months,
        years=frozenset(int(year) for year in _YEAR.findall(text)),
        days=_find_days(text) if months else frozenset(),
    )


def _find_days(text: str) -> frozenset[tuple[int, int, int]]:
    # Compiled at its first use, as few queries name a month.
    month, day, year = (
        f"(?P<month>{'|'.join(MONTHS)})",
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b",
        r"(?:,? (?P<year>\d{4}))?",
    )
    days = set()
    for pattern in (rf"\b{day}(?: of)? {month}{year}", rf"\b{month} {day}{year}"):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            days.add((int(match["year"] or 0), MONTHS.index(match["month"].lower()) + 1, int(match["day"])))
    return frozenset(days)


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


def without_names(text: str, names: frozenset[str]) -> str:
    """The text without the words whose term is one of `names`: a name drowns the rest of a sentence in its vector."""
    if not names:
        return text
    without = re.sub(r"[^\W_]+(?:['’]s)?", lambda match: "" if _is_name(match[0], names) else match[0], text)
    return " ".join(without.split()) or text


def _telling(found_terms: list[str]) -> list[str]:
    """Leave out the characters of pairs that are asked for anyway, and pairs of mere particles."""
    paired = {character for term in found_terms if len(term) == 2 and not term.isascii() for character in term}
    return [
        term for term in found_terms if term not in paired and not (len(term) == 2 and CJK_FUNCTION.issuperset(term))
    ]


def _is_name(word: str, names: frozenset[str]) -> bool:
    match = _WORD.match(word)
    return match is not None and _memo[match[0]] in names


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


def _share_asking(text: str) -> float:
    if "?" not in text and "？" not in text:
        return 0.0
    asking = sum(len(piece) for piece in re.split(_SENTENCE_END, text) if piece.rstrip().endswith(("?", "？")))
    return asking / len(text)
