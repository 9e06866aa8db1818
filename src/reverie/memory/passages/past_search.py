"""Search in past sessions: from a question to passages with their place, their surroundings and the reason.

Joins the index, the sweep over the transcripts and the engine of `search`; reads the text of the few hits from the
transcripts themselves, with secrets taken out. What is found is data: nothing here follows it.
"""

from __future__ import annotations

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

_AROUND_CHARS = 400
_SCANNED_CHARS = 6_000
"""How far around a passage secrets are looked for: a key may begin before it and end after it."""
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
            hits: list[PastHit] = []
            shown: set[tuple[str, str]] = set()
            for each in scored:
                place = places.get(int(each.key))
                hit = self._hit(each, place) if place else None
                if hit is None or not shown.isdisjoint(_copies(hit)):
                    continue
                shown.update(_copies(hit))
                hits.append(hit)
                if len(hits) == query.limit:
                    break
            return Found(tuple(hits), self._database.totals().documents, self._database.sessions())

    def _hit(self, scored: Scored, place: Place) -> PastHit | None:
        said = _read(place)
        text = None if said is None else _passage(said, place.part)
        if said is None or text is None:
            return None
        before = self._beside(place, -1)
        after = self._beside(place, +1)
        return PastHit(
            session=place.session,
            message=said.message,
            when=said.when,
            role=place.role,
            text=text,
            score=round(scored.score, 4),
            path=Path(place.path),
            part=place.part,
            before=before if len(before) <= _AROUND_CHARS else f"…{before[-_AROUND_CHARS:].lstrip()}",
            after=after if len(after) <= _AROUND_CHARS else f"{after[:_AROUND_CHARS].rstrip()}…",
            why=scored.why,
        )

    def _beside(self, place: Place, step: int) -> str:
        other = self._database.place_at(place.file, place.position + step)
        said = _read(other) if other else None
        return (_passage(said, other.part) or "") if said and other else ""


def matched_words(text: str, words: Iterable[str]) -> frozenset[str]:
    """The words of a text, as they are written there, whose terms are among these."""
    wanted = frozenset(words)
    written = {word for piece in text.split() for word in _pieces(piece)}
    return frozenset(word for word in written if not wanted.isdisjoint(terms(word)))


def _pieces(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text).split()


def _is_telling(hit: Scored, query: str) -> bool:
    """Whether a hit has more than words that are in every request; where the query has no other, these count."""
    found = {word for words in hit.why.words.values() for word in words}
    strong = [term for term in analyse_query(query).terms if not is_weak(term)]
    return bool(found) if not strong else not found.isdisjoint(strong)


def _copies(hit: PastHit) -> set[tuple[str, str]]:
    """What makes a second hit a copy: the same record in a fork of the session, or the same words again."""
    return {(hit.message, str(hit.part)), ("", " ".join(hit.text.split()))}


def _read(place: Place) -> Spoken | None:
    """The record again; None when the transcript changed since."""
    try:
        with Path(place.path).open("rb") as file:
            file.seek(place.start)
            return spoken(decode_line(file.read(place.bytes)))
    except OSError:
        return None


def _passage(said: Spoken, part: int) -> str | None:
    """One passage of a record, without the secrets that it, or a longer stretch around it, holds."""
    pieces = cut(said.text)
    if part >= len(pieces):
        return None
    start = sum(map(len, pieces[:part]))
    end = start + len(pieces[part])
    first = max(0, start - _SCANNED_CHARS)
    clean, done = [], start
    for finding in scan(said.text[first : end + _SCANNED_CHARS]):
        opens, closes = max(start, first + finding.start), min(end, first + finding.end)
        if opens < closes:
            clean += [said.text[done:opens], f"[secret: {finding.rule}]"]
            done = closes
    return "".join([*clean, said.text[done:end]]).strip()
