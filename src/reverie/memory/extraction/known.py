"""What the store knows already, for comparison: whether a text is there, nearly there, or another word on one subject.

Built from topics once per run and told of every candidate that was let through, so a run does not repeat itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from reverie.memory.extraction.candidate import Candidate
from reverie.memory.relearning import normal
from reverie.memory.search.analyze import terms
from reverie.memory.topic import Topic

NEAR = 0.75
"""The share of common words from which on two texts say the same (as in `api/saving.py`)."""
SAME_SUBJECT = 0.5
"""From here on they speak of the same thing, and the newer one brings the older up to date."""
_FEWEST_SHARED = 3
"""With fewer words in common, likeness is chance."""
_NEGATES = re.compile(
    r"\b(?:no|not|never|don'?t|stop|avoid|longer|anymore|nicht|kein\w*|nie)\b|不|别|禁止|ない|やめ", re.IGNORECASE
)
_CONTRASTS = re.compile(
    r"\b(?:instead|rather than|actually|no longer|any ?more|now|moved|changed|switch\w*|stattdessen|statt|doch|jetzt)\b"
    r"|改|换|不再|而不是|现在|代わりに|ではなく",
    re.IGNORECASE,
)


class Likeness(StrEnum):
    """How a candidate stands to what is known."""

    new = "new"
    same = "same"
    """Exactly or nearly said already."""
    subject = "subject"
    """The same subject, and something else is said of it."""


@dataclass(frozen=True, slots=True)
class Found:
    """The memory that is most like a candidate."""

    likeness: Likeness
    path: str = ""
    observed: date | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    path: str
    type: str | None
    words: frozenset[str]
    plain: str
    negates: bool
    observed: date | None


_NEW = Found(Likeness.new)


@dataclass(slots=True)
class KnownTopics:
    """Everything that is known, by its words."""

    _all: list[_Known] = field(default_factory=list)
    _by_word: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _quotes: dict[tuple[str | None, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, topics: Iterable[Topic]) -> KnownTopics:
        """What these topics say."""
        known = cls()
        for topic in topics:
            known.add(topic)
        return known

    def add(self, topic: Topic) -> None:
        """Take one more topic into account."""
        for source in topic.sources:
            if source.quote:
                self._quotes[source.message, normal(source.quote)] = topic.path
        rule = _rule(topic.description, topic.body)
        for said in dict.fromkeys((topic.description, rule)):
            words = frozenset(terms(said))
            number = len(self._all)
            entry = _Known(topic.path, topic.type, words, normal(said), bool(_NEGATES.search(said)), topic.observed)
            self._all.append(entry)
            for word in words:
                self._by_word[word].append(number)

    def is_taken(self, candidate: Candidate) -> bool:
        """Whether a memory was made of these very words already, as after a run that was killed."""
        return (candidate.message or None, normal(candidate.quote)) in self._quotes

    def find(self, candidate: Candidate) -> Found:
        """The memory that says the same, or speaks of the same subject."""
        said = _rule(candidate.description, candidate.body)
        words, plain = frozenset(terms(said)), normal(said)
        best = _NEW
        for number, shared in self._sharing(words):
            known = self._all[number]
            share = shared / len(words | known.words)
            if plain == known.plain or (share >= NEAR and _says_no_more(said, words, known)):
                return Found(Likeness.same, known.path, known.observed)
            is_candidate = share >= SAME_SUBJECT and shared >= _FEWEST_SHARED and known.type in {None, candidate.type}
            if is_candidate and best.likeness is Likeness.new and _changes(said, words, known):
                best = Found(Likeness.subject, known.path, known.observed)
        return best

    def _sharing(self, words: frozenset[str]) -> list[tuple[int, int]]:
        """What shares words with these, the likest first."""
        counts = Counter(number for word in words for number in self._by_word.get(word, ()))
        return sorted(counts.items(), key=lambda item: (-item[1] / len(words | self._all[item[0]].words), item[0]))


def _says_no_more(said: str, words: frozenset[str], known: _Known) -> bool:
    """Whether one of two like texts has no word of its own: where both have, something else is spoken of."""
    is_denied = bool(_NEGATES.search(said)) != known.negates
    return not is_denied and (words <= known.words or words >= known.words)


def _changes(said: str, words: frozenset[str], known: _Known) -> bool:
    """Whether a text takes another one back or gives it another number or day; else it is about something else."""
    mine, theirs = words - known.words, known.words - words
    only_numbers = bool(mine | theirs) and all(word.isdecimal() for word in mine | theirs)
    return only_numbers or bool(_NEGATES.search(said)) != known.negates or bool(_CONTRASTS.search(said))


def _rule(description: str, body: str) -> str:
    """The first paragraph of the body, which is the statement itself; else the description."""
    return body.split("\n\n", 1)[0].strip() or description
