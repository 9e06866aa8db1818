"""Merges two edits of one topic: key by key in the front matter, line by line in the body.

Lists grow and shrink by what each side added or removed, dates take the later one; only a text that both sides rewrote
differently is a conflict. Which copy wins, or where the loser is kept, is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from reverie.errors import Damaged
from reverie.files.merge import Conflicted, MergedText, merge
from reverie.memory.topics.fields import FIELDS
from reverie.memory.topics.topic import Topic, parse_topic, render_topic
from reverie.values import value

_LISTS = {"anchors", "sources", "asks", "about"}
_LATEST = {"observed", "verified", "modified", "expires"}


@value
class TopicConflict:
    """What both sides changed, each in its own way."""

    keys: tuple[str, ...]
    """Names of keys; `body` for the text."""
    text: str
    """Both versions of the file between markers, for a person."""


def merge_topics(path: str, base: str, mine: str, theirs: str) -> MergedText | TopicConflict:
    """Merge three texts of one topic file; a file that is not a topic is merged as lines."""
    if mine == theirs or base in (mine, theirs):
        return MergedText(theirs if mine == base else mine)
    by_line = merge(base, mine, theirs)
    try:
        topics = [parse_topic(path, text) for text in (base, mine, theirs)]
    except Damaged:
        return by_line if isinstance(by_line, MergedText) else TopicConflict(("body",), by_line.text())
    fields, conflicts = _merge_fields(*topics)
    if conflicts:
        shown = by_line if isinstance(by_line, Conflicted) else merge("", mine, theirs)
        return TopicConflict(conflicts, shown.text() if isinstance(shown, Conflicted) else shown.text)
    merged = replace(topics[1], **fields)
    # A clean merge of lines keeps comments and order of both sides; it counts only if it says the same.
    if isinstance(by_line, MergedText) and _reads_as(path, by_line.text, merged):
        return by_line
    return MergedText(render_topic(merged, mine))


def _merge_fields(base: Topic, mine: Topic, theirs: Topic) -> tuple[dict[str, Any], tuple[str, ...]]:
    fields: dict[str, Any] = {}
    conflicts: list[str] = []
    for key in [field.key for field in FIELDS]:
        values = [getattr(topic, key) for topic in (base, mine, theirs)]
        chosen = _chosen(key, *values)
        fields[key] = values[1] if chosen is None else chosen[0]
        conflicts += [key] if chosen is None else []
    body = merge(base.body, mine.body, theirs.body)
    if isinstance(body, MergedText):
        fields["body"] = body.text
    else:
        conflicts.append("body")
    before, ours, others = (dict(topic.extra) for topic in (base, mine, theirs))
    extra: dict[str, str] = {}
    for key in ours | others:
        chosen = _chosen(key, before.get(key), ours.get(key), others.get(key))
        conflicts += [key] if chosen is None else []
        if chosen is not None and chosen[0] is not None:
            extra[key] = chosen[0]
    return {**fields, "extra": tuple(extra.items())}, tuple(conflicts)


def _chosen(key: str, base: Any, mine: Any, theirs: Any) -> tuple[Any] | None:
    """The merged value in a tuple; None when the sides disagree."""
    if mine == theirs or theirs == base:
        return (mine,)
    if mine == base:
        return (theirs,)
    if key in _LISTS:
        return (_merge_list(base, mine, theirs),)
    if key in _LATEST and mine is not None and theirs is not None:
        return (max(mine, theirs, key=_moment),)
    return None


def _moment(day: date | datetime) -> datetime:
    moment = day if isinstance(day, datetime) else datetime(day.year, day.month, day.day, tzinfo=UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _merge_list(base: Sequence[object], mine: Sequence[object], theirs: Sequence[object]) -> tuple[object, ...]:
    common = [item for item in base if item in mine and item in theirs]
    added = {item for item in (*mine, *theirs) if item not in base}
    return (*common, *sorted(added, key=repr))


def _reads_as(path: str, text: str, topic: Topic) -> bool:
    try:
        return parse_topic(path, text) == topic
    except Damaged:
        return False
