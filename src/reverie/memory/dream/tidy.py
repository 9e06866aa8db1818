"""The dream without a model: pure and deterministic; a second run finds nothing to do.

It archives what has had its time (`retire`), marks memories whose anchor no longer exists, adds the date to relative
words such as `tomorrow` where a fact is of a day, and merges memories that say the same: the best name stays, sources
are joined, differing words are kept. Merging is conservative: same type, same negations, same numbers and names, and at
most one of two has words of its own. A word of the user is never mixed with a conclusion of the agent: those merge only
where the conclusion adds nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeAlias

from reverie.errors import Damaged
from reverie.memory.dream.contradictions import contradictions
from reverie.memory.dream.likeness import (
    Statements,
    TopicStatement,
    adds_nothing_but_words,
    holds_all,
    near_pairs,
    telling_words,
)
from reverie.memory.dream.proposal import Contradiction, DreamStep, StepKind
from reverie.memory.dream.retire import find_retired
from reverie.memory.extraction.dates import resolve_dates
from reverie.memory.search.analyze import terms
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.anchors import Anchor, describe_anchor
from reverie.memory.topics.polarity import MismatchKind, find_mismatch
from reverie.memory.topics.situations import derive_when
from reverie.memory.topics.topic import MemoryType, Topic, Trust, parse_topic, render_topic
from reverie.memory.topics.value import MAX_ASKS
from reverie.patterns import lazy_regex
from reverie.values import value

BROKEN_ANCHORS = "broken_anchors"
"""The key of the front matter that lists them."""

IsBroken: TypeAlias = Callable[[Anchor], bool]
_HABIT = lazy_regex(
    r"\b(?:always|never|every|each|usually|whenever|often|daily|weekly|monthly|when|if|don'?t|do not|avoid|should|must"
    r"|only|on \w+days|immer|nie|jede\w*|wenn)\b|每|总是|从不|不要|如果|毎|いつも",
    re.IGNORECASE,
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
_QUOTED = r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」"
_GONE_DAY = rf"\b(?:last|past|previous|letzte\w*|vorige\w*) (?:{_WEEKDAY})\b|上(?:个|個)?(?:周|週|星期|礼拜).|先週の?."
_KEPT = lazy_regex(rf"{_QUOTED}|{_GONE_DAY}", re.IGNORECASE)
_KEPT_IN_PAST = lazy_regex(
    rf"{_QUOTED}|{_GONE_DAY}|(?<!next )(?<!this )(?<!coming )\b(?:{_WEEKDAY})\b|(?:周|週|星期|礼拜).", re.IGNORECASE
)
"""Of a day that is named alone nobody knows, in a sentence on the past, whether it is the one before or after."""
_PAST = lazy_regex(
    r"\b(?:was|were|did|had|went|made|got|took|came|said|\w{3,}ed|war|wurde|hatte)\b|了|た", re.IGNORECASE
)
_FENCE = lazy_regex(r"[ \t]*(`{3,}|~{3,})")
NEAR = 0.75
"""The share of common words from which on two memories probably say the same, as on saving."""
FEWEST_WORDS = 4
"""A shorter text is like another by chance."""
_WORTH = {Trust.said: 3, Trust.inferred: 2, None: 1, Trust.seen: 0}
_NAME_WORDS = 8
"""More words of the text make a name no clearer."""
_COPY = re.compile(r"[ _-]\(?\d{1,2}\)?\Z|[ _-]copy\Z", re.IGNORECASE)
MAX_TIDIED_CHARS = 200_000
"""Longer than anything that was written to be remembered; a file dropped there would keep a dream busy for minutes."""
ROUNDS = 100
"""Merging can make two topics alike that were not; it ends by itself, since every merge leaves one topic less."""


def with_broken_anchors(topic: Topic, is_broken: IsBroken) -> Topic:
    """The topic with its dead anchors marked."""
    broken = [describe_anchor(anchor) for anchor in topic.anchors if is_broken(anchor)]
    rest = tuple(pair for pair in topic.extra if pair[0] != BROKEN_ANCHORS)
    extra = (*rest, (BROKEN_ANCHORS, json.dumps(broken, ensure_ascii=False))) if broken else rest
    return topic if dict(extra) == dict(topic.extra) else replace(topic, extra=extra)


def with_situations(topic: Topic) -> Topic:
    """The topic with the situations that its text names (files, programs, kinds of task), where it has none.

    Nothing is guessed: a rule that names no situation gets none, and what people would ask is for a model to say.
    """
    if topic.when is not None or "when" in dict(topic.extra):
        return topic
    when = derive_when(topic.name, topic.description, topic.body, topic.type)
    return topic if when is None or when.always else replace(topic, when=when)


def with_dates(topic: Topic, day: date | None) -> Topic:
    """The topic with calendar dates in description and body; unchanged without a day, and for rules and profiles."""
    if day is None or topic.type in {MemoryType.feedback, MemoryType.user}:
        return topic
    return replace(topic, description=_line(topic.description, day), body="\n".join(_lines(topic.body, day)))


def has_relative_date(topic: Topic) -> bool:
    """Whether its day would make a difference."""
    return with_dates(topic, date(2000, 1, 3)) != topic


def _lines(body: str, day: date) -> Iterator[str]:
    fence = ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        yield line if fence or mark or line.lstrip().startswith(">") else _line(line, day)


def _line(line: str, day: date) -> str:
    if _HABIT.search(line):
        return line
    parts: list[str] = []
    done = 0
    for span in (_KEPT_IN_PAST if _PAST.search(line) else _KEPT).finditer(line):
        parts += [_resolve_dates(line[done : span.start()], day), span[0]]
        done = span.end()
    return "".join([*parts, _resolve_dates(line[done:], day)])


def _resolve_dates(text: str, day: date) -> str:
    return resolve_dates(text, day).text if resolve_dates(text, None).is_relative else text


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
    merges: dict[str, Merge] = {}
    near: set[str] = set()
    for first, second, is_exact in _pairs(topics, statements, changed):
        left, right = _last(first, into), _last(second, into)
        if left == right or (not is_exact and {left, right} & (near | merges.keys())):
            continue
        best, less = sorted((current[left], current[right]), key=_rank)
        joined = _join_topics(best, less)
        if joined is None:
            continue
        near |= set() if is_exact else {best.path}
        current[best.path] = joined
        into[less.path] = best.path
        same = "says the same as" if is_exact else "says nearly the same as"
        reasons = [f"{less.path} {same} {best.path} and is merged into it"]
        earlier = [each for each in (merges.pop(best.path, None), merges.pop(less.path, None)) if each]
        gone = (*(path for each in earlier for path in each.gone), less.path)
        merges[best.path] = Merge(joined, gone, "; ".join([*(each.reason for each in earlier), *reasons]))
    return tuple(merges.values())


def _last(path: str, into: Mapping[str, str]) -> str:
    while path in into:
        path = into[path]
    return path


def _pairs(
    topics: Sequence[Topic], statements: Statements, changed: Collection[str] | None
) -> Iterator[tuple[str, str, bool]]:
    """Paths of topics that say the same: first what is equal, then what is nearly so."""
    said_by = [statements.of(topic) for topic in topics]
    yield from _equal(said_by)
    by_path: Mapping[str, Topic] = {topic.path: topic for topic in topics}
    for first, second in near_pairs(said_by, NEAR, changed):
        one, other = said_by[first], said_by[second]
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
        asks=tuple(dict.fromkeys((*best.asks, *less.asks)))[: max(MAX_ASKS, len(best.asks))],
        about=tuple(dict.fromkeys((*best.about, *less.about))),
        sources=tuple(dict.fromkeys((*best.sources, *less.sources))),
    )


def _find_additions(best: Topic, less: Topic) -> Iterator[str]:
    """What only the lesser one says: paragraphs, and its description or name where they hold words of their own."""
    there = f"{best.name}\n{best.description}\n{best.body}"
    for paragraph in re.split(r"\n[ \t]*\n", less.body):
        if normal(paragraph) and (not holds_all(there, (paragraph,)) or find_mismatch(there, paragraph, is_title=True)):
            yield paragraph.strip("\n")
    remaining_text = f"{there}\n{less.body}"
    known_terms = set(terms(remaining_text))
    is_new = not set(terms(less.description)) <= known_terms or find_mismatch(
        remaining_text, less.description, is_title=True
    )
    if is_new and normal(less.description) not in normal(less.body):
        yield less.description
    elif not set(terms(_COPY.sub("", less.name))) <= known_terms and not _is_named_after_file(less):
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
    content_terms = set(terms(f"{topic.description}\n{topic.body}"))
    is_plain = " " in topic.name.strip() or not topic.name.isascii()
    return (
        min(len(named & content_terms), _NAME_WORDS)
        - len(named - content_terms) / 2
        + is_plain / 4
        - bool(_COPY.search(topic.name))
    )


def _latest(one: date | None, other: date | None) -> date | None:
    return max((day for day in (one, other) if day is not None), default=None)


@value
class TidyContext:
    """What a dream must know besides the files."""

    day_of: Callable[[Topic], date | None] = lambda topic: topic.observed
    """The day on which a topic was written."""
    is_broken: Callable[[Anchor], bool] = lambda _anchor: False
    today: date | None = None
    """Without it nothing is archived for its age."""


@value
class Tidied:
    """What the dream came to."""

    steps: tuple[DreamStep, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(slots=True)
class _Group:
    """A topic and those that were merged into it."""

    gone: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


@value
class Draft:
    """A topic file that is new or changed before the dream looks at it, and why."""

    text: str
    reason: str


def tidy(texts: Mapping[str, str], world: TidyContext, drafts: Mapping[str, Draft] | None = None) -> Tidied:
    """What is to be changed in these topic files; those that cannot be read or are very long are left alone.

    `drafts` take the place of the files of their paths, or are new, and become part of the change.
    """
    drafts = drafts or {}
    drafted = {**texts, **{path: draft.text for path, draft in drafts.items()}}
    parsed = _parse_topics(drafted)
    topics = dict(parsed)
    statements = Statements()
    groups = {path: _Group(reasons=[drafts[path].reason] if path in drafts else []) for path in topics}
    for path, topic in topics.items():
        topics[path] = _repair_topic(topic, world, groups[path])
    changed: set[str] | None = None
    for _ in range(ROUNDS):
        merges = merge_duplicates(list(topics.values()), statements, changed)
        for merge in merges:
            group = groups[merge.kept.path]
            for path in merge.gone:
                del topics[path]
                gone = groups.pop(path)
                group.gone += [path, *gone.gone]
                group.reasons += [*gone.reasons]
            group.reasons.append(merge.reason)
            topics[merge.kept.path] = _repair_topic(merge.kept, world, group)
        if not merges:
            break
        changed = {merge.kept.path for merge in merges}
    changes = (_step(topic, parsed[path], groups[path], drafted[path], texts) for path, topic in topics.items())
    steps = [step for step in changes if step]
    texts_after = {**texts, **{path: text for step in steps for path, text in step.after.items() if text is not None}}
    saved = {path: topic for path, topic in topics.items() if path in texts}
    found = contradictions(list(topics.values()))
    retired = list(
        find_retired(saved, texts_after, [each for each in found if saved.keys() >= set(each.paths)], world.today)
    )
    archived = {path for step in retired for path in step.archived}
    open_pairs = tuple(each for each in found if not archived & set(each.paths))
    return Tidied(tuple(_join_steps(steps, retired, texts)), open_pairs)


def tidy_after(texts: Mapping[str, str], steps: Sequence[DreamStep], world: TidyContext) -> Tidied:
    """These steps of somebody else, and what is to be tidied in the files as they would leave them, as one change.

    A step that goes on with a file of another becomes one with it, so that each file is changed once.
    """
    changed = {path: text for step in steps for path, text in step.after.items()}
    texts_left = {path: text for path, text in {**texts, **changed}.items() if text is not None}
    tidied = tidy(texts_left, world)
    joined = _join_steps(steps, tidied.steps, texts)
    return Tidied(tuple(step for step in joined if step.before != step.after), tidied.contradictions)


def _join_steps(steps: Sequence[DreamStep], further: Sequence[DreamStep], texts: Mapping[str, str]) -> list[DreamStep]:
    """All of these, those as one that touch the same file."""
    joined = list(steps)
    for step in further:
        touched = [each for each in joined if each.after.keys() & step.after.keys()]
        joined = [each for each in joined if each not in touched]
        joined.append(_one_step([*touched, step], texts))
    return joined


def _one_step(steps: Sequence[DreamStep], texts: Mapping[str, str]) -> DreamStep:
    after = {path: text for step in steps for path, text in step.after.items()}
    # What one adds and the next merges away was never there.
    texts_after = {path: text for path, text in after.items() if text is not None or path in texts}
    before = {path: texts.get(path) for path in texts_after}
    kinds = {step.kind for step in steps}
    kind = next(
        (each for each in (StepKind.merge, StepKind.retire) if each in kinds and None in texts_after.values()),
        StepKind.add if not any(before.values()) else StepKind.edit,
    )
    written = {path: text for path, text in texts_after.items() if text is not None}
    return DreamStep(kind, "; ".join(step.reason for step in steps), before, {**written, **texts_after})


def _parse_topics(texts: Mapping[str, str]) -> dict[str, Topic]:
    topics: dict[str, Topic] = {}
    for path in sorted(texts):
        if len(texts[path]) > MAX_TIDIED_CHARS:
            continue
        try:
            topics[path] = parse_topic(path, texts[path])
        except Damaged:
            continue
    return topics


def _repair_topic(topic: Topic, world: TidyContext, group: _Group) -> Topic:
    dated = with_dates(topic, world.day_of(topic))
    if dated != topic:
        group.reasons.append(f"{topic.path}: relative dates made absolute")
    marked = with_broken_anchors(dated, world.is_broken)
    if marked != dated:
        group.reasons.append(f"{topic.path}: marked what it is tied to and is no longer there")
    situated = with_situations(marked)
    if situated != marked:
        group.reasons.append(f"{topic.path}: added the situations that it names")
    return situated


def _step(topic: Topic, was: Topic, group: _Group, drafted: str, texts: Mapping[str, str]) -> DreamStep | None:
    before = texts.get(topic.path)
    after = drafted if was == topic else render_topic(topic, drafted)
    gone = sorted(path for path in group.gone if path in texts)
    if after == before and not gone:
        return None
    kind = StepKind.merge if gone else StepKind.add if before is None else StepKind.edit
    return DreamStep(
        kind,
        "; ".join(dict.fromkeys(group.reasons)),
        {topic.path: before, **{path: texts[path] for path in gone}},
        {topic.path: after, **dict.fromkeys(gone)},
    )
