"""`Memory.learn`: extraction over transcripts that exist already, resumable and idempotent.

Each session is read after its cursor, judged by the gate and kept as one commit by `extraction`; then the cursor moves.
A kill in between leaves a store that reads the same messages again and finds them known. With a model its answers are
judged by the same gate; without one the rules find what they find.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import field, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Damaged, Refused, Unavailable, UserMistake
from reverie.hosts.catalogue import (
    is_session_path,
    list_sessions_below,
    read_any_entries,
    read_any_glance,
    read_stamp,
)
from reverie.memory.extraction.candidate import RefusedCandidate
from reverie.memory.extraction.cursor import cursor
from reverie.memory.extraction.extract import Extracted, extract
from reverie.memory.extraction.fork import manifest
from reverie.memory.extraction.keep import AUTHOR, Keeper, read_written
from reverie.memory.extraction.learnt import Learnt, append_learnt, append_run, read_learnt, write_shortened
from reverie.memory.extraction.model_extraction import Estimate, estimate_questions, extract_with_model
from reverie.memory.extraction.model_question import pieces
from reverie.memory.extraction.nothing_here import holds_nothing
from reverie.memory.extraction.refusals import read_refusals
from reverie.memory.extraction.session import SessionMessage, SessionWords, words_of
from reverie.memory.store import timeline
from reverie.memory.topics.draft import complete_topic
from reverie.memory.topics.topic import Topic
from reverie.values import value

if TYPE_CHECKING:
    from reverie.files.places.paths import MemoryFolder
    from reverie.memory.search.topic_index import IndexedFolder
    from reverie.memory.store.topic_store import Store
    from reverie.models.ports import Event, Model, Request
    from reverie.settings import BudgetSettings

_NOT_SESSIONS = frozenset({"subagents", "tool-results", "worktrees", "mailboxes", ".git", ".index", "node_modules"})

Progress = Callable[[int, int, str], None]
"""Told how many of how many sessions are done, and which one is next."""


@value
class LearnTarget:
    """Where what is learned goes."""

    store: Store
    index: IndexedFolder
    root: Path | None = None
    """The project, whose own files need no memory."""
    ledger: Path | None = None
    """Where calls of a model are booked."""
    budget: BudgetSettings | None = None
    """What they may cost in an hour; without one they may cost anything."""


@value
class Learned:
    """What a run over transcripts came to."""

    sessions: int = 0
    """How many were looked at."""
    messages: int = 0
    """How many of the user's messages were new."""
    saved: tuple[Topic, ...] = ()
    updated: tuple[Topic, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()
    commits: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """Sessions that could not be read or asked about, each with the reason; they are tried again next time."""
    estimate: Estimate = field(default_factory=Estimate)
    stopped: str = ""
    """Why no more was asked: the budget is spent. The next run goes on from there."""
    replies: int = 0
    """How many pieces of sessions a model was asked about."""
    unusable: tuple[str, ...] = ()
    """Why a model's reply could not be used, for each such reply; the rules read those messages instead."""

    def __add__(self, other: Learned) -> Learned:
        return Learned(
            self.sessions + other.sessions,
            self.messages + other.messages,
            self.saved + other.saved,
            self.updated + other.updated,
            self.refused + other.refused,
            self.commits + other.commits,
            self.failed + other.failed,
            self.estimate + other.estimate,
            self.stopped or other.stopped,
            self.replies + other.replies,
            self.unusable + other.unusable,
        )


def list_transcripts(paths: Iterable[str | Path]) -> tuple[Path, ...]:
    """The transcripts that files and folders hold, each once.

    In a folder, other files are passed over: those of sub-agents, and what programs keep there in lines of JSON.
    A session inside a database is a path below it, `opencode.db/ses_1`; naming the database names all of them.

    Raises:
        UserMistake: a path does not exist, or is no transcript.
    """
    transcripts: dict[Path, None] = {}
    for place in paths:
        path = Path(place).expanduser().absolute()
        if path.is_dir():
            transcripts |= dict.fromkeys(sorted(file for file in path.rglob("*.jsonl") if _is_session(file, path)))
            transcripts |= dict.fromkeys(file for file in list_sessions_below(path) if _has_messages(file))
        elif path.suffix == ".db" and path.is_file():
            transcripts |= dict.fromkeys(file for file in list_sessions_below(path) if _has_messages(file))
        elif is_session_path(path) and _has_messages(path):
            transcripts[path] = None
        else:
            what = "is not a transcript (a file with messages)" if path.exists() else "does not exist"
            raise UserMistake(f"{path} {what}; name transcripts or directories of transcripts")
    return tuple(transcripts)


async def learn(
    place: LearnTarget,
    paths: Iterable[str | Path],
    *,
    model: Model | None = None,
    dry_run: bool = False,
    now: datetime,
    zone: tzinfo | None = None,
    progress: Progress = lambda _done, _of, _name: None,
) -> Learned:
    """Learn from transcripts, the oldest session first; days are told in `zone`, this machine's when None.

    Cancelling is safe at any point: what was learned stays, and the next run goes on where this one ended. So it does
    where the budget of background work is spent, which is asked before every request to the model.
    """
    lesson = _Lesson(place, model, now, zone, dry_run=dry_run)
    files = sorted(list_transcripts(paths), key=_first_moment)
    total = Learned()
    for number, path in enumerate(files):
        progress(number, len(files), path.stem)
        await asyncio.sleep(0)
        done = await lesson.session(path)
        append_run(place.store.folder, now.isoformat(), done.commits)
        total += done
        if total.stopped:
            break
    progress(len(files), len(files), "")
    return total


def refusals_of(folder: MemoryFolder, now: datetime) -> Iterator[timeline.SaveRefusal]:
    """What extraction refused in a directory, as `Memory.refusals` tells it."""
    for each in read_refusals(folder):
        when = datetime.fromisoformat(each.when) if each.when else now
        rules = (each.reason.value, each.detail) if each.detail else (each.reason.value,)
        yield timeline.SaveRefusal(when, AUTHOR, "", rules, each.quote, each.session)


class _Lesson:
    """One run: what is known, and how a session is taken in."""

    def __init__(
        self, place: LearnTarget, model: Model | None, now: datetime, zone: tzinfo | None, *, dry_run: bool
    ) -> None:
        self._model = model and _wrap_with_ledger(model, place, now)
        self._zone = zone
        self._dry_run = dry_run
        self._folder = place.store.folder
        if not dry_run:
            write_shortened(self._folder)
        self._learnt = read_learnt(self._folder)
        complete = partial(complete_topic, now=now, root=place.root)
        self._keeper = Keeper(place.store, place.index, complete, now=now, written=tuple(read_written(place.root)))

    async def session(self, path: Path) -> Learned:
        """Take in one session."""
        key = _key(path)
        learnt = self._learnt.get(key)
        try:
            size = read_stamp(path).size_bytes
            if learnt is not None and learnt.size_bytes == size:
                return Learned(sessions=1)
            entries = read_any_entries(path)
        except (OSError, UserMistake, Damaged) as problem:
            return Learned(sessions=1, failed=((path.stem, str(problem)),))
        words = words_of(entries, _session_id(path, entries), self._zone)
        marked = words.after(cursor(entries).covers)
        fresh = words.after(learnt.last) if learnt else words.messages
        new = fresh if len(fresh) <= len(marked) else marked
        try:
            extracted, model_result = await self._extract_candidates(words, new)
        except Refused as spent:
            return Learned(sessions=1, stopped=str(spent))
        except Unavailable as problem:
            return Learned(sessions=1, failed=((path.stem, str(problem)),))
        done = replace(model_result, sessions=1, messages=len(new), refused=extracted.refused)
        if self._dry_run:
            return replace(done, saved=tuple(self._would_save(extracted)))
        result = self._keeper.keep(extracted)
        last = words.messages[-1].said.message if words.messages else ""
        append_learnt(self._folder, Learnt(key, last, len(words.messages), size))
        return replace(done, saved=result.saved, updated=result.updated, refused=result.refused, commits=result.commits)

    async def _extract_candidates(
        self, words: SessionWords, new: Sequence[SessionMessage]
    ) -> tuple[Extracted, Learned]:
        """What the new messages teach, and what asking a model came to."""
        messages = [each.said for each in new]
        if self._model is None:
            return extract(words, new, self._keeper.scene), Learned()
        if holds_nothing(messages):
            return Extracted(), Learned()
        listed = manifest(self._keeper.topics.values(), self._folder.directory)
        cut = tuple(pieces(messages))
        model_result = Learned(estimate=estimate_questions(self._model.name, cut, listed))
        if self._dry_run:
            return extract(words, new, self._keeper.scene), model_result
        extracted, problems = await extract_with_model(self._model, words, cut, self._keeper.scene, listed)
        return extracted, replace(model_result, replies=len(cut), unusable=problems)

    def _would_save(self, extracted: Extracted) -> Iterator[Topic]:
        for passed in extracted.passed:
            topic = replace(passed.candidate.topic(), path=passed.updates)
            self._keeper.scene.known.add(topic)
            yield topic


def _wrap_with_ledger(model: Model, place: LearnTarget, now: datetime) -> Model:
    """The model, with every answer written to the ledger, as long as the budget has room."""
    if place.ledger is None:
        return model
    from reverie.messages.message import Usage
    from reverie.models.ledger import Booked, Booking, Governor, append_booking, read_bookings
    from reverie.models.profiles import cost, profile
    from reverie.settings import BudgetSettings

    ledger, project = place.ledger, str(place.root or place.store.folder.directory)
    governor = Governor(place.budget or BudgetSettings(1.0, math.inf), lambda: now)
    for booking in read_bookings(ledger, since=now - timedelta(hours=1)):
        # Another run within the hour has spent of the same money; sessions have an hour of their own.
        if not booking.session:
            governor.note(booking)

    def book(
        purpose: str, model: str, usage: Usage, *, is_estimate: bool = False, cost_usd: float | None = None
    ) -> None:
        price = cost(usage, profile(model)) if cost_usd is None else cost_usd
        booking = Booking(now, "", project, purpose, model, usage, price, is_estimate=is_estimate)
        governor.note(booking)
        append_booking(ledger, booking)

    return _Within(Booked(model, book), governor.refuses)


class _Within:
    """A model that is not asked when the budget is spent."""

    def __init__(self, model: Model, refuses: Callable[[], str]) -> None:
        self._model = model
        self._refuses = refuses

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        spent = self._refuses()
        if spent:
            raise Refused(spent, by="budget")
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                yield event


def _is_session(file: Path, below: Path) -> bool:
    inside = file.relative_to(below).parts
    if not file.is_file() or file.name.startswith("agent-") or _NOT_SESSIONS.intersection(inside[:-1]):
        return False
    return _has_messages(file)


def _has_messages(file: Path) -> bool:
    """Whether a file holds a conversation; one that cannot be read may, and the run says why it was not read."""
    return (file.is_file() and not os.access(file, os.R_OK)) or read_any_glance(file) is not None


def _key(path: Path) -> str:
    """The name of a session among cursors: its id, which is its file's name; with its folder where that is no id."""
    return path.stem if path.stem.count("-") >= 4 else f"{path.parent.name}/{path.stem}"


def _session_id(path: Path, entries: Sequence[object]) -> str:
    envelopes = (getattr(entry, "envelope", None) for entry in entries)
    return next((each.session for each in envelopes if each is not None and each.session), path.stem)


def _first_moment(path: Path) -> tuple[str, str]:
    """When a session began, for the order; the text of its first time stamp sorts as the time does."""
    try:
        with path.open("rb") as file:
            head = file.read(65_536)
    except OSError:
        glance = read_any_glance(path)
        return glance.created if glance else "", str(path)
    stamp = head.partition(b'"timestamp":')[2].lstrip().lstrip(b'"')
    return stamp[:24].decode("ascii", "replace"), str(path)
