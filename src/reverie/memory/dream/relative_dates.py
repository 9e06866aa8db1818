"""Adds the date to relative words such as `tomorrow`, counted from the day of the topic.

Only what is known to be about a day: facts, not rules and habits (`never deploy on Friday` is about every Friday), and
not code or quotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from reverie.memory.extraction.dates import resolve_dates
from reverie.memory.topics.topic import MemoryType, Topic
from reverie.patterns import lazy_regex

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
    for kept in (_KEPT_IN_PAST if _PAST.search(line) else _KEPT).finditer(line):
        parts += [_resolve_dates(line[done : kept.start()], day), kept[0]]
        done = kept.end()
    return "".join([*parts, _resolve_dates(line[done:], day)])


def _resolve_dates(text: str, day: date) -> str:
    return resolve_dates(text, day).text if resolve_dates(text, None).is_relative else text
