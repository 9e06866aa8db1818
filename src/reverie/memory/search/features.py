"""Computes what ranking knows of each candidate: words, situations, asks, type and age against one request.

Pure functions over rows that `database.py` read; `rank.py` weighs what is measured here, `bench.recall.fit` fits it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.memory.search.analyze import terms
from reverie.memory.search.database import FIELD_WEIGHTS, LINE_FIELDS, DocumentRow
from reverie.memory.search.document import Query, Reasons
from reverie.memory.search.query import WeighedQuery, find_lines, saturate
from reverie.memory.search.topic_table import when_from_row
from reverie.memory.topics.situations import Situation, matches

_MOST_FILE_WORDS = 12.0
_MOST_PAIRS = 3
_RIVAL = 5
"""A candidate is compared with the sixth best: what leads it stands out."""
_RECENT_DAYS = 180.0
_SHORT_WORDS = 4
_UNSPACED = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
"""Characters of scripts without spaces, of which two make a word, about."""
_ORDER = (
    r"(?:(?:please|pls|ok|okay|and|now|then|can you|could you|let's|just),? )*"
    r"(?:add|fix|write|make|change|update|run|create|remove|rename|move|commit|push|put|set|use|give|show|check|draft|"
    r"send|build|deploy|delete|turn|switch|let|try|find|explain|translate|plot|reply|answer|implement|refactor|"
    r"convert|replace|generate|merge|rebase|bump|clean|split|extract|wire|hook|document|review|test|debug)\b"
)
"""How a request begins that tells to do something."""
_GROUNDS = ("always", "file", "tool", "task", "word")
BY_WORDS_VERBATIM = ("words", "words_share", "words_lead", "coverage", "passage_share", "pairs", "length", "title")
BY_MEANING_VERBATIM = ("best_meaning", "best_meaning_lead")
"""What counts otherwise for a text that was kept as it was said."""
_NO_REASONS = Reasons()


@dataclass(slots=True)
class Candidate:
    """One document that may help with a request: its row, what was measured of it, and in the end score and reasons."""

    row: DocumentRow
    fields: dict[str, set[str]] = field(default_factory=dict)
    """Field → the terms of the query found there."""
    situation: tuple[str, ...] = ()
    """Why it applies in the present situation."""
    values: dict[str, float] = field(default_factory=dict)
    """Feature → its value."""
    similarity: float | None = None
    """Cosine of its nearest part with the request; None without vectors."""
    score: float = 0.0
    """How likely it helps, from 0 to 1."""
    why: Reasons = _NO_REASONS

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def has_asks(self) -> bool:
        return self.row.asks > 0


def measure(
    rows: Sequence[DocumentRow], weighed: WeighedQuery, query: Query, file_weights: Mapping[str, float]
) -> list[Candidate]:
    """Measure the candidates by everything but vectors."""
    pairs = tuple(
        f" {first} {second} " for first, second in weighed.text.pairs if {first, second} <= weighed.stands_for.keys()
    )
    situation = Situation(query.text, query.files, query.tools)
    of_request = _measure_request(query.text, weighed)
    candidates = []
    for row in rows:
        each = Candidate(row)
        _measure_words(each, weighed, pairs)
        _measure_files(each, file_weights)
        _measure_situation(each, situation)
        each.values["recent"] = _measure_age(row, query)
        each.values["use"] = math.log1p(min(9, query.uses.get(row.key, 0))) / math.log(10)
        each.values |= {"feedback": 0.0, "user": 0.0, "project": 0.0}
        if row.type in each.values:
            each.values[row.type] = 1.0
        each.values["has_asks"] = float(each.has_asks)
        each.values |= of_request
        candidates.append(each)
    for name in ("words", "passage", "ask", "situation"):
        compare(candidates, name)
    for each in candidates:
        add_verbatim(each, BY_WORDS_VERBATIM)
    return candidates


def add_verbatim(each: Candidate, names: Iterable[str]) -> None:
    """Repeat features for a text kept as it was said, which has no name or description to be found by."""
    if each.row.is_verbatim:
        each.values["verbatim"] = 1.0
        each.values |= {f"verbatim_{name}": each.values[name] for name in names}


def compare(candidates: Iterable[Candidate], name: str) -> None:
    """Add how near each comes to the best in a feature, and by how much it leads the sixth."""
    amounts = sorted((each.values[name] for each in candidates), reverse=True)
    best = amounts[0] if amounts else 0.0
    rival = amounts[_RIVAL] if len(amounts) > _RIVAL else 0.0
    for each in candidates:
        each.values[f"{name}_share"] = each.values[name] / best if best > 0 else 0.0
        each.values[f"{name}_lead"] = each.values[name] - rival


def _measure_request(text: str, weighed: WeighedQuery) -> dict[str, float]:
    """What of a request as a whole bears on whether any memory helps; the same for all candidates."""
    return {
        "request_terms": math.log1p(len(weighed.text.terms)),
        "request_short": float(len(text.split()) + _count_unspaced(text) // 2 <= _SHORT_WORDS),
        "request_known": weighed.known,
        "request_asks": float("?" in text or "？" in text),
        "request_orders": float(re.match(_ORDER, text, re.IGNORECASE) is not None),
    }


def _count_unspaced(text: str) -> int:
    return 0 if text.isascii() else len(re.findall(_UNSPACED, text))


def _measure_words(each: Candidate, weighed: WeighedQuery, pairs: Sequence[str]) -> None:
    row = each.row
    counts: dict[str, float] = {}
    best_line = 0.0
    side_by_side = 0
    best_ask = (0.0, 0.0)
    number = counted = 0
    first_passage = len(LINE_FIELDS) + row.asks
    for (start, end), here in sorted(find_lines(row.text, weighed.stands_for).items()):
        number += row.text.count("\n", counted, start)
        counted = start
        if number < len(LINE_FIELDS):
            name = LINE_FIELDS[number]
        else:
            name = "asks" if number < first_passage else "body"
        each.fields.setdefault(name, set()).update(here)
        if name == "asks":
            best_ask = max(best_ask, _measure_ask(row.text.count(" ", start, end) - 1, here, weighed))
            continue
        if len(here) > 1:
            side_by_side = max(side_by_side, sum([row.text.find(pair, start, end) >= 0 for pair in pairs]))
        if name == "situation":
            continue
        weight = FIELD_WEIGHTS[name]
        for meant, count in here.items():
            counts[meant] = counts.get(meant, 0.0) + weight * count
        if name == "body":
            length = (row.text.count(" ", start, end) - 1) / weighed.mean_passage
            best_line = max(best_line, _weigh(saturate(here, length), weighed))
    found = saturate(counts, row.length / weighed.mean_length)
    words = _weigh(found, weighed)
    own = [term for term in found if term not in weighed.context]
    total = weighed.total or 1.0
    coverage = sum(weighed.weights[term] for term in own) / total
    ask_likeness, ask = best_ask
    title = each.fields.get("title", set()) - weighed.context
    title_end = row.text.find("\n")
    title_terms = max(1, row.text.count(" ", 0, title_end) - 1)
    mean_weight = total / max(1, len(weighed.text.terms))
    each.values |= {
        "words": words,
        "coverage": coverage,
        "title": sum(weighed.weights[term] for term in title) / (title_terms * mean_weight),
        "passage": best_line or words,
        "pairs": float(min(side_by_side, _MOST_PAIRS)),
        "context": _measure_context(found, weighed),
        "length": math.log((row.length + 1) / (weighed.mean_length + 1)),
        "ask": ask,
        "ask_likeness": ask_likeness,
        "ask_coverage": ask / total,
        "situation": _weigh(dict.fromkeys(each.fields.get("situation", ()), 1.0), weighed),
        "best_coverage": max(coverage, ask / total),
    }


def _measure_ask(length: int, here: Mapping[str, float], weighed: WeighedQuery) -> tuple[float, float]:
    """How like the request one ask is (shared weight of all weight in either), and what it shares."""
    shared = sum(weighed.weights[term] * min(1.0, worth) for term, worth in here.items() if term not in weighed.context)
    total = weighed.total or 1.0
    mean_weight = total / max(1, len(weighed.text.terms))
    return shared / max(shared, total + length * mean_weight - shared, 1e-9), shared


def _measure_context(found: Mapping[str, float], weighed: WeighedQuery) -> float:
    """The share of what was said before that a document has."""
    if not weighed.context:
        return 0.0
    every = sum(weighed.weights[term] for term in weighed.context)
    return sum(weighed.weights[term] * worth for term, worth in found.items() if term in weighed.context) / every


def _weigh(worths: Mapping[str, float], weighed: WeighedQuery) -> float:
    context = weighed.context
    return sum([weighed.weights[term] * worth for term, worth in worths.items() if term not in context])


def file_terms(files: Iterable[str]) -> frozenset[str]:
    """The terms of the names of files, whole and in parts."""
    names = [part for file in files for part in (file, re.sub(r"[/._-]", " ", file))]
    return frozenset(terms(" ".join(names)))


def _measure_files(each: Candidate, weights: Mapping[str, float]) -> None:
    """How much of the names of the files in play the text names, and how much its situations and asks."""
    text, said, expected = each.row.text, 0.0, 0.0
    if weights:
        start = _line_start(text, len(LINE_FIELDS) - 1)
        end = _line_start(text, each.row.asks + 1, start)
        for term, weight in weights.items():
            look = f" {term} "
            if text.find(look, 0, start) >= 0 or text.find(look, end) >= 0:
                said += weight
            if text.find(look, start, end) >= 0:
                expected += weight
    each.values["file_words"] = min(said, _MOST_FILE_WORDS)
    each.values["file_situation"] = min(expected, _MOST_FILE_WORDS)


def _line_start(text: str, lines: int, start: int = 0) -> int:
    """Where the line begins that comes so many after the one at `start`."""
    for _ in range(lines):
        start = text.find("\n", start) + 1
    return start


def _measure_situation(each: Candidate, situation: Situation) -> None:
    row = each.row.situation
    reasons = matches(when_from_row(json.loads(row)), situation) if row is not None else ()
    kinds = {kind for kind, _ in reasons}
    each.situation = tuple(reason for kind, reason in reasons if kind != "always")
    each.values |= {f"in_{kind}": float(kind in kinds) for kind in _GROUNDS}


def _measure_age(row: DocumentRow, query: Query) -> float:
    if row.observed is None:
        return 0.0
    return float(0.5 ** (max(0, query.now.toordinal() - row.observed) / _RECENT_DAYS))


def measure_similarity(
    candidates: Sequence[Candidate],
    by_part: Mapping[int, tuple[float, float, float]],
    by_sentence: Mapping[int, float],
    usual: tuple[float, float],
) -> None:
    """Add the features of meaning: how far above the usual the cosines with text, ask and the nearest part are.

    `usual` is the mean and the spread of the cosines of all texts of the store with this request.
    """
    mean, spread = usual
    for each in candidates:
        title, text, ask = by_part.get(each.row.id, (mean, mean, 0.0))
        sentence = by_sentence.get(each.row.id, text)
        best = max(title, text, sentence, ask)
        each.values |= {
            "best_meaning": best,
            "text_meaning_lead": (text - mean) / spread,
            "ask_meaning_lead": (ask - mean) / spread if each.has_asks else 0.0,
            "best_meaning_lead": (best - mean) / spread,
        }
        each.similarity = best
        add_verbatim(each, BY_MEANING_VERBATIM)
