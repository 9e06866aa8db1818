"""Search in past sessions: from a question to passages with their place, their surroundings and the reason.

Joins the index, the sweep over the transcripts and the engine of `search`; reads the text of the few hits from the
transcripts themselves, with secrets taken out. What is found is data: nothing here follows it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.memory.passages.cutting import Spoken, cut, spoken
from reverie.memory.passages.database import Filter, PassageDatabase, Place
from reverie.memory.passages.finding import PassageIndex
from reverie.memory.passages.indexing import Progress, Swept, Transcript, sweep
from reverie.memory.search.analyze import analyse_query, is_weak, terms
from reverie.memory.search.document import Query, Scored, Why
from reverie.messages.records import decode_line
from reverie.secret_scan import scan

_WORD = re.compile(r"[^\W_]+")
_AROUND_CHARS = 400
_SCANNED_BEFORE, _SCANNED_AFTER = 4_000, 500
"""How far around a passage secrets are looked for: the longest keys begin that far before their end."""
_SPARE = 3
"""Hits asked for beyond the limit, as a factor: copies of one message in several files are shown once."""


@dataclass(frozen=True, slots=True)
class PastQuery:
    """What to look for in past sessions."""

    text: str
    limit: int = 10
    session: str | None = None
    """Only sessions whose id begins so."""
    since: datetime | None = None
    roles: tuple[str, ...] = ()
    """Of `cutting.ROLES`; empty for all."""


@dataclass(frozen=True, slots=True)
class PastHit:
    """One passage of a past session."""

    session: str
    message: str
    """The id of the record."""
    when: str
    """As the transcript has it."""
    role: str
    text: str
    score: float
    """How likely this answers, from 0 to 1."""
    path: Path
    part: int
    """Which passage of the message, from 0."""
    before: str
    """What was said just before, cut."""
    after: str
    why: Why


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first, and in how much they were looked for."""

    hits: tuple[PastHit, ...]
    passages: int
    sessions: int


class PastSearch:
    """The past sessions of one project, ready to be searched. Safe to use from several threads."""

    def __init__(self, index: Path, list_transcripts: Callable[[], Iterable[Transcript]]) -> None:
        self._index = index
        self._list_transcripts = list_transcripts
        self._lock = threading.RLock()
        self._database = PassageDatabase(index)

    def close(self) -> None:
        """Let go of the index file."""
        with self._lock:
            self._database.close()

    def sweep(self, *, anew: bool = False, progress: Progress = lambda _done, _of: None) -> Swept:
        """Bring the index up to the transcripts; `anew` reads them all again."""
        with self._lock:
            if anew:
                self._database.clear()
            return sweep(self._database, self._list_transcripts(), progress)

    def search(self, query: PastQuery, *, now: datetime) -> Found:
        """The passages that answer, best first; none when no telling word of the query is anywhere."""
        with self._lock:
            since = None if query.since is None else int(query.since.timestamp())
            only = Filter(query.session, since, query.roles)
            asked = Query(query.text, now, limit=query.limit * _SPARE, abstains=False)
            scored = [hit for hit in PassageIndex(self._database, only).search(asked) if _is_telling(hit, query.text)]
            places = self._database.places([int(hit.key) for hit in scored], only)
            records = _Records()
            hits: list[PastHit] = []
            shown: set[tuple[str, str]] = set()
            for each in scored:
                place = places.get(int(each.key))
                said = records.read(place) if place else None
                text = records.passage(place) if place else ""
                if place is None or said is None or not text:
                    continue
                copies = {(said.message, str(place.part)), ("", " ".join(text.split()))}
                if shown.isdisjoint(copies):
                    hits.append(self._hit(each, place, said, text, records))
                shown |= copies
                if len(hits) == query.limit:
                    break
            return Found(tuple(hits), self._database.totals().documents, self._database.sessions())

    def _hit(self, scored: Scored, place: Place, said: Spoken, text: str, records: _Records) -> PastHit:
        before = self._database.place_at(place.file, place.position - 1)
        after = self._database.place_at(place.file, place.position + 1)
        return PastHit(
            session=place.session,
            message=said.message,
            when=said.when,
            role=place.role,
            text=text,
            score=round(scored.score, 4),
            path=Path(place.path),
            part=place.part,
            before=records.passage(before, last=_AROUND_CHARS) if before else "",
            after=records.passage(after, first=_AROUND_CHARS) if after else "",
            why=scored.why,
        )


class _Records:
    """The records that hold the hits of one search, read once each, and their passages without secrets."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int], Spoken | None] = {}

    def read(self, place: Place) -> Spoken | None:
        """The record of a passage; None when the transcript changed since."""
        key = place.path, place.start
        if key not in self._read:
            self._read[key] = _read(place)
        return self._read[key]

    def passage(self, place: Place, *, first: int | None = None, last: int | None = None) -> str:
        """The text of a passage, or so many characters from one end of it; empty when it is gone."""
        said = self.read(place)
        pieces = cut(said.text) if said else []
        if said is None or place.part >= len(pieces):
            return ""
        start = sum(map(len, pieces[: place.part]))
        end = start + len(pieces[place.part])
        from_ = start if last is None else max(start, end - last)
        to = end if first is None else min(end, start + first)
        text = _without_secrets(said.text, from_, to).strip()
        return f"{'…' if from_ > start else ''}{text}{'…' if to < end else ''}"


def matched_words(text: str, words: Iterable[str]) -> frozenset[str]:
    """The words of a text, as they are written there, whose terms are among these."""
    wanted = frozenset(words)
    return frozenset(word for word in _WORD.findall(text) if not wanted.isdisjoint(terms(word)))


def _is_telling(hit: Scored, query: str) -> bool:
    """Whether a hit has more than words that are in every request; where the query has no other, these count."""
    found = {word for words in hit.why.words.values() for word in words}
    strong = [term for term in analyse_query(query).terms if not is_weak(term)]
    return bool(found) if not strong else not found.isdisjoint(strong)


def _read(place: Place) -> Spoken | None:
    try:
        with Path(place.path).open("rb") as file:
            file.seek(place.start)
            return spoken(decode_line(file.read(place.bytes)))
    except OSError:
        return None


def _without_secrets(text: str, start: int, end: int) -> str:
    """A stretch of a text without the secrets in it, also those that begin before it or end after it."""
    first = max(0, start - _SCANNED_BEFORE)
    clean, done = [], start
    for finding in scan(text[first : end + _SCANNED_AFTER]):
        opens, closes = max(start, first + finding.start), min(end, first + finding.end)
        if opens < closes:
            clean += [text[done:opens], f"[secret: {finding.rule}]"]
            done = closes
    return "".join([*clean, text[done:end]])
