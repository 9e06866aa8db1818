"""The development splits as cases: documents to index and questions with the units that answer them.

A question's evidence comes in pieces; a piece is found when one of its units is among the hits. A piece that no unit
holds (observations leave some facts out) counts as missed, so that no figure looks better than the memory is.
LongMemEval keeps one case per question: its haystack of sessions, of which those named `answer_…` are the evidence.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from reverie.memory.search.document import SearchDocument
from reverie.memory.search.words import MONTHS

SETS = ("observation", "session", "turn", "longmemeval")
NOW = datetime(2026, 1, 1)
_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[3] / "shared" / "data"
_SPOKEN_DATE = re.compile(r"(\d+) (\w+), (\d{4})")
_WRITTEN_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its evidence: pieces, each the keys of units that hold it."""

    text: str
    category: str
    pieces: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One store and what is asked of it."""

    name: str
    documents: tuple[SearchDocument, ...]
    questions: tuple[Question, ...]


def folder() -> Path:
    """Where the splits lie."""
    return Path(os.environ.get("REVERIE_SHARED_DATA", _BESIDE_THE_PROJECT)) / "recall"


def read_cases(name: str) -> list[Case]:
    """All cases of one set."""
    return list(_longmemeval() if name == "longmemeval" else _locomo(name))


def _locomo(name: str) -> Iterator[Case]:
    for case in _lines(f"locomo-{name}"):
        documents = tuple(
            SearchDocument(
                key=unit["id"],
                body=unit["text"],
                name=unit["title"],
                about=tuple(unit["speaker"].split(", ")),
                observed=_day(unit["date"]),
                # A session stands for itself; turns and observations are parts of one.
                group=None if name == "session" else unit["group"],
                position=unit["pos"],
            )
            for unit in case["units"]
        )
        questions = tuple(
            Question(each["text"], each["category"], tuple(map(tuple, each["pieces"]))) for each in case["questions"]
        )
        yield Case(case["id"], documents, questions)


def _longmemeval() -> Iterator[Case]:
    texts = {session["id"]: session["text"] for session in _lines("longmemeval-sessions")}
    for each in _lines("longmemeval-questions"):
        # A haystack may name one session twice.
        sessions = dict(each["haystack"])
        documents = tuple(
            SearchDocument(key=key, body=texts[key], observed=_day(when)) for key, when in sessions.items()
        )
        pieces = tuple((key,) for key in sessions if key.startswith("answer_"))
        yield Case(each["id"], documents, (Question(each["question"], each["type"], pieces),))


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(folder() / f"{name}.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _day(text: str) -> date | None:
    if found := _WRITTEN_DATE.match(text):
        return date(*map(int, found.groups()))
    if found := _SPOKEN_DATE.search(text):
        return date(int(found[3]), MONTHS.index(found[2].lower()) + 1, int(found[1]))
    return None
