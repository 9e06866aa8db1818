"""What a dream may archive without a model: a memory whose end has long passed, and one that a newer word replaces.

Of two memories that contradict each other the older one goes only where both are the user's own words and the newer
one, of a later day, says itself that something changed (`from now on`, `any more`). Every other contradiction is for a
person to decide and is only reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from reverie.memory.dream.contradictions import first_statement
from reverie.memory.dream.proposal import Contradiction, DreamStep, StepKind
from reverie.memory.topics.age import KEPT_DAYS_AFTER
from reverie.memory.topics.topic import Topic, Trust
from reverie.patterns import lazy_regex

_CHANGE = lazy_regex(
    r"\b(?:from (?:now|today|this \w+) on|as of (?:now|today)|any ?more|no longer|any longer|ab (?:jetzt|heute|sofort)"
    r"|künftig|nicht mehr|kein\w* mehr)\b|从现在起|从今以后|今后|不再|今後|これから",
    re.IGNORECASE,
)


def find_retired(
    topics: Mapping[str, Topic], texts: Mapping[str, str], contradictions: Sequence[Contradiction], today: date | None
) -> Iterator[DreamStep]:
    """A step for each memory that has had its time; `texts` are the files as they are to be."""
    gone: set[str] = set()
    for each in contradictions:
        old, new = (topics[path] for path in each.paths)
        if not gone & set(each.paths) and is_replaced(old, new):
            gone.add(old.path)
            reason = f"{old.path} is archived: {new.path} says otherwise since {new.observed}"
            texts_before = {old.path: texts[old.path], new.path: texts[new.path]}
            yield DreamStep(StepKind.retire, reason, texts_before, {old.path: None, new.path: texts[new.path]})
    for path, topic in topics.items():
        if path not in gone and not topic.pinned and is_past(topic, today):
            reason = f"{path} is archived: it held until {topic.expires}"
            yield DreamStep(StepKind.retire, reason, {path: texts[path]}, {path: None})


def is_replaced(old: Topic, new: Topic) -> bool:
    """Whether the newer of two memories that contradict each other says that it takes the place of the older."""
    return (
        old.trust is new.trust is Trust.said
        and not old.pinned
        and old.observed is not None
        and new.observed is not None
        and old.observed < new.observed
        and bool(_CHANGE.search(first_statement(new.body.strip() or new.description)))
    )


def is_past(topic: Topic, today: date | None) -> bool:
    """Whether the last day of a memory passed so long ago that it explains nothing any more."""
    return today is not None and topic.expires is not None and (today - topic.expires).days > KEPT_DAYS_AFTER
