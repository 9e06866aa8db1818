"""Merges memories that say the same: the best name stays, sources are joined, differing words are kept.

Conservative: same type, same negations, same numbers and names, and at most one of two has words of its own. A word of
the user is never mixed with a conclusion of the agent: those merge only where the conclusion adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from reverie.memory.dream.dead_anchors import KEY as BROKEN_ANCHORS
from reverie.memory.dream.likeness import (
    Statements,
    TopicStatement,
    adds_nothing_but_words,
    holds_all,
    near_pairs,
    telling_words,
)
from reverie.memory.search.analyze import terms
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.polarity import MismatchKind, find_mismatch
from reverie.memory.topics.topic import Topic, Trust
from reverie.values import value

NEAR = 0.75
"""The share of common words from which on two memories probably say the same, as on saving."""
FEWEST_WORDS = 4
"""A shorter text is like another by chance."""
_WORTH = {Trust.said: 3, Trust.inferred: 2, None: 1, Trust.seen: 0}
_NAME_WORDS = 8
"""More words of the text make a name no clearer."""
_COPY = re.compile(r"[ _-]\(?\d{1,2}\)?\Z|[ _-]copy\Z", re.IGNORECASE)


@value
class Merge:
    """Topics that became one."""

    kept: Topic
    """As it is to be."""
    gone: tuple[str, ...]
    reason: str


def merge_duplicates(
    topics: Sequence[Topic], statements: Statements, changed: Collection[str] | None = None
) -> tuple[Merge, ...]:
    """One round of merging: all that is equal, and of what is nearly so one pair for every topic.

    After a first round only what it `changed` needs to be compared: every other pair was looked at and left apart.
    """
    current = {topic.path: topic for topic in topics}
    into: dict[str, str] = {}
    found: dict[str, Merge] = {}
    near: set[str] = set()
    for first, second, is_exact in _pairs(topics, statements, changed):
        one, other = _last(first, into), _last(second, into)
        if one == other or (not is_exact and {one, other} & (near | found.keys())):
            continue
        best, less = sorted((current[one], current[other]), key=_rank)
        joined = _join_topics(best, less)
        if joined is None:
            continue
        near |= set() if is_exact else {best.path}
        current[best.path] = joined
        into[less.path] = best.path
        same = "says the same as" if is_exact else "says nearly the same as"
        reasons = [f"{less.path} {same} {best.path} and is merged into it"]
        earlier = [each for each in (found.pop(best.path, None), found.pop(less.path, None)) if each]
        gone = (*(path for each in earlier for path in each.gone), less.path)
        found[best.path] = Merge(joined, gone, "; ".join([*(each.reason for each in earlier), *reasons]))
    return tuple(found.values())


def _last(path: str, into: Mapping[str, str]) -> str:
    while path in into:
        path = into[path]
    return path


def _pairs(
    topics: Sequence[Topic], statements: Statements, changed: Collection[str] | None
) -> Iterator[tuple[str, str, bool]]:
    """Paths of topics that say the same: first what is equal, then what is nearly so."""
    said = [statements.of(topic) for topic in topics]
    yield from _equal(said)
    by_path: Mapping[str, Topic] = {topic.path: topic for topic in topics}
    for first, second in near_pairs(said, NEAR, changed):
        one, other = said[first], said[second]
        if _is_near(one, other, by_path):
            yield one.path, other.path, False


def _equal(statements: Sequence[TopicStatement]) -> Iterator[tuple[str, str, bool]]:
    groups: dict[object, list[TopicStatement]] = {}
    for each in statements:
        key = each.body if len(set(each.body.split())) > FEWEST_WORDS else each.plain
        if each.plain:
            groups.setdefault((each.type, key, each.about), []).append(each)
    for group in groups.values():
        for each in group[1:]:
            yield group[0].path, each.path, True


def _is_near(one: TopicStatement, other: TopicStatement, topics: Mapping[str, Topic]) -> bool:
    if min(len(one.words), len(other.words)) < FEWEST_WORDS:
        return False
    names = telling_words(f"x {topics[one.path].name}") ^ telling_words(f"x {topics[other.path].name}")
    return adds_nothing_but_words(one.words, other.words) and (
        not any(name in one.telling | other.telling or name[:1].isdigit() for name in names)
    )


def _join_topics(best: Topic, less: Topic) -> Topic | None:
    """Both in one; None where that would mix what must stay apart."""
    if less.pinned and best.pinned:
        return None
    differs = find_mismatch(best.description, less.description, is_title=True)
    if differs and differs.kind is MismatchKind.negation:
        return None
    added = tuple(_find_additions(best, less))
    if added and best.trust != less.trust:
        return None
    if not {pair for pair in less.extra if pair[0] != BROKEN_ANCHORS} <= set(best.extra):
        return None
    body = "\n\n".join([best.body, *added]) if best.body else "\n\n".join(added)
    return replace(
        best,
        name=best.name if best.pinned or _clarity(best) >= _clarity(less) else less.name,
        body=body,
        observed=_latest(best.observed, less.observed),
        verified=_latest(best.verified, less.verified),
        expires=_latest(best.expires, less.expires) if best.expires and less.expires else None,
        when=best.when or less.when,
        anchors=tuple(dict.fromkeys((*best.anchors, *less.anchors))),
        about=tuple(dict.fromkeys((*best.about, *less.about))),
        sources=tuple(dict.fromkeys((*best.sources, *less.sources))),
    )


def _find_additions(best: Topic, less: Topic) -> Iterator[str]:
    """What only the lesser one says: paragraphs, and its description or name where they hold words of their own."""
    there = f"{best.name}\n{best.description}\n{best.body}"
    for paragraph in re.split(r"\n[ \t]*\n", less.body):
        if normal(paragraph) and (not holds_all(there, (paragraph,)) or find_mismatch(there, paragraph, is_title=True)):
            yield paragraph.strip("\n")
    told = f"{there}\n{less.body}"
    known = set(terms(told))
    if not set(terms(less.description)) <= known or find_mismatch(told, less.description, is_title=True):
        yield less.description
    elif not set(terms(_COPY.sub("", less.name))) <= known and not _is_named_after_file(less):
        yield f"Also kept as: {less.name}"


def _is_named_after_file(topic: Topic) -> bool:
    return normal(topic.name) in normal(topic.path.rsplit("/", 1)[-1].replace("_", " "))


def _rank(topic: Topic) -> tuple[object, ...]:
    """The better one first: pinned, the user's word, a name that is clear, better founded, then by path."""
    stem = topic.path.removesuffix(".md")
    return (
        not topic.pinned,
        -_WORTH[topic.trust],
        bool(_COPY.search(stem) or _COPY.search(topic.name)),
        -_clarity(topic),
        -len(topic.sources),
        -len(topic.description),
        len(topic.path),
        topic.path,
    )


def _clarity(topic: Topic) -> float:
    """How well a name says what a memory says: by its words and not by others; as people write, not as a file name."""
    named = set(terms(_COPY.sub("", topic.name).replace("_", " ")))
    said = set(terms(f"{topic.description}\n{topic.body}"))
    is_plain = " " in topic.name.strip() or not topic.name.isascii()
    return min(len(named & said), _NAME_WORDS) - len(named - said) / 2 + is_plain / 4 - bool(_COPY.search(topic.name))


def _latest(one: date | None, other: date | None) -> date | None:
    return max((day for day in (one, other) if day is not None), default=None)
