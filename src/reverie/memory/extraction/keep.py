"""Stores what passed the gate: one commit by `extraction` for new memories, an edit for a known subject.

A `Keeper` knows the store for the length of a run; `keep_new` is one run without a model over a session under way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Error, Refused
from reverie.files import read_small
from reverie.files.secret_scan import redact
from reverie.memory.extraction.candidate import RefusalReason, RefusedCandidate
from reverie.memory.extraction.extract import Extracted, brought_up_to_date, extract, with_its_reason
from reverie.memory.extraction.gate import QUOTE_CHARS, ForeignText, GateContext, Passed
from reverie.memory.extraction.known import KnownTopics
from reverie.memory.extraction.refusals import append_refusals
from reverie.memory.extraction.session import words_of
from reverie.memory.extraction.similarity import Similarity
from reverie.memory.store.erased_sentences import read_erased
from reverie.memory.topics.filenames import key_of
from reverie.memory.topics.topic import Topic
from reverie.messages.entries import Entry
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.search.topic_index import IndexedFolder
    from reverie.memory.store.change import Author
    from reverie.memory.store.topic_store import Store

AUTHOR: Author = "extraction"
_WRITTEN = ("CLAUDE.md", "AGENTS.md", "README.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "CONTRIBUTING.md")
_WRITTEN_BYTES = 400_000

Complete = Callable[[Topic], Topic]
"""Adds what a topic's text allows to derive: its day, situations, anchors."""


@value
class ExtractionResult:
    """What became of what passed."""

    saved: tuple[Topic, ...] = ()
    updated: tuple[Topic, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()
    commits: tuple[str, ...] = ()

    def __add__(self, other: ExtractionResult) -> ExtractionResult:
        return ExtractionResult(
            self.saved + other.saved,
            self.updated + other.updated,
            self.refused + other.refused,
            self.commits + other.commits,
        )


class Keeper:
    """Writes what extraction found, and remembers what it wrote."""

    def __init__(
        self,
        store: Store,
        index: IndexedFolder,
        complete: Complete,
        *,
        now: datetime,
        written: Sequence[ForeignText] = (),
    ) -> None:
        self._store = store
        self._index = index
        self._complete = complete
        self._now = now
        index.sweep()
        self.topics = {each.topic.path: each.topic for each in index.topics()}
        similarity = Similarity(index.embedder)
        self.scene = GateContext(
            known=KnownTopics.of(self.topics.values(), similarity),
            similarity=similarity,
            written=written,
            is_erased=read_erased(store.history.private).covers,
            today=now.date(),
        )

    def keep(self, extracted: Extracted) -> ExtractionResult:
        """Write what passed, and down what did not."""
        by_name = {key_of(topic.name): path for path, topic in self.topics.items()}
        new: dict[str, Topic] = {}
        result = ExtractionResult(refused=extracted.refused)
        for passed in extracted.passed:
            topic = self._complete(passed.candidate.topic())
            # A title that is taken is the same subject, unless the texts tell two things of one kind apart.
            path = passed.updates or by_name.get(key_of(topic.name), "")
            is_other = not passed.updates and self.scene.known.is_other_thing(passed.candidate, path)
            if path in self.topics and not is_other:
                result += self._update_topic(path, topic, passed)
            else:
                name = _free_name(topic.name, {*new, *by_name})
                new[key_of(name)] = replace(topic, name=name)
        done = self._save_topics(list(new.values())) + result
        append_refusals(self._store.folder, done.refused, self._now)
        return done

    def _save_topics(self, topics: list[Topic]) -> ExtractionResult:
        if not topics:
            return ExtractionResult()
        session = topics[0].sources[0].session
        reason = f"learn {len(topics)} memor{'y' if len(topics) == 1 else 'ies'} from a session"
        try:
            _, commit = self._store.save_many(topics, author=AUTHOR, reason=reason, session=session)
        except Refused as problem:
            if len(topics) == 1:
                return ExtractionResult(refused=(_to_refusal(topics[0], problem),))
            return sum((self._save_topics([topic]) for topic in topics), ExtractionResult())
        for topic in topics:
            path = self._index.find_path_by_name(topic.name)
            if path is not None:
                self._knows(replace(topic, path=path))
        return ExtractionResult(saved=tuple(topics), commits=(commit,) if commit else ())

    def _update_topic(self, path: str, topic: Topic, passed: Passed) -> ExtractionResult:
        try:
            done = self._store.edit(
                path,
                partial(with_its_reason if passed.adds_reason else brought_up_to_date, new=topic),
                author=AUTHOR,
                reason=f"{'say why' if passed.adds_reason else 'bring up to date'}: {topic.name}",
                session=passed.candidate.session or None,
                sources=topic.sources,
            )
        except Refused as problem:
            return ExtractionResult(refused=(_to_refusal(topic, problem),))
        self._knows(done.topic)
        return ExtractionResult(updated=(done.topic,), commits=(done.commit,) if done.commit else ())

    def _knows(self, topic: Topic) -> None:
        self.topics[topic.path] = topic
        self.scene.known.add(topic)


def keep_new(
    keeper: Keeper, entries: Sequence[Entry], *, after: str | None, session: str, zone: tzinfo | None = None
) -> ExtractionResult:
    """Extract without a model from what the user said after an entry of a session, and keep it.

    `zone` is where the session is held, this machine's when None.
    """
    words = words_of(entries, session, zone)
    ids = [getattr(getattr(entry, "envelope", None), "uuid", None) for entry in entries]
    start = len(ids) - ids[::-1].index(after) if after in ids else 0
    later = set(ids[start:])
    new = [each for each in words.messages if each.said.message in later]
    return keeper.keep(extract(words, new, keeper.scene))


def read_written(root: Path | None) -> Iterator[ForeignText]:
    """What the repository says by itself, in its instruction files; nobody needs a memory of it."""
    if root is None:
        return
    for name in _WRITTEN:
        try:
            content = read_small(root / name, limit_bytes=_WRITTEN_BYTES)
        except (OSError, Error):
            continue
        if content:
            yield ForeignText(content.decode("utf-8", "replace"))


def _free_name(name: str, taken: Collection[str]) -> str:
    spellings = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 3)))
    return next(each for each in spellings if key_of(each) not in taken)


def _to_refusal(topic: Topic, problem: Refused) -> RefusedCandidate:
    """What the store itself would not take, though the gate let it through."""
    source = topic.sources[0]
    reason = {"erase": RefusalReason.erased, "duplicate": RefusalReason.known, "polarity": RefusalReason.unfounded}.get(
        problem.by, RefusalReason.secret
    )
    return RefusedCandidate(
        reason, redact(source.quote or "")[:QUOTE_CHARS], source.message or "", source.session or ""
    )
