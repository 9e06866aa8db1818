"""The dream without a model: pure and deterministic; a second run finds nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from reverie.errors import Damaged
from reverie.memory.dream.contradictions import contradictions
from reverie.memory.dream.dead_anchors import with_broken_anchors
from reverie.memory.dream.duplicates import merge_duplicates
from reverie.memory.dream.likeness import Statements
from reverie.memory.dream.proposal import Contradiction, DreamStep, StepKind
from reverie.memory.dream.relative_dates import with_dates
from reverie.memory.topics.anchors import Anchor
from reverie.memory.topics.topic import Topic, parse_topic, render_topic
from reverie.values import value

MAX_TIDIED_CHARS = 200_000
"""Longer than anything that was written to be remembered; a file dropped there would keep a dream busy for minutes."""
ROUNDS = 100
"""Merging can make two topics alike that were not; it ends by itself, since every merge leaves one topic less."""


@value
class TidyContext:
    """What a dream must know besides the files."""

    day_of: Callable[[Topic], date | None] = lambda topic: topic.observed
    """The day on which a topic was written."""
    is_broken: Callable[[Anchor], bool] = lambda _anchor: False


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
        found = merge_duplicates(list(topics.values()), statements, changed)
        for merge in found:
            group = groups[merge.kept.path]
            for path in merge.gone:
                del topics[path]
                gone = groups.pop(path)
                group.gone += [path, *gone.gone]
                group.reasons += [*gone.reasons]
            group.reasons.append(merge.reason)
            topics[merge.kept.path] = _repair_topic(merge.kept, world, group)
        if not found:
            break
        changed = {merge.kept.path for merge in found}
    steps = (_step(topic, parsed[path], groups[path], drafted[path], texts) for path, topic in topics.items())
    return Tidied(tuple(step for step in steps if step), contradictions(list(topics.values())))


def tidy_after(texts: Mapping[str, str], steps: Sequence[DreamStep], world: TidyContext) -> Tidied:
    """These steps of somebody else, and what is to be tidied in the files as they would leave them, as one change.

    A step that goes on with a file of another becomes one with it, so that each file is changed once.
    """
    changed = {path: text for step in steps for path, text in step.after.items()}
    left = {path: text for path, text in {**texts, **changed}.items() if text is not None}
    found = tidy(left, world)
    joined = list(steps)
    for step in found.steps:
        touched = [each for each in joined if each.after.keys() & step.after.keys()]
        joined = [each for each in joined if each not in touched]
        joined.append(_one_step([*touched, step], texts))
    return Tidied(tuple(joined), found.contradictions)


def _one_step(steps: Sequence[DreamStep], texts: Mapping[str, str]) -> DreamStep:
    after = {path: text for step in steps for path, text in step.after.items()}
    # What one adds and the next merges away was never there.
    kept = {path: text for path, text in after.items() if text is not None or path in texts}
    before = {path: texts.get(path) for path in kept}
    kinds = {step.kind for step in steps}
    kind = next(
        (each for each in (StepKind.merge, StepKind.retire) if each in kinds and None in kept.values()),
        StepKind.add if not any(before.values()) else StepKind.edit,
    )
    written = {path: text for path, text in kept.items() if text is not None}
    return DreamStep(kind, "; ".join(step.reason for step in steps), before, {**written, **kept})


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
    return marked


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
