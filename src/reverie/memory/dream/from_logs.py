"""Makes topics of daily logs without a model, by the rules of extraction.

The agent wrote these lines, so what comes of them is its conclusion (`inferred`) and never overrides the user's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime, time, tzinfo

from reverie.errors import Damaged
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.daily_logs import list_daily_logs, read_log_lines
from reverie.memory.dream.tidy import Draft
from reverie.memory.extraction.candidate import MemoryCandidate, UserMessage
from reverie.memory.extraction.extract import brought_up_to_date
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.gate import GateContext, Passed, Verdicts
from reverie.memory.extraction.known import KnownTopics
from reverie.memory.topics.filenames import file_name, path_key
from reverie.memory.topics.topic import Source, Topic, Trust, parse_topic, render_topic
from reverie.values import value


@value
class FromLogs:
    """What the logs came to."""

    drafts: Mapping[str, Draft] = field(default_factory=dict)
    read: Mapping[str, int] = field(default_factory=dict)
    """Day → how many bytes of its log have been taken in."""


def read_from_logs(
    folder: MemoryFolder, done: Mapping[str, int], texts: Mapping[str, str], zone: tzinfo | None
) -> FromLogs:
    """New and changed topics from what the logs say beyond what is `done`."""
    read: dict[str, int] = {}
    fresh = []
    for day, path in list_daily_logs(folder):
        lines, size = read_log_lines(path, done.get(day.isoformat(), 0))
        if size != done.get(day.isoformat(), 0):
            read[day.isoformat()] = size
            fresh.append((day, lines))
    if not fresh:
        return FromLogs()
    verdicts = Verdicts()
    topics = _topics(texts)
    scene = GateContext(known=KnownTopics.of(topics.values()))
    for day, lines in fresh:
        for line in lines:
            message = UserMessage("", line, when=datetime.combine(day, time(12), tzinfo=zone))
            verdicts.judge((_mark_inferred(each, day.isoformat()) for each in find_candidates(message)), scene)
    drafts: dict[str, Draft] = {}
    taken = {path_key(path) for path in texts}
    for passed in verdicts.passed:
        draft = _draft(passed, topics, texts, taken)
        if draft is not None:
            drafts[draft[0]] = draft[1]
            taken.add(path_key(draft[0]))
    return FromLogs(drafts, read)


def _mark_inferred(candidate: MemoryCandidate, day: str) -> MemoryCandidate:
    return replace(candidate, trust=Trust.inferred, session=f"log {day}")


def _draft(
    passed: Passed, topics: Mapping[str, Topic], texts: Mapping[str, str], taken: set[str]
) -> tuple[str, Draft] | None:
    candidate = passed.candidate
    topic = replace(candidate.topic(), sources=(Source(quote=candidate.quote),))
    if not passed.updates:
        path = file_name(topic.type, topic.name, taken)
        return path, Draft(render_topic(replace(topic, path=path)), f"{path}: learnt from the {candidate.session}")
    old = topics.get(passed.updates)
    if old is None or old.trust is Trust.said or old.pinned:
        return None
    text = render_topic(brought_up_to_date(old, topic), texts[old.path])
    return old.path, Draft(text, f"{old.path}: brought up to date from the {candidate.session}")


def _topics(texts: Mapping[str, str]) -> dict[str, Topic]:
    topics_by_path: dict[str, Topic] = {}
    for path, text in texts.items():
        try:
            topics_by_path[path] = parse_topic(path, text)
        except Damaged:
            continue
    return topics_by_path
