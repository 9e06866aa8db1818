"""Computes the ranking features of each candidate: words, neighbours, type and vector against the query.

Pure functions over rows that `database.py` read; `rank.py` weighs what is measured here. The measures and their
constants were chosen on the development splits by `bench/recall` with cross-validation over cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date

from reverie.memory.index_file import FIELDS
from reverie.memory.search.analyze import QueryText
from reverie.memory.search.database import FIELD_WEIGHTS, LINE_FIELDS, DocumentRow
from reverie.memory.search.document import Reasons
from reverie.values import value

_WEIGHT_OF = dict(zip(FIELDS, FIELD_WEIGHTS, strict=True))
_BEFORE_BODY = tuple((name, _WEIGHT_OF[name]) for name in LINE_FIELDS)
_BODY = ("body", _WEIGHT_OF["body"])
_SATURATION = 0.9
"""BM25's k1: how fast a repeated word stops adding."""
_LENGTH_SHARE = 0.3
"""BM25's b: how much a long text is discounted."""
SYNONYM_WORTH = 0.6
_REACH = 3
"""How many neighbours on each side explain a unit."""
_NEAR = tuple((side * distance, 0.4 * 0.6 ** (distance - 1)) for distance in range(1, _REACH + 1) for side in (-1, 1))
"""Steps to a neighbour, and how much its words count."""
_JOINT_SATURATION = 1.5
"""A word that a unit has and its neighbours have too counts once, nearly."""
_JOINTLY = 1 + _JOINT_SATURATION
_SPEAKER_WORTH = 2.5
NAME_WORTH = 0.5
"""A name that says who speaks is in every second line of the talk; in the text it counts half."""
_PERSONAL_SHARE = 0.08
_DAYS_AFTER = 10.0
"""How soon after a day people stop speaking of it."""
_BEFORE_WORTH = 0.3
"""Of a day to come people speak less than of one that has passed."""
_NO_REASONS = Reasons()


@value
class WeighedQuery:
    """What the query asks for, weighed by this store."""

    text: QueryText
    weights: Mapping[str, float]
    """Term → how telling it is here; names that say who speaks are apart in `names`."""
    stands_for: Mapping[str, tuple[str, float]]
    """Term to look for → (the query's term, how much it is worth): the terms themselves, synonyms, corrections."""
    names: frozenset[str]
    total: float
    """The sum of all weights, also of terms that the store does not have."""
    mean_length: float
    mean_passage: float


@dataclass(slots=True)
class Candidate:
    """One document that may answer a query: its row, what was measured of it, and in the end score and reasons."""

    row: DocumentRow
    found: dict[str, float]
    """Query term → its saturated frequency here."""
    fields: dict[str, set[str]]
    passage: float = 0.0
    pairs: int = 0
    speaks: bool = False
    values: dict[str, float] = field(default_factory=dict)
    """Feature → its value, which `rank.py` weighs."""
    score: float = 0.0
    """How likely this answers the query, from 0 to 1."""
    why: Reasons = _NO_REASONS

    @property
    def key(self) -> str:
        return self.row.key


def measure(rows: Sequence[DocumentRow], weighed: WeighedQuery) -> list[Candidate]:
    """Measure the candidates by their words, each in the light of its neighbours."""
    sought = _Sought(weighed)
    measured = [_measure_words(row, sought) for row in rows]
    places: dict[tuple[str | None, int], Candidate] = {
        (each.row.group, each.row.position): each for each in measured if each.row.group is not None
    }
    groups: dict[str, dict[str, float]] = {}
    for each in measured:
        if each.row.group is not None:
            best = groups.setdefault(each.row.group, {})
            for term, worth in each.found.items():
                best[term] = max(worth, best.get(term, 0.0))
    for each in measured:
        group, position = each.row.group, each.row.position
        if group is None:
            _fill(each, _weigh_jointly(each.found, (), weighed), None, _NOTHING, weighed)
            continue
        near = [(share, places[at].found) for step, share in _NEAR if (at := (group, position + step)) in places]
        before = places.get((group, position - 1))
        _fill(each, _weigh_jointly(each.found, near, weighed), before, groups[group], weighed)
    _fill_shares(measured)
    return measured


class _Sought:
    """What is looked for in every candidate, made once for all of them."""

    __slots__ = ("pairs", "terms", "wanted")

    def __init__(self, weighed: WeighedQuery) -> None:
        self.wanted = weighed
        # Between spaces, as in `DocumentRow.text`, and how far it is to the space that the next one may begin with.
        self.terms = tuple(
            (f" {term} ", len(term) + 1, meant, worth) for term, (meant, worth) in weighed.stands_for.items()
        )
        self.pairs = tuple(
            f"{first} {second}" for first, second in weighed.text.pairs if {first, second} <= weighed.stands_for.keys()
        )


def _measure_words(row: DocumentRow, sought: _Sought) -> Candidate:
    weighed, text = sought.wanted, row.text
    fields: dict[str, set[str]] = {}
    each = Candidate(row, {}, fields)
    if lines := _lines_with(text, sought):
        counts: dict[str, float] = {}
        passages: list[_Passage] = []
        number, counted = -len(LINE_FIELDS), 0
        for (start, end), here in sorted(lines.items()):
            number += text.count("\n", counted, start)
            counted = start
            if number < 0:
                name, weight = _BEFORE_BODY[number]
            else:
                name, weight = _BODY
                passages.append((number, here, start, end))
            if name in fields:
                fields[name].update(here)
            else:
                fields[name] = set(here)
            for meant, count in here.items():
                counts[meant] = counts.get(meant, 0.0) + weight * count
            if len(here) > 1:
                each.pairs = max(each.pairs, sum([text.find(pair, start, end) >= 0 for pair in sought.pairs]))
        each.found = _saturate(counts, row.length / weighed.mean_length)
        if passages and text.count("\n") > len(LINE_FIELDS):
            each.passage = _best_passage(text, passages, weighed)
    if weighed.names and (about := weighed.names.intersection(row.about.split())):
        each.speaks = True
        fields["about"] = set(about)
    return each


def _lines_with(text: str, sought: _Sought) -> dict[tuple[int, int], dict[str, float]]:
    """The lines of a text that have any term: where each begins and ends → the query's term → how often."""
    lines: dict[tuple[int, int], dict[str, float]] = {}
    find = text.find
    for term, step, meant, worth in sought.terms:
        at = find(term)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = find("\n", at)
            if end < 0:
                end = len(text)
            count = 0
            while 0 <= at < end:
                count += 1
                at = find(term, at + step)
            here = lines.setdefault((start, end), {})
            here[meant] = max(here.get(meant, 0.0), count * worth)
    return lines


def _saturate(counts: Mapping[str, float], relative_length: float) -> dict[str, float]:
    slack = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative_length)
    return {term: count / (count + slack) for term, count in counts.items()}


_Passage = tuple[int, dict[str, float], int, int]
"""A line of a body: its number, the query's term → how often, where it begins and ends."""


def _best_passage(text: str, passages: Sequence[_Passage], weighed: WeighedQuery) -> float:
    """The best score of a passage within a long text, its neighbours helping."""
    term_weights = {
        number: _saturate(here, (text.count(" ", start, end) - 1) / weighed.mean_passage)
        for number, here, start, end in passages
    }
    best = 0.0
    for number, _, start, _ in passages:
        near = (
            [(share, term_weights[at]) for step, share in _NEAR if (at := number + step) in term_weights]
            if len(term_weights) > 1
            else ()
        )
        score = _weigh_jointly(term_weights[number], near, weighed)
        if weighed.names and text[start + 1 : text.find(" ", start + 1)] in weighed.names:
            score += _SPEAKER_WORTH
        best = max(best, score)
    return best


def _weigh_jointly(
    term_weights: Mapping[str, float], neighbours: Sequence[tuple[float, Mapping[str, float]]], weighed: WeighedQuery
) -> float:
    """What the words of a unit and of its neighbours are worth together."""
    weights = weighed.weights
    score = 0.0
    if not neighbours:
        for term, worth in term_weights.items():
            score += weights[term] * (worth / (worth + _JOINT_SATURATION) * _JOINTLY)
        return score
    both = dict(term_weights)
    for share, other in neighbours:
        for term, worth in other.items():
            both[term] = both.get(term, 0.0) + share * worth
    return _weigh_jointly(both, (), weighed)


_NOTHING: Mapping[str, float] = {}


def _fill(
    each: Candidate, words: float, before: Candidate | None, group: Mapping[str, float], weighed: WeighedQuery
) -> None:
    row, text = each.row, weighed.text
    each.values = {
        "words": words,
        "coverage": 5 * words / weighed.total if weighed.total else 0.0,
        "passage": each.passage or words,
        "group": _weigh(group, weighed),
        "pairs": float(min(each.pairs, 3)),
        "about": 2.0 * each.speaks,
        "reply": before.row.asking * _weigh(before.found, weighed) if before else 0.0,
        "after_question": before.row.asking if before else 0.0,
        "asking": row.asking,
        "time": float(text.asks_when and bool(row.has_time)),
        "date": _date_match(row, text) if text.months or text.years else 0.0,
        "day": _day_match(row, text) if text.days else 0.0,
        "personal": min(1.0, row.personal / _PERSONAL_SHARE) if text.is_personal else 0.0,
        "titled": float(not text.proper.isdisjoint(each.fields.get("title", ()))),
        "length": math.log((row.length + 1) / (weighed.mean_length + 1)),
    }


def _weigh(term_weights: Mapping[str, float], weighed: WeighedQuery) -> float:
    return sum([weighed.weights[term] * worth for term, worth in term_weights.items()]) if term_weights else 0.0


def _fill_shares(measured: Sequence[Candidate]) -> None:
    """How near each comes to the best candidate: a long query reaches higher sums, but not a clearer winner."""
    for name, share in (("words", "words_share"), ("passage", "passage_share")):
        best = max([each.values[name] for each in measured], default=0.0)
        for each in measured:
            each.values[share] = each.values[name] / best if best > 0 else 0.0


def _date_match(row: DocumentRow, text: QueryText) -> float:
    if row.observed is None:
        return 0.0
    day = date.fromordinal(row.observed)
    return (day.month in text.months) + 0.3 * (day.year in text.years)


def _day_match(row: DocumentRow, text: QueryText) -> float:
    """How near a document was written to a day that the query names."""
    if row.observed is None:
        return 0.0
    return max(
        (_nearness(row.observed - day) for day in _possible_days(text, date.fromordinal(row.observed).year)),
        default=0.0,
    )


def _possible_days(text: QueryText, written: int) -> Iterator[int]:
    for year, month, day in text.days:
        for each in (year,) if year else (written - 1, written, written + 1):
            with suppress(ValueError):
                yield date(each, month, day).toordinal()


def _nearness(days_after: int) -> float:
    fading = math.exp(-abs(days_after) / _DAYS_AFTER)
    return fading if days_after >= 0 else _BEFORE_WORTH * fading
