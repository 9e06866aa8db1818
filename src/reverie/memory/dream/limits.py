"""How far a dream may go by itself; whatever goes further waits for a person.

Merging is not limited as long as every word lives on in what is kept. Retiring is: few at once, nothing pinned, nothing
that the user said unless a newer word of theirs takes its place. An edit that takes most of a text away counts too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reverie.errors import Damaged
from reverie.memory.dream.proposal import DreamStep
from reverie.memory.search.analyze import terms
from reverie.memory.topics.topic import Topic, Trust, parse_topic

RETIRED_SHARE = 0.2
"""Of all topics, how many may be retired at once."""
KEPT_SHARE = 0.5
"""Of the words of something the user said, how many an edit must keep."""


def over_limits(steps: Sequence[DreamStep], topics: int, *, retired_share: float = RETIRED_SHARE) -> tuple[str, ...]:
    """Why these steps need a person's word; empty when they do not. `topics` is how many there are."""
    reasons: list[str] = []
    retired = [path for step in steps for path in step.archived if not _lives_on(step, path)]
    if len(retired) > retired_share * topics:
        reasons.append(f"it would retire {len(retired)} of {topics} topics, more than {retired_share:.0%}")
    for step in steps:
        reasons += _of_step(step)
    return tuple(dict.fromkeys(reasons))


def _of_step(step: DreamStep) -> Iterator[str]:
    before, after = _topics(step.before), _topics(step.after)
    for path, topic in before.items():
        if path in step.archived:
            if topic.pinned and not any(kept.pinned for kept in after.values()):
                yield f"it would retire {path}, which is pinned"
            if topic.trust is Trust.said and not _is_followed(topic, after):
                yield f"it would retire {path}, which the user said, without a newer word of theirs"
        elif topic.trust is Trust.said and path in after and not _is_kept(topic, after[path]):
            yield f"it would take most of what the user said out of {path}"


def _lives_on(step: DreamStep, path: str) -> bool:
    """Whether everything that an archived topic says stands in a topic of the same step."""
    old = _topics({path: step.before[path]}).get(path)
    return old is not None and any(_is_kept(old, kept, 1.0) for kept in _topics(step.after).values())


def _is_followed(topic: Topic, after: Mapping[str, Topic]) -> bool:
    """Whether another topic of the step holds the word on: the same words, or a newer statement of the user."""
    said = [kept for kept in after.values() if kept.trust is Trust.said]
    if any(_is_kept(topic, kept, 1.0) for kept in said):
        return True
    day = topic.observed
    return any(kept.observed is not None and day is not None and kept.observed > day for kept in said)


def _is_kept(old: Topic, new: Topic, least: float = KEPT_SHARE) -> bool:
    before = set(terms(f"{old.description}\n{old.body}"))
    return not before or len(before & set(terms(f"{new.name}\n{new.description}\n{new.body}"))) >= least * len(before)


def _topics(texts: Mapping[str, str | None]) -> dict[str, Topic]:
    found: dict[str, Topic] = {}
    for path, text in texts.items():
        try:
            if text is not None:
                found[path] = parse_topic(path, text)
        except Damaged:
            continue
    return found
