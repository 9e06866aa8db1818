"""Compares a text with the stored memories: known, nearly known, or another statement on the same subject.

Built from topics once per run and told of every candidate that was let through, so a run does not repeat itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from reverie.memory.extraction.candidate import MemoryCandidate
from reverie.memory.extraction.similarity import Similarity
from reverie.memory.extraction.wording import main_clause, reason_of, tells_why
from reverie.memory.search.analyze import terms
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.topic import Topic
from reverie.patterns import lazy_regex
from reverie.values import value

NEAR = 0.75
"""The share of common words from which on two texts say the same (as in `api/saving.py`)."""
SAME_MEANING = 0.86
"""The nearness of two vectors from which on two texts say the same in other words."""
_COMPARED = 8
SAME_SUBJECT = 0.5
"""From here on they speak of the same thing, and the newer one brings the older up to date."""
_FEWEST_SHARED = 3
"""With fewer words in common, likeness is chance."""
_NEGATES = lazy_regex(
    r"\b(?:no|not|never|don'?t|stop|avoid|longer|anymore|nicht|kein\w*|nie)\b|不|别|禁止|ない|やめ", re.IGNORECASE
)
_MODAL = frozenset(
    terms(
        "always never ever please must should shall only any more anymore longer again just really every each one sure"
        " want"
    )
)
"""Say how strictly something holds, not what it is about."""
_FEWEST_IN_RULE = 3
"""Two rules of fewer words are like each other by chance, unless they are the same words."""
_CONTRASTS = lazy_regex(
    r"\b(?:instead|rather than|actually|no longer|any ?more|now|moved|changed|switch\w*|stattdessen|statt|doch|jetzt)\b"
    r"|改|换|不再|而不是|现在|代わりに|ではなく",
    re.IGNORECASE,
)


_NUMBER = lazy_regex(r"\d(?:[\d.:/-]*\d)?")
_CHOICE = lazy_regex(
    r",? not |,? instead of |,? rather than | over |而不是|，不(?:要|用)?|,? statt | nicht ", re.IGNORECASE
)


_VERB = lazy_regex(
    r"\b(?:is|are|was|were|has|have|will|runs?|listens?|lives?|uses?|belongs?|starts?|ends?|takes?|moved|moves"
    r"|ist|sind|war|hat|liegt|läuft|beginnt|endet)\b|=|是|在|は",
    re.IGNORECASE,
)
"""Ends the subject of a statement."""
_ORDINAL = lazy_regex(r"(?:\b(?:number|no\.?|nr\.?|nummer)\s*|#\s?|第\s?)(\d+)", re.IGNORECASE)


class Likeness(StrEnum):
    """How a candidate stands to what is known."""

    new = "new"
    same = "same"
    """Exactly or nearly said already."""
    subject = "subject"
    """The same subject, and something else is said of it."""


@value
class KnownMatch:
    """The memory that is most like a candidate."""

    likeness: Likeness
    path: str = ""
    observed: date | None = None
    lacks_reason: bool = False
    """The same is known, but not why, which the candidate says."""


@value
class _Statement:
    """What is said, as it can be compared."""

    text: str
    """The main clause."""
    plain: str
    words: frozenset[str]
    rule: frozenset[str]
    """The words of the main clause: without the reason, and without how strictly it holds."""
    numbers: frozenset[str]
    """Days, versions and amounts of the main clause, each as a whole."""
    subject: frozenset[str]
    """The words before the verb; nothing where none is known."""
    members: frozenset[str]
    """The numbers that tell one thing from another of its kind: those of the subject, and those behind `number`."""
    negates: bool
    contrasts: bool
    chosen: frozenset[str]
    """The words before `not`, `instead of`, `rather than`; nothing where there is no such choice."""
    rejected: frozenset[str]
    """The words behind it."""


@value
class _Known:
    path: str
    type: str | None
    said: _Statement
    observed: date | None
    tells_why: bool


_NEW = KnownMatch(Likeness.new)


@dataclass(slots=True)
class KnownTopics:
    """Everything that is known, by its words; and by its meaning where a similarity is given."""

    similarity: Similarity | None = None
    _all: dict[int, _Known] = field(default_factory=dict)
    _by_word: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _by_path: dict[str, list[int]] = field(default_factory=dict)
    _quotes: dict[tuple[str | None, str], str] = field(default_factory=dict)
    _added: int = 0

    @classmethod
    def of(cls, topics: Iterable[Topic], similarity: Similarity | None = None) -> KnownTopics:
        """What these topics say."""
        topics_known = cls(similarity)
        for topic in topics:
            topics_known.add(topic)
        return topics_known

    def add(self, topic: Topic) -> None:
        """Take one more topic into account; what was known of the same path no longer counts."""
        for number in self._by_path.pop(topic.path, ()):
            del self._all[number]
        for source in topic.sources:
            if source.quote:
                self._quotes[source.message, normal(source.quote)] = topic.path
        rule = _rule(topic.description, topic.body)
        for text in dict.fromkeys((topic.description, rule)):
            statement = _statement(text)
            number = self._added
            self._added += 1
            self._all[number] = _Known(topic.path, topic.type, statement, topic.observed, tells_why(topic.body))
            self._by_path.setdefault(topic.path, []).append(number)
            for word in statement.words:
                self._by_word[word].append(number)

    def is_other_thing(self, candidate: MemoryCandidate, path: str) -> bool:
        """Whether the topic of a path is about another thing of the same kind, whatever their titles."""
        statement = _statement(_rule(candidate.description, candidate.body))
        statements = [self._all[number].said for number in self._by_path.get(path, ())]
        return bool(statements) and all(_is_other_thing(statement, each) for each in statements)

    def is_taken(self, candidate: MemoryCandidate) -> bool:
        """Whether a memory was made of these very words already, as after a run that was killed."""
        return (candidate.message or None, normal(candidate.quote)) in self._quotes

    def find(self, candidate: MemoryCandidate) -> KnownMatch:
        """The memory that says the same, or speaks of the same subject."""
        statement = _statement(_rule(candidate.description, candidate.body))
        best = _NEW
        sharing = self._sharing(statement.words)
        same = next((other for other in sharing if _says_the_same(statement, other.said)), None)
        same = same or self._same_in_meaning(statement, [other for other in sharing if other.type == candidate.type])
        if same is not None:
            lacks_reason = bool(reason_of(candidate.body)) and not same.tells_why
            return KnownMatch(Likeness.same, same.path, same.observed, lacks_reason)
        for other in sharing:
            is_candidate = best.likeness is Likeness.new and other.type in {None, candidate.type}
            if is_candidate and (_changes(statement, other.said) or _contradicts(statement, other.said)):
                best = KnownMatch(Likeness.subject, other.path, other.observed)
        return best

    def _same_in_meaning(self, statement: _Statement, others: Sequence[_Known]) -> _Known | None:
        """The memory that says the same in other words: as near as that, with the same numbers, and none denied."""
        alike = [each for each in others if _may_be_the_same(statement, each.said)][:_COMPARED]
        if self.similarity is None or not alike:
            return None
        number, nearness = self.similarity.likest(statement.text, [each.said.text for each in alike])
        return alike[number] if nearness >= SAME_MEANING else None

    def _sharing(self, words: frozenset[str]) -> list[_Known]:
        """What shares words with these, the likest first."""
        counts = Counter(number for word in words for number in self._by_word.get(word, ()) if number in self._all)
        order = sorted(counts, key=lambda number: (-_share(words, self._all[number].said.words), number))
        return [self._all[number] for number in order]


def _statement(text: str) -> _Statement:
    rule = main_clause(text)
    chosen, choice, rejected = rule.partition(match[0]) if (match := _CHOICE.search(rule)) else ("", "", "")
    subject = rule[: match.start()] if (match := _VERB.search(rule)) else ""
    return _Statement(
        rule,
        normal(text),
        frozenset(terms(text)),
        frozenset(terms(rule)) - _MODAL,
        frozenset(_NUMBER.findall(rule)),
        frozenset(terms(subject)) - _MODAL,
        frozenset((*_NUMBER.findall(subject), *_ORDINAL.findall(rule))),
        bool(_NEGATES.search(rule)),
        bool(_CONTRASTS.search(text)),
        frozenset(terms(chosen)) if choice else frozenset(),
        frozenset(terms(rejected)),
    )


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _says_the_same(one: _Statement, other: _Statement) -> bool:
    """Whether at most one of two like texts, or of their rules, has a word of its own: else the subject is another."""
    if one.plain == other.plain:
        return True
    if _swaps(one, other) or (one.numbers and other.numbers and one.numbers != other.numbers):
        return False
    if one.negates != other.negates:
        return False
    is_rule = min(len(one.rule), len(other.rule)) >= _FEWEST_IN_RULE
    return _is_near(one.words, other.words) or (is_rule and _is_near(one.rule, other.rule))


def _swaps(one: _Statement, other: _Statement) -> bool:
    """Whether one prefers what the other rejects, and the other way round."""
    return bool(one.chosen & other.rejected and one.rejected & other.chosen)


def _may_be_the_same(one: _Statement, other: _Statement) -> bool:
    """Whether nothing but the choice of words may differ."""
    is_denied = one.negates != other.negates or _swaps(one, other)
    return not is_denied and one.numbers == other.numbers and bool(one.rule & other.rule)


def _is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    return _share(one, other) >= NEAR and (one <= other or one >= other)


def _changes(new: _Statement, old: _Statement) -> bool:
    """Whether a text takes another one back or gives it another number or day; else it is about something else."""
    if _swaps(new, old):
        return True
    if _is_other_thing(new, old):
        return False
    if _share(new.words, old.words) < SAME_SUBJECT or len(new.words & old.words) < _FEWEST_SHARED:
        return False
    apart = new.words ^ old.words
    only_numbers = bool(apart) and all(word.isdecimal() for word in apart)
    return only_numbers or new.negates != old.negates or new.contrasts


def _is_other_thing(one: _Statement, other: _Statement) -> bool:
    """Whether two statements are about different things of one kind, such as launch 1 and launch 2."""
    if one.members != other.members:
        return True
    mine, theirs = one.subject, other.subject
    return bool(mine & theirs) and not (mine <= theirs or mine >= theirs)


def _contradicts(new: _Statement, old: _Statement) -> bool:
    """Whether one forbids what the other asks for: opposite rules, of which one says no more than the other."""
    if new.negates == old.negates or not (new.rule <= old.rule or new.rule >= old.rule):
        return False
    fewest = min(len(new.rule), len(old.rule))
    return fewest >= _FEWEST_IN_RULE or (fewest == _FEWEST_IN_RULE - 1 and new.rule == old.rule)


def _rule(description: str, body: str) -> str:
    """The first paragraph of the body, which is the statement itself; else the description."""
    return body.split("\n\n", 1)[0].strip() or description
