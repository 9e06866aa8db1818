"""Orders passages of talk: by their words, by what was said around them, and by the day that a query names.

The weights were fitted on conversations (`bench/NOTES.md`). Nothing is left out here: whoever searches past sessions
wants to see what there is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from operator import itemgetter
from typing import NamedTuple

from reverie.memory.search.document import Reasons
from reverie.memory.search.query import WeighedQuery, find_lines, saturate
from reverie.memory.search.words import MONTHS
from reverie.values import value

WEIGHTS: dict[str, float] = {
    "words": -0.06, "coverage": 0.54, "passage": 0.1, "group": 0.32, "pairs": 0.41, "reply": 0.82,
    "after_question": 0.35, "asking": -0.21, "date": 4.31, "day": 5.83, "length": 0.05, "words_share": 1.5,
    "passage_share": 1.85,
}  # fmt: skip
_RECENT = 0.4
"""What a passage of today has before one of long ago: it orders what is about equally relevant."""
_RECENT_DAYS = 90.0
_REACH = 3
"""How many neighbours on each side explain a passage."""
_NEAR = tuple((side * distance, 0.4 * 0.6 ** (distance - 1)) for distance in range(1, _REACH + 1) for side in (-1, 1))
"""Steps to a neighbour, and how much its words count."""
_JOINT_SATURATION = 1.5
"""A word that a passage has and its neighbours have too counts once, nearly."""
_JOINTLY = 1 + _JOINT_SATURATION
_DAYS_AFTER = 10.0
"""How soon after a day people stop speaking of it."""
_BEFORE_WORTH = 0.3
"""Of a day to come people speak less than of one that has passed."""
_MOST_PAIRS = 3
_FULL_COVERAGE = 5.0
"""What `coverage` is for a passage that has all words of the query."""
_YEAR = r"(?:19|20)\d\d"
_NO_REASONS = Reasons()


class PassageRow(NamedTuple):
    """A passage as ranking reads it; a tuple, since a query makes a hundred of them."""

    id: int
    key: str
    group: str
    """The file that it lies in."""
    position: int
    observed: int | None
    """Day number, as `date.toordinal`."""
    length: int
    asking: float
    """The share of its characters that stand in questions."""
    text: str
    """Its terms, each between spaces, a line for each of its own."""


@dataclass(slots=True)
class RankedPassage:
    """One passage that may answer a query: its row, what was measured of it, and in the end score and reasons."""

    row: PassageRow
    found: dict[str, float]
    """Query term → its saturated frequency here."""
    best_line: float = 0.0
    pairs: int = 0
    values: dict[str, float] = field(default_factory=dict)
    score: float = 0.0
    """How much of the query it has, from 0 to 1."""
    why: Reasons = _NO_REASONS

    @property
    def key(self) -> str:
        return self.row.key


@value
class QueryDates:
    """The dates that a query names."""

    months: frozenset[int]
    years: frozenset[int]
    days: frozenset[tuple[int, int, int]]
    """Named in full or without their year, which is then 0: (year, month, day)."""


def rank_passages(rows: Sequence[PassageRow], weighed: WeighedQuery, text: str, today: date) -> list[RankedPassage]:
    """The passages in their order, best first."""
    dates = find_dates(text)
    measured = measure(rows, weighed, dates)
    query_terms = frozenset(weighed.text.terms)
    scored: list[tuple[float, RankedPassage]] = []
    for each in measured:
        parts = {name: WEIGHTS[name] * amount for name, amount in each.values.items() if amount}
        if each.row.observed is not None:
            days = max(0, today.toordinal() - each.row.observed)
            parts["recency"] = _RECENT * 0.5 ** (days / _RECENT_DAYS)
        words = tuple(sorted(query_terms.intersection(each.found)))
        each.why = Reasons(words={"body": words} if words else {}, corrected=dict(weighed.corrected), parts=parts)
        each.score = min(1.0, each.values["coverage"] / _FULL_COVERAGE)
        scored.append((sum(parts.values()), each))
    scored.sort(key=lambda entry: (-entry[0], entry[1].row.key))
    return list(map(itemgetter(1), scored))


def measure(rows: Sequence[PassageRow], weighed: WeighedQuery, dates: QueryDates) -> list[RankedPassage]:
    """Measure the passages by their words, each in the light of its neighbours."""
    pairs = tuple(
        f" {first} {second} " for first, second in weighed.text.pairs if {first, second} <= weighed.stands_for.keys()
    )
    measured = [_measure_words(row, weighed, pairs) for row in rows]
    places = {(each.row.group, each.row.position): each for each in measured}
    groups: dict[str, dict[str, float]] = {}
    for each in measured:
        best = groups.setdefault(each.row.group, {})
        for term, worth in each.found.items():
            best[term] = max(worth, best.get(term, 0.0))
    for each in measured:
        group, position = each.row.group, each.row.position
        near = [(share, places[at].found) for step, share in _NEAR if (at := (group, position + step)) in places]
        words = _weigh_jointly(each.found, near, weighed)
        before = places.get((group, position - 1))
        each.values = {
            "words": words,
            "coverage": _FULL_COVERAGE * words / weighed.total if weighed.total else 0.0,
            "passage": each.best_line or words,
            "group": _weigh(groups[group], weighed),
            "pairs": float(min(each.pairs, _MOST_PAIRS)),
            "reply": before.row.asking * _weigh(before.found, weighed) if before else 0.0,
            "after_question": before.row.asking if before else 0.0,
            "asking": each.row.asking,
            "date": _match_date(each.row, dates) if dates.months or dates.years else 0.0,
            "day": _match_day(each.row, dates) if dates.days else 0.0,
            "length": math.log((each.row.length + 1) / (weighed.mean_length + 1)),
        }
    # How near each comes to the best: a long query reaches higher sums, but not a clearer winner.
    for name in ("words", "passage"):
        most = max((each.values[name] for each in measured), default=0.0)
        for each in measured:
            each.values[f"{name}_share"] = each.values[name] / most if most > 0 else 0.0
    return measured


def _measure_words(row: PassageRow, weighed: WeighedQuery, pairs: Sequence[str]) -> RankedPassage:
    each = RankedPassage(row, {})
    lines = find_lines(row.text, weighed.stands_for)
    if not lines:
        return each
    counts: dict[str, float] = {}
    numbered: list[tuple[int, dict[str, float], int, int]] = []
    number = counted = 0
    for (start, end), here in sorted(lines.items()):
        number += row.text.count("\n", counted, start)
        counted = start
        numbered.append((number, here, start, end))
        for meant, count in here.items():
            counts[meant] = counts.get(meant, 0.0) + count
        if len(here) > 1:
            each.pairs = max(each.pairs, sum([row.text.find(pair, start, end) >= 0 for pair in pairs]))
    each.found = saturate(counts, row.length / weighed.mean_length)
    if "\n" in row.text:
        each.best_line = _weigh_best_line(row.text, numbered, weighed)
    return each


def _weigh_best_line(
    text: str, numbered: Sequence[tuple[int, dict[str, float], int, int]], weighed: WeighedQuery
) -> float:
    """The best score of a line within a long passage, its neighbours helping."""
    worths = {
        number: saturate(here, (text.count(" ", start, end) - 1) / weighed.mean_passage)
        for number, here, start, end in numbered
    }
    return max(
        _weigh_jointly(own, [(share, worths[at]) for step, share in _NEAR if (at := number + step) in worths], weighed)
        for number, own in worths.items()
    )


def _weigh_jointly(
    own: Mapping[str, float], neighbours: Sequence[tuple[float, Mapping[str, float]]], weighed: WeighedQuery
) -> float:
    """What the words of a text and of its neighbours are worth together."""
    both = dict(own)
    for share, other in neighbours:
        for term, worth in other.items():
            both[term] = both.get(term, 0.0) + share * worth
    return sum(weighed.weights[term] * (worth / (worth + _JOINT_SATURATION) * _JOINTLY) for term, worth in both.items())


def _weigh(worths: Mapping[str, float], weighed: WeighedQuery) -> float:
    return sum(weighed.weights[term] * worth for term, worth in worths.items())


def find_dates(text: str) -> QueryDates:
    """The months, years and days that a query names."""
    words = set(re.findall(r"[^\W_]+", text.lower()))
    months = frozenset(
        number
        for number, month in enumerate(MONTHS, start=1)
        if month in words and (month != "may" or re.search(r"\bMay\b", text))
    )
    years = frozenset(int(year) for year in re.findall(_YEAR, text))
    return QueryDates(months, years, frozenset(_find_days(text)) if months else frozenset())


def _find_days(text: str) -> Iterator[tuple[int, int, int]]:
    month = f"(?P<month>{'|'.join(MONTHS)})"
    day, year = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b", r"(?:,? (?P<year>\d{4}))?"
    for pattern in (rf"\b{day}(?: of)? {month}{year}", rf"\b{month} {day}{year}"):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            yield int(match["year"] or 0), MONTHS.index(match["month"].lower()) + 1, int(match["day"])


def _match_date(row: PassageRow, dates: QueryDates) -> float:
    if row.observed is None:
        return 0.0
    day = date.fromordinal(row.observed)
    return (day.month in dates.months) + 0.3 * (day.year in dates.years)


def _match_day(row: PassageRow, dates: QueryDates) -> float:
    """How near a passage was written to a day that the query names."""
    if row.observed is None:
        return 0.0
    written = date.fromordinal(row.observed).year
    nearness = [0.0]
    for year, month, day in dates.days:
        for each in (year,) if year else (written - 1, written, written + 1):
            with suppress(ValueError):
                after = row.observed - date(each, month, day).toordinal()
                nearness.append(math.exp(-abs(after) / _DAYS_AFTER) * (1.0 if after >= 0 else _BEFORE_WORTH))
    return max(nearness)
