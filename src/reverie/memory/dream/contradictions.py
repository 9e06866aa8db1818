"""Pairs of memories on one subject that say opposite things. They are told to the user; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.memory.dream.likeness import affirmed, like_pairs, negations, numbers, rule_of
from reverie.memory.dream.proposal import Contradiction
from reverie.memory.topic import Topic

SAME_SUBJECT = 0.6
"""The share of common words, negations and numbers left aside, from which on two rules speak of the same thing."""
FEWEST_SHARED = 3


def contradictions(topics: Sequence[Topic]) -> tuple[Contradiction, ...]:
    """What cannot both hold, in the order of paths."""
    rules = [rule_of(topic) for topic in topics]
    words = [affirmed(rule) for rule in rules]
    found = []
    for first, second in like_pairs(words, SAME_SUBJECT):
        if topics[first].type != topics[second].type or len(words[first] & words[second]) < FEWEST_SHARED:
            continue
        for reason in _opposition(rules[first], rules[second], words[first] == words[second]):
            old, new = sorted((first, second), key=lambda number: _age(topics[number]))
            paths = topics[old].path, topics[new].path
            found.append(Contradiction(paths, (_short(rules[old]), _short(rules[new])), reason))
    return tuple(sorted(found, key=lambda each: each.paths))


def _opposition(one: str, other: str, has_same_words: bool) -> Iterator[str]:
    if (negations(one) > 0) != (negations(other) > 0):
        yield "one says the opposite of the other"
    elif has_same_words and numbers(one) and numbers(other) and numbers(one) != numbers(other):
        yield "they give different numbers for the same thing"


def _age(topic: Topic) -> tuple[str, str]:
    day = topic.observed
    return (day.isoformat() if day else "", topic.path)


def _short(text: str, limit_chars: int = 200) -> str:
    told = " ".join(text.split())
    return told if len(told) <= limit_chars else told[: limit_chars - 1] + "…"
