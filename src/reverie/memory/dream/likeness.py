"""Normalises memories for comparison, and selects the pairs that are worth comparing.

Words come from the analysis of search. Telling words (numbers, names, identifiers) and negations are looked at apart:
two sentences that differ in one of them say different things, however many words they share.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from reverie.memory.search.analyze import terms
from reverie.memory.search.stem import stem
from reverie.memory.search.words import SYNONYMS, WEAK_WORDS
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.topic import Topic
from reverie.patterns import lazy_regex
from reverie.values import value

_NEGATES = lazy_regex(
    r"\b(?:no|not|never|don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|shouldn'?t|mustn'?t|without|stop|avoid"
    r"|forbid\w*|instead|neither|nor|nicht|kein\w*|nie(?:mals)?|ohne)\b|不|别|勿|禁止|没|無|ない|やめ",
    re.IGNORECASE,
)
_NUMBER = lazy_regex(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = lazy_regex(r"\b\w*(?:_\w+|[a-z][A-Z]\w*|\w[./]\w[\w./-]*)|\b[A-Z]{2,}\w*")
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
_NAME = lazy_regex(r"(?<=[a-z,;:] )[A-Z][a-z]+\b")


@value
class TopicStatement:
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


def statement_of(topic: Topic) -> TopicStatement:
    """What a topic says."""
    text = f"{topic.description}\n{topic.body}"
    return TopicStatement(
        topic.path,
        topic.type,
        frozenset(terms(text)),
        normal(text),
        normal(topic.body),
        telling_words(text),
        negations(text),
        frozenset(normal(each) for each in topic.about),
    )


class Statements:
    """What topics say, worked out once for each as long as it stays the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Topic, TopicStatement]] = {}

    def of(self, topic: Topic) -> TopicStatement:
        """What a topic says."""
        cached = self._known.get(topic.path)
        if cached is None or cached[0] is not topic:
            cached = self._known[topic.path] = topic, statement_of(topic)
        return cached[1]


def telling_words(text: str) -> frozenset[str]:
    """Numbers, names and identifiers."""
    tokens = (match[0].casefold() for pattern in (_NUMBER, _IDENTIFIER, _NAME) for match in pattern.finditer(text))
    return frozenset(tokens)


def negations(text: str) -> int:
    """How many words of a text turn it into its opposite."""
    return sum(1 for _ in _NEGATES.finditer(text))


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


def shares_subject(text: str, other: str) -> bool:
    """Whether two texts have a word in common that says what they are about."""
    return bool((_fold_synonyms(frozenset(terms(text))) & _fold_synonyms(frozenset(terms(other)))) - _weak())


@cache
def _weak() -> frozenset[str]:
    return frozenset(stem(word) for word in WEAK_WORDS) | frozenset(map(stem, _MODAL))


@cache
def _synonyms(word: str) -> frozenset[str]:
    groups = ({stem(each) for each in group} for group in SYNONYMS)
    return frozenset(each for group in groups if word in group for each in group - {word})


def near_pairs(
    statements: Sequence[TopicStatement], threshold: float, changed: Collection[str] | None = None
) -> list[tuple[int, int]]:
    """Pairs, in order, that are alike in kind, subject, telling words and negations and share so many of their words.

    All of those of which one only adds words to the other are among them. With `changed`, only pairs of which at least
    one has such a path. Nothing is compared with everything: the rarest word of a text leads to those that hold it.
    """
    groups: dict[object, list[int]] = defaultdict(list)
    for number, each in enumerate(statements):
        groups[each.type, each.telling, each.negations, each.about].append(number)
    pairs: set[tuple[int, int]] = set()
    for members in groups.values():
        if changed is None or any(statements[number].path in changed for number in members):
            pairs |= set(_pairs_within(members, statements, threshold, changed))
    return sorted(pairs)


def _pairs_within(
    members: Sequence[int], statements: Sequence[TopicStatement], threshold: float, changed: Collection[str] | None
) -> Iterator[tuple[int, int]]:
    words_of = {number: _fold_synonyms(statements[number].words) for number in members}
    holders: dict[str, list[int]] = defaultdict(list)
    for number in members:
        for word in words_of[number]:
            holders[word].append(number)
    for number in members:
        statement = statements[number]
        strong = _fold_synonyms(statement.words - _weak())
        rarest = min(strong, key=lambda word: (len(holders[word]), word), default=None)
        for other in members if rarest is None else holders[rarest]:
            two = statements[other]
            if other == number or not strong <= words_of[other]:
                continue
            if changed is not None and statement.path not in changed and two.path not in changed:
                continue
            shorter, longer = sorted((len(statement.words), len(two.words)))
            if shorter >= threshold * longer and share(statement.words, two.words) >= threshold:
                yield min(number, other), max(number, other)


def _fold_synonyms(words: frozenset[str]) -> frozenset[str]:
    """Words, those for one thing as one."""
    classes = _classes()
    return frozenset(classes.get(word, word) for word in words)


@cache
def _classes() -> dict[str, str]:
    """Every word that has synonyms, with one that stands for all it can be reached by."""
    classes: dict[str, str] = {}
    for group in SYNONYMS:
        words = {stem(each) for each in group}
        joined = words | {word for word, stands in classes.items() if stands in {classes.get(each) for each in words}}
        classes |= dict.fromkeys(joined, min(joined))
    return classes


def holds_all(text: str, others: Iterable[str]) -> bool:
    """Whether every one of these texts stands in a text, word for word."""
    plain = f" {normal(text)} "
    return all(f" {normal(other)} " in plain for other in others)
