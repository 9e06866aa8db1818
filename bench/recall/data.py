"""Conversations saved as topics, and questions with the topics that answer them.

LoCoMo's sessions and observations, and LongMemEval's sessions, each a topic whose name is its first words. A question's
evidence comes in pieces; a piece is found when one of its topics is among the hits. A piece that no topic holds
(observations leave some facts out) counts as missed, so that no figure looks better than the memory is. LongMemEval
keeps one case per question: its haystack of sessions, of which those named `answer_…` are the evidence.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bench.figures import shared_data
from reverie import Topic
from reverie.memory.search.words import MONTHS
from reverie.memory.topics.value import MemoryType

CHAT_SETS = ("observation", "session", "longmemeval")
_NAME_WORDS = 8
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
    topics: dict[str, Topic]
    """By the key that evidence has."""
    questions: tuple[Question, ...]


def folder() -> Path:
    """Where the splits lie."""
    return shared_data() / "recall"


def recall(question: Question, hits: Sequence[str], limit: int = 5) -> float:
    """The share of a question's pieces of evidence that the first hits hold."""
    top = set(hits[:limit])
    return sum(not top.isdisjoint(piece) for piece in question.pieces) / len(question.pieces)


def read_chat_cases(name: str) -> list[Case]:
    """All cases of one set."""
    return list(_longmemeval() if name == "longmemeval" else _locomo(name))


def _locomo(name: str) -> Iterator[Case]:
    for case in _lines(f"locomo-{name}"):
        topics = {unit["id"]: _topic(unit["id"], unit["text"], unit["date"]) for unit in case["units"]}
        questions = tuple(
            Question(each["text"], each["category"], tuple(map(tuple, each["pieces"]))) for each in case["questions"]
        )
        yield Case(case["id"], topics, questions)


def _longmemeval() -> Iterator[Case]:
    texts = {session["id"]: session["text"] for session in _lines("longmemeval-sessions")}
    for each in _lines("longmemeval-questions"):
        # A haystack may name one session twice.
        topics = {key: _topic(key, texts[key], when) for key, when in dict(each["haystack"]).items()}
        pieces = tuple((key,) for key in topics if key.startswith("answer_"))
        yield Case(each["id"], topics, (Question(each["question"], each["type"], pieces),))


def _topic(key: str, text: str, when: str) -> Topic:
    """A text as a topic; its type is by lot, so that none stands for talk."""
    name = " ".join(text.split()[:_NAME_WORDS])
    path = f"{re.sub(r'[^a-z0-9]+', '-', key.lower())}.md"
    kind = list(MemoryType)[len(text) % len(MemoryType)]
    return Topic(path, name, "", kind, text, observed=_day(when))


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
