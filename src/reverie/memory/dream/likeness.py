"""What a memory says, in a form in which two can be compared; and which pairs are worth comparing.

Words come from the analysis of search. Telling words (numbers, names, identifiers) and negations are looked at apart:
two sentences that differ in one of them say different things, however many words they share.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from reverie.memory.relearning import normal
from reverie.memory.search.analyze import terms
from reverie.memory.search.stem import stem
from reverie.memory.search.words import SYNONYMS, WEAK_WORDS
from reverie.memory.topic import Topic

_NEGATES = re.compile(
    r"\b(?:no|not|never|don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|shouldn'?t|mustn'?t|without|stop|avoid"
    r"|forbid\w*|instead|neither|nor|nicht|kein\w*|nie(?:mals)?|ohne)\b|不|别|勿|禁止|没|無|ない|やめ",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = re.compile(r"\b\w*(?:_\w+|[a-z][A-Z]\w*|\w[./]\w[\w./-]*)|\b[A-Z]{2,}\w*")
_LOOKED_AT = 200
"""So many texts with one rare word are compared with each; in a memory without rare words the rest goes unseen."""
_MODAL = (
    "must",
    "should",
    "shall",
    "always",
    "please",
    "once",
    "ever",
    "really",
    "just",
    "need",
    "want",
    "make",
    "sure",
)
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """What one topic says."""

    path: str
    type: str | None
    words: frozenset[str]
    """Of description and body."""
    plain: str
    """Description and body, reduced to their words in order."""
    body: str
    """The body alone, likewise."""
    telling: frozenset[str]
    negations: int
    about: frozenset[str]


def statement_of(topic: Topic) -> Statement:
    """What a topic says."""
    text = f"{topic.description}\n{topic.body}"
    read = _read(text)
    about = frozenset(normal(each) for each in topic.about)
    return Statement(topic.path, topic.type, read.words, read.plain, normal(topic.body), read.telling, read.no, about)


def rule_of(topic: Topic) -> str:
    """The statement itself: the first paragraph of the body, else the description."""
    return topic.body.split("\n\n", 1)[0].strip() or topic.description


@dataclass(frozen=True, slots=True)
class _Read:
    words: frozenset[str]
    plain: str
    telling: frozenset[str]
    no: int


@lru_cache(maxsize=16_384)
def _read(text: str) -> _Read:
    return _Read(frozenset(terms(text)), normal(text), telling_words(text), negations(text))


def telling_words(text: str) -> frozenset[str]:
    """Numbers, names and identifiers."""
    found = (match[0].casefold() for pattern in (_NUMBER, _IDENTIFIER, _NAME) for match in pattern.finditer(text))
    return frozenset(found)


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text."""
    return frozenset(match[0] for match in _NUMBER.finditer(text))


def negations(text: str) -> int:
    """How many words of a text turn it into its opposite."""
    return sum(1 for _ in _NEGATES.finditer(text))


def affirmed(text: str) -> frozenset[str]:
    """The words of a text without its negations and numbers."""
    return frozenset(terms(_NUMBER.sub(" ", _NEGATES.sub(" ", text))))


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of common words among all of both."""
    return len(one & other) / len(one | other) if one or other else 0.0


def adds_nothing_but_words(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one of two texts only says more than the other: where each has a word of its own, they differ in subject.

    Weak words do not count, nor do two words for one thing.
    """
    mine, theirs = one - other - _weak(), other - one - _weak()
    return not {word for word in mine if not _synonyms(word) & other} or not {
        word for word in theirs if not _synonyms(word) & one
    }


@cache
def _weak() -> frozenset[str]:
    return frozenset(stem(word) for word in WEAK_WORDS) | frozenset(map(stem, _MODAL))


@cache
def _synonyms(word: str) -> frozenset[str]:
    groups = ({stem(each) for each in group} for group in SYNONYMS)
    return frozenset(each for group in groups if word in group for each in group - {word})


def like_pairs(words: Sequence[frozenset[str]], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs, in order, whose share of common words is at least the threshold.

    Of two such sets one of the rarest words of each is common to both, so only those are looked up; of a word that very
    many share, only the latest.
    """
    frequency = Counter(word for each in words for word in each)
    seen_with: dict[str, list[int]] = {}
    for number, each in enumerate(words):
        rarest = sorted(each, key=lambda word: (frequency[word], word))
        looked_up = rarest[: len(each) - math.ceil(threshold * len(each)) + 1]
        candidates = {other for word in looked_up for other in seen_with.get(word, ())[-_LOOKED_AT:]}
        for earlier in sorted(candidates):
            shorter, longer = sorted((len(words[earlier]), len(each)))
            if shorter >= threshold * longer and share(words[earlier], each) >= threshold:
                yield earlier, number
        for word in looked_up:
            seen_with.setdefault(word, []).append(number)


def holds_all(text: str, others: Iterable[str]) -> bool:
    """Whether every one of these texts stands in a text, word for word."""
    plain = f" {normal(text)} "
    return all(f" {normal(other)} " in plain for other in others)
