"""What a dream wants to change: steps that stand or fall as a whole, kept on disk until somebody settles them.

A step names every file it touches with the text from which the dream began, so that it can be merged later with what
others did. No step removes a topic: `None` sends it to the archive.

How far a dream may go by itself is limited; whatever goes further waits for a person. Merging is not limited as long as
every word lives on in what is kept and the topics have a subject in common. Retiring is: few at once, nothing pinned,
nothing that the user said unless a newer word of theirs takes its place or the day until which it held has passed. An
edit that takes most of a text away counts too, and one that takes a number or a name from what the user said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from reverie.errors import Damaged
from reverie.files import remove_file, write_atomic
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.likeness import shares_subject, telling_words
from reverie.memory.search.analyze import terms
from reverie.memory.topics.topic import Topic, Trust, parse_topic
from reverie.values import value

_FILE = "proposal.json"
RETIRED_SHARE = 0.2
"""Of all topics, how many may be archived at once."""
KEPT_SHARE = 0.5
"""Of the words of a topic, how many an edit must keep."""


class StepKind(StrEnum):
    """What a step does."""

    merge = "merge"
    """Topics that say the same become one; the others are archived."""
    retire = "retire"
    """A topic is archived."""
    edit = "edit"
    add = "add"


@value
class DreamStep:
    """One change that makes sense only as a whole."""

    kind: StepKind
    reason: str
    before: Mapping[str, str | None]
    """Path → text when the dream began; None where there was no file."""
    after: Mapping[str, str | None]
    """The same paths → text; None archives the topic."""

    @property
    def archived(self) -> tuple[str, ...]:
        return tuple(path for path, text in self.after.items() if text is None)

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(path for path, text in self.after.items() if text is not None)


@value
class Contradiction:
    """Two memories that cannot both hold; only a person knows which does."""

    paths: tuple[str, str]
    """The newer one last, where that is known."""
    says: tuple[str, str]
    reason: str
    sources: tuple[str, str] = ("", "")
    """Where each comes from, for people: by whom, when, in which session."""


@value
class Proposal:
    """Everything that one dream came to."""

    made: datetime
    by: str
    """`embedded`, or the model that dreamt."""
    steps: tuple[DreamStep, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    over: tuple[str, ...] = ()
    """Why it needs a person's word; empty when it is within the limits."""
    refused: tuple[str, ...] = ()
    """What of a model's work was thrown away, and why."""
    logs: Mapping[str, int] = field(default_factory=dict)
    """How many bytes of each daily log it has taken in."""
    offered: Mapping[str, str] = field(default_factory=dict)
    """Topics for which the model was asked to write `asks`, each with the hash of its text."""

    def count(self, kind: StepKind) -> int:
        """How many topics go this way: those that are archived, by a merge or alone, else those written."""
        steps = [step for step in self.steps if step.kind is kind]
        is_archiving = kind in {StepKind.merge, StepKind.retire}
        return sum(len(step.archived if is_archiving else step.written) for step in steps)


def reason_of(steps: Iterable[DreamStep]) -> str:
    """The reason of a commit that makes these steps."""
    all_steps = tuple(steps)
    counts = {kind: sum(step.kind is kind for step in all_steps) for kind in StepKind}
    summary = ", ".join(f"{number} {kind.value}" for kind, number in counts.items() if number)
    return f"dream ({summary or 'index'})" + "".join(f"; {step.reason}" for step in all_steps)


def write_proposal(folder: MemoryFolder, proposal: Proposal) -> None:
    """Keep a proposal in the place of an earlier one."""
    row = {
        "made": proposal.made.isoformat(),
        "by": proposal.by,
        "steps": [_step_row(step) for step in proposal.steps],
        "contradictions": [
            {"paths": each.paths, "says": each.says, "reason": each.reason, "sources": each.sources}
            for each in proposal.contradictions
        ],
        "over": proposal.over,
        "refused": proposal.refused,
        "logs": dict(proposal.logs),
        "offered": dict(proposal.offered),
    }
    write_atomic(_place(folder), json.dumps(row, ensure_ascii=False))


def read_proposal(folder: MemoryFolder) -> Proposal | None:
    """The proposal that waits; None when there is none, or none that can be read."""
    try:
        row: dict[str, Any] = json.loads(_place(folder).read_bytes())
        return Proposal(
            made=datetime.fromisoformat(row["made"]),
            by=str(row["by"]),
            steps=tuple(
                DreamStep(StepKind(step["kind"]), str(step["reason"]), dict(step["before"]), dict(step["after"]))
                for step in row["steps"]
            ),
            contradictions=tuple(
                Contradiction(
                    tuple(each["paths"]), tuple(each["says"]), str(each["reason"]), tuple(each.get("sources", ("", "")))
                )
                for each in row["contradictions"]
            ),
            over=tuple(map(str, row["over"])),
            refused=tuple(map(str, row["refused"])),
            logs={str(day): int(size) for day, size in row["logs"].items()},
            offered={str(path): str(digest) for path, digest in row.get("offered", {}).items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def has_proposal(folder: MemoryFolder) -> bool:
    """Whether one waits, at the price of one look."""
    return _place(folder).exists()


def remove_proposal(folder: MemoryFolder) -> bool:
    """Let go of it; whether there was one."""
    return remove_file(_place(folder))


def remove_proposal_about(folder: MemoryFolder, paths: Iterable[str]) -> bool:
    """Let go of a proposal that quotes one of these topics, which are erased."""
    proposal = read_proposal(folder)
    gone = set(paths)
    if proposal is None and not has_proposal(folder):
        return False
    if proposal is not None and not any(gone & step.before.keys() for step in proposal.steps):
        quoted = {path for each in proposal.contradictions for path in each.paths}
        if not gone & quoted:
            return False
    return remove_proposal(folder)


def _place(folder: MemoryFolder) -> Path:
    return folder.state / _FILE


def _step_row(step: DreamStep) -> dict[str, Any]:
    return {
        "kind": step.kind.value,
        "reason": step.reason,
        "before": dict(step.before),
        "after": dict(step.after),
    }


def over_limits(
    steps: Sequence[DreamStep], topics: int, *, today: date | None = None, retired_share: float = RETIRED_SHARE
) -> tuple[str, ...]:
    """Why these steps need a person's word; empty when they do not. `topics` is how many there are.

    With `today`, what the user stated for a time that has passed may go.
    """
    reasons: list[str] = []
    retired = [path for step in steps for path in step.archived if not _lives_on(step, path)]
    if len(retired) > retired_share * topics:
        reasons.append(f"it would archive {len(retired)} of {topics} topics, more than {retired_share:.0%}")
    for step in steps:
        reasons += _of_step(step, today)
    return tuple(dict.fromkeys(reasons))


def _of_step(step: DreamStep, today: date | None) -> Iterator[str]:
    before, after = _topics(step.before), _topics(step.after)
    for path, topic in before.items():
        if path in step.archived:
            if topic.pinned and not any(each.pinned for each in after.values()):
                yield f"it would archive {path}, which is pinned"
            if topic.trust is Trust.said and not _is_followed(topic, after) and not _has_passed(topic, today):
                yield f"it would archive {path}, which the user stated, without a newer statement"
            if step.kind is StepKind.merge and not _has_kin(path, before):
                yield f"it would merge {path} with topics on another subject"
        elif path in after and not _is_kept(topic, after[path]):
            whose = "what the user stated from " if topic.trust is Trust.said else ""
            yield f"it would remove most of {whose}{path}"
        elif topic.trust is Trust.said and path in after and (lost := find_lost_facts(step, path)):
            yield f"it would remove {', '.join(lost)} from what the user stated in {path}"


def find_lost_facts(step: DreamStep, path: str) -> tuple[str, ...]:
    """The numbers, names and identifiers of a topic that no topic of the step says any more."""
    before, after = step.before.get(path), _topics(step.after)
    if before is None or not after:
        return ()
    old = _topics({path: before}).get(path)
    texts = [f"{each.name}\n{each.description}\n{each.body}" for each in after.values()]
    lost = telling_words(f"{old.description}\n{old.body}") if old is not None else frozenset()
    return tuple(sorted(lost - frozenset().union(*map(telling_words, texts))))


def _has_kin(path: str, before: Mapping[str, Topic]) -> bool:
    """Whether a topic that is merged shares its subject with another of those that it is merged with."""
    texts = {each: f"{topic.name}\n{topic.description}\n{topic.body}" for each, topic in before.items()}
    others = [text for each, text in texts.items() if each != path]
    return not others or any(shares_subject(texts[path], other) for other in others)


def _lives_on(step: DreamStep, path: str) -> bool:
    """Whether everything that an archived topic says stands in a topic of the same step."""
    old = _topics({path: step.before[path]}).get(path)
    return old is not None and any(_is_kept(old, each, 1.0) for each in _topics(step.after).values())


def _is_followed(topic: Topic, after: Mapping[str, Topic]) -> bool:
    """Whether another topic of the step holds the word on: the same words, or a newer statement of the user."""
    user_topics = [each for each in after.values() if each.trust is Trust.said]
    if any(_is_kept(topic, each, 1.0) for each in user_topics):
        return True
    day = topic.observed
    return any(each.observed is not None and day is not None and each.observed > day for each in user_topics)


def _has_passed(topic: Topic, today: date | None) -> bool:
    return topic.expires is not None and today is not None and topic.expires < today


def _is_kept(old: Topic, new: Topic, least: float = KEPT_SHARE) -> bool:
    before = set(terms(f"{old.description}\n{old.body}"))
    return not before or len(before & set(terms(f"{new.name}\n{new.description}\n{new.body}"))) >= least * len(before)


def _topics(texts: Mapping[str, str | None]) -> dict[str, Topic]:
    topics_by_path: dict[str, Topic] = {}
    for path, text in texts.items():
        try:
            if text is not None:
                topics_by_path[path] = parse_topic(path, text)
        except Damaged:
            continue
    return topics_by_path
