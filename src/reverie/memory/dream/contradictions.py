"""Pairs of memories on one subject that cannot both hold. They are told to the user; nothing is changed.

Only what is said first counts, without its reason, and two statements must be about the very same thing: all their
words agree but for a no, a number or day, one of two opposites, or the order of a preference. A rule with one word more
is an exception, not a contradiction.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from reverie.memory.dream.proposal import Contradiction
from reverie.memory.history.relearning import normal
from reverie.memory.search.analyze import terms
from reverie.memory.search.stem import stem
from reverie.memory.topics.topic import Topic
from reverie.patterns import lazy_regex
from reverie.values import value

FEWEST_WORDS = 2
"""With fewer, two statements agree in their words by chance."""
_LARGEST_GROUP = 50
"""So many memories that differ in a number alone are a list, not contradictions."""

_END = lazy_regex(
    r"[.;!?](?=\s|\Z)|[。；！？\n]|\s[—–-]\s|[,(]?\s*\b(?:because|since|so that|due to|otherwise|weil|damit|denn)\b"
    r"|，?(?:因为|因為|以便|否则)|ので|ため",
    re.IGNORECASE,
)
_NO = lazy_regex(
    r"\b(?:no longer|not any ?more|no|not|never|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|shouldn'?t"
    r"|mustn'?t|avoid|stop|forbid\w*|nicht|kein\w*|nie(?:mals)?)\b|不要|不再|不|别|勿|禁止|没有|没|無|ないで|ない|やめ",
    re.IGNORECASE,
)
_HALF_NO = lazy_regex(
    r"\bnot (?:only|just|even|always|necessarily|yet)\b|\bno (?:matter|problem)\b|不仅|不只|不一定", re.IGNORECASE
)
_ELSEWHERE = lazy_regex(r"(?:it|this|that|they|he|she|these|those|there|es|sie|er)\b|它|这|那", re.IGNORECASE)
"""What such a statement is about was said before it."""
_MORE = lazy_regex(r"\b(?:any ?more|any longer|still|mehr)\b", re.IGNORECASE)
_PREFERENCE = lazy_regex(
    r"\s*(?:,\s*(?:and\s+)?not|\binstead of|\brather than|(?<=\w)\s+over|\bstatt|而不是)\s+|而不是", re.IGNORECASE
)
_PREFERS = lazy_regex(r"\b(?:prefer\w*|choose|favou?r)\b", re.IGNORECASE)
_PAST = lazy_regex(
    r"\b(?:was|were|did|didn'?t|had|went|made|got|took|came|said|ran|met|bought|wrote|saw|won|lost|gave|began"
    r"|(?!need|speed|feed|seed|embed|shared?\b)\w{3,}ed(?= (?:on|at|with|\d|last|yesterday|the|a|an)\b)|yesterday|ago"
    r"|last (?:week|month|year)|war|wurde|hatte)\b|昨天|上周",
    re.IGNORECASE,
)
_PASSIVE = lazy_regex(r"\b(?:is|are|be|been|being|gets?|wird|werden)\s+(?:\w+\s+)?\w+ed\b", re.IGNORECASE)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?"
_VALUE = lazy_regex(
    rf"(?<![\w.#/-])\d+(?:[.,:/-]\d+)*(?=(?:ms|s|min|m|h|d|k|kb|mb|gb|px|%)?(?![\w/-]))|\b(?:{_DAYS})\b", re.IGNORECASE
)
_NUMBERED = lazy_regex(
    r"(?:#|\b(?:issue|ticket|bug|pr|mr|request|step|phase|stage|rule|item|part|chapter|section|sprint|milestone|task"
    r"|case|shard|replica|node|host|room|floor|line|page|figure|table|level|day|week|round|lesson|version)s?\s*#?)\s*\d",
    re.IGNORECASE,
)
"""Such a number is a name: two of them are two things."""
_OPPOSITES = {
    stem(word): (stem(one), side)
    for one, other in (
        ("before", "after"),
        ("with", "without"),
        ("enable", "disable"),
        ("allow", "forbid"),
        ("include", "exclude"),
        ("manually", "automatically"),
        ("optional", "required"),
        ("mandatory", "voluntary"),
        ("uppercase", "lowercase"),
    )
    for side, word in enumerate((one, other))
}
_QUALITIES = {
    stem(word): (stem(one), side)
    for one, other in (
        ("single", "double"),
        ("short", "long"),
        ("public", "private"),
        ("light", "dark"),
        ("synchronous", "asynchronous"),
        ("tabs", "spaces"),
        ("relative", "absolute"),
        ("singular", "plural"),
        ("brief", "detailed"),
    )
    for side, word in enumerate((one, other))
}
"""Opposites only as what is wanted (`use short names`): as part of a subject they tell two things apart."""
_WANTED = lazy_regex(r"\b(?:use|prefer|write|keep|make|choose|want|like)(?:s|e|ing)?\s+(?:\w+\s+)?\Z", re.IGNORECASE)
_EMPTY = frozenset(
    map(
        stem,
        (
            *("must", "should", "shall", "always", "please", "ever", "really", "just", "sure", "use", "user"),
            *("do", "directly", "any", "generally", "usually", "benutze", "verwende", "immer"),
        ),
    )
)
"""Words without which a statement is the same."""


@value
class _Claim:
    """What a statement says, apart from what it is about."""

    is_negated: bool = False
    values: tuple[str, ...] = ()
    sides: tuple[tuple[str, int], ...] = ()
    rather: frozenset[str] = frozenset()
    """Of a preference, the words before what it is preferred to."""


def contradictions(topics: Sequence[Topic]) -> tuple[Contradiction, ...]:
    """What cannot both hold, in the order of paths."""
    groups: dict[object, list[tuple[Topic, str, _Claim]]] = defaultdict(list)
    for topic in topics:
        rule = first_statement(topic.body.strip() or topic.description)
        read = _read(rule)
        if read is not None:
            about = frozenset(normal(each) for each in topic.about)
            groups[topic.type, about, topic.when, read[0]].append((topic, rule, read[1]))
    found = []
    for group in groups.values():
        if len(group) > _LARGEST_GROUP:
            continue
        for one, other in combinations(group, 2):
            for reason in _opposition(one[2], other[2]):
                old, new = sorted((one, other), key=lambda each: _age(each[0]))
                paths = old[0].path, new[0].path
                found.append(Contradiction(paths, (_short(old[1]), _short(new[1])), reason))
    return tuple(sorted(found, key=lambda each: each.paths))


def first_statement(text: str) -> str:
    """What is said first in a text, without why."""
    ends = (match.start() for match in _END.finditer(text))
    return next((part for end in ends if len(part := text[:end].strip()) > 1), text.strip())


def _read(rule: str) -> tuple[object, _Claim] | None:
    """What a statement is about, and what it says of it; None when it is too short or too vague to tell."""
    if _HALF_NO.search(rule) or _ELSEWHERE.match(rule):
        return None
    parts = _PREFERENCE.split(rule, maxsplit=1)
    if len(parts) == 2 and (_PREFERS.search(rule) or not re.search(r"\bover\b", rule)):
        rather, than = _words(parts[0]), _words(parts[1])
        both = rather | than
        return (("preference", both), _Claim(rather=rather)) if len(both) >= FEWEST_WORDS else None
    values: tuple[str, ...] = ()
    left = rule
    if not _NUMBERED.search(rule) and (not _PAST.search(rule) or _PASSIVE.search(rule)):
        values = tuple(match[0].casefold().rstrip("s") for match in _VALUE.finditer(rule))
        left = _VALUE.sub(" ", rule)
    # Scripts without spaces are read in pairs of characters, which a gap would tear apart.
    plain = _MORE.sub(" ", _NO.sub(lambda match: " " if match[0].isascii() else "", left))
    sides, kept = _sides(plain)
    words = _words(kept)
    if len(words) + len(values) < FEWEST_WORDS or not words:
        return None
    subject = words, len(values), tuple(name for name, _ in sides)
    return subject, _Claim(len(_NO.findall(rule)) % 2 == 1, values, sides)


def _sides(text: str) -> tuple[tuple[tuple[str, int], ...], str]:
    """The opposites in a text, each with its side, and the text without them."""
    sides: list[tuple[str, int]] = []
    kept: list[str] = []
    done = 0
    for match in re.finditer(r"[^\W\d_]+", text):
        word = stem(match[0].casefold())
        found = _OPPOSITES.get(word) or _QUALITIES.get(word)
        if found is not None and (word in _OPPOSITES or _WANTED.search(text[: match.start()])):
            sides.append(found)
            kept.append(text[done : match.start()])
            done = match.end()
    return tuple(sorted(sides)), "".join([*kept, text[done:]])


def _words(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - _EMPTY


def _opposition(one: _Claim, other: _Claim) -> Iterator[str]:
    """Why two statements on one thing cannot both hold; nothing when they differ twice, which may agree."""
    if one.rather or other.rather:
        if one.rather - other.rather and other.rather - one.rather:
            yield "one prefers what the other does not"
        return
    sides = sum(mine != theirs for mine, theirs in zip(one.sides, other.sides, strict=True))
    differs = one.is_negated != other.is_negated, one.values != other.values, sides > 0
    match differs:
        case (True, False, False):
            yield "one says the opposite of the other"
        case (False, True, False):
            yield "they give different numbers or days for the same thing"
        case (False, False, True) if sides == 1:
            yield "one says the opposite of the other"


def _age(topic: Topic) -> tuple[str, str]:
    day = topic.observed
    return (day.isoformat() if day else "", topic.path)


def _short(text: str, limit_chars: int = 200) -> str:
    told = " ".join(text.split())
    return told if len(told) <= limit_chars else told[: limit_chars - 1] + "…"
