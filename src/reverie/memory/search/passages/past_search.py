"""Search in past sessions: a query in, passages out, with place, context and reason.

Joins the index, the sweep over the transcripts and the ranking; reads the text of the few hits from the
transcripts themselves, with secrets taken out. What is found is data: nothing here follows it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from reverie.memory.search.analyze import analyse_query, is_weak, terms
from reverie.memory.search.document import Reasons
from reverie.memory.search.passages.database import Filter, PassageDatabase, PassagePlace
from reverie.memory.search.passages.find import PassageFinder
from reverie.memory.search.passages.rank import RankedPassage
from reverie.memory.search.passages.texts import Texts
from reverie.memory.search.passages.update import Progress, SearchedTranscript, Swept, sweep
from reverie.values import value

_WORD = re.compile(r"[^\W_]+")
_AROUND_CHARS = 400
_WRITTEN, _NAMED, _PHRASE = 1.0, 2.5, 3.0
"""What the words as they are written, the names among them, and the query as a whole add to the ranking score."""
_NAME = re.compile(r"\w[_./:-]\w|[a-z][A-Z]")
"""A word that is made, not spoken: an identifier, a path, a version."""
_SPARE = 2
"""Hits asked for beyond the limit, as a factor: copies of one message in several files are shown once."""


@value
class PastQuery:
    """What to look for in past sessions."""

    text: str
    limit: int = 10
    session: str | None = None
    """Only sessions whose id begins so."""
    since: datetime | None = None
    roles: tuple[str, ...] = ()
    """Of `cutting.ROLES`; empty for all."""


@value
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
    """How much of the query it has, from 0 to 1."""
    path: Path
    part: int
    """Which passage of the message, from 0."""
    before: str
    """What was said just before, cut."""
    after: str
    why: Reasons


@value
class PastSearchResult:
    """The hits, best first, and in how much they were looked for."""

    hits: tuple[PastHit, ...]
    passages: int
    sessions: int


class PastSearch:
    """The past sessions of one project, ready to be searched. Safe to use from several threads."""

    def __init__(self, index: Path, list_transcripts: Callable[[], Iterable[SearchedTranscript]]) -> None:
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

    def search(self, query: PastQuery, *, now: datetime) -> PastSearchResult:
        """The passages that answer, best first; none when no telling word of the query is anywhere."""
        with self._lock:
            since = None if query.since is None else int(query.since.timestamp())
            only = Filter(query.session, since, query.roles)
            finder = PassageFinder(self._database, only, query.limit)
            every = finder.find(query.text, now.date())
            places = self._database.places([int(hit.key) for hit in every], only)
            asked_for = [hit for hit in every if int(hit.key) in places and _is_telling(hit, query.text)]
            scored = asked_for[: query.limit * _SPARE]
            scored += [hit for hit in asked_for[len(scored) :] if hit.key in finder.in_a_row]
            texts = Texts()
            ranked = _literally([(hit, places[int(hit.key)]) for hit in scored], query, texts)
            hits = tuple(self._hit(*each, texts) for each in _once(ranked, texts)[: query.limit])
            return PastSearchResult(hits, self._database.totals().documents, self._database.sessions())

    def _hit(self, scored: RankedPassage, place: PassagePlace, texts: Texts) -> PastHit:
        before = self._database.place_at(place.file, place.position - 1)
        after = self._database.place_at(place.file, place.position + 1)
        record = texts.read(place)
        return PastHit(
            session=place.session,
            message=record.message if record else "",
            when=record.when if record else "",
            role=place.role,
            text=texts.passage(place),
            score=round(scored.score, 4),
            path=Path(place.path),
            part=place.part,
            before=texts.passage(before, last=_AROUND_CHARS) if before else "",
            after=texts.passage(after, first=_AROUND_CHARS) if after else "",
            why=scored.why,
        )


def find_matched_words(text: str, words: Iterable[str]) -> frozenset[str]:
    """The words of a text, as they are written there, whose terms are among these."""
    term_set = frozenset(words)
    return frozenset(word for word in _WORD.findall(text) if not term_set.isdisjoint(terms(word)))


def _is_telling(hit: RankedPassage, query: str) -> bool:
    """Whether a hit has more than words that are in every request; where the query has no other, these count."""
    matched = {word for words in hit.why.words.values() for word in words}
    strong = [term for term in analyse_query(query).terms if not is_weak(term)]
    return bool(matched) if not strong else not matched.isdisjoint(strong)


def _literally(
    scored: list[tuple[RankedPassage, PassagePlace]], query: PastQuery, texts: Texts
) -> list[tuple[RankedPassage, PassagePlace]]:
    """Put forward what has the query's words as they are written: names, paths and messages are looked for so."""
    written = [word for word in query.text.split() if len(word) > 2]
    words = [word.casefold() for word in written]
    names = [word.casefold() for word in written if _NAME.search(word)]
    phrase = " ".join(query.text.casefold().split())
    ranked = []
    for hit, place in scored:
        text = " ".join(texts.read_passage(place).casefold().split())
        bonus = {
            "written": _WRITTEN * sum(word in text for word in words) / max(1, len(words)),
            "names": _NAMED * sum(name in text for name in names) / max(1, len(names)),
            "phrase": _PHRASE * (len(words) > 1 and phrase in text),
        }
        why = replace(hit.why, parts=hit.why.parts | {name: worth for name, worth in bonus.items() if worth})
        ranked.append((sum(why.parts.values()), replace(hit, why=why), place))
    ranked.sort(key=lambda each: -each[0])
    scores = sorted((hit.score for hit, _ in scored), reverse=True)
    return [(replace(hit, score=score), place) for score, (_, hit, place) in zip(scores, ranked, strict=True)]


def _once(ranked: list[tuple[RankedPassage, PassagePlace]], texts: Texts) -> list[tuple[RankedPassage, PassagePlace]]:
    """Without copies: the same record in a fork of the session, and the same words again."""
    unique = []
    shown: set[tuple[str, str]] = set()
    for hit, place in ranked:
        record, text = texts.read(place), texts.read_passage(place)
        if record is None or not text:
            continue
        copies = {(record.message, str(place.part)), ("", " ".join(text.split()))}
        if shown.isdisjoint(copies):
            unique.append((hit, place))
        shown |= copies
    return unique
