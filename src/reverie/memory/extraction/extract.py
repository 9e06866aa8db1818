"""Extraction without a model over one session: finds candidates in each new message and applies the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reverie.files.secret_scan import redact
from reverie.memory.extraction.candidate import MemoryCandidate, RefusalReason, RefusedCandidate
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.gate import QUOTE_CHARS, ForeignText, GateContext, Passed, Verdicts, judge
from reverie.memory.extraction.session import SessionMessage, SessionWords
from reverie.memory.extraction.wording import reason_of, with_reason
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.topic import MemoryType, Topic, Trust
from reverie.values import value

HISTORY = 5
"""As many earlier words on a subject are kept below the newest."""
_BEFORE = "Before (said"


@value
class Extracted:
    """What one run over a session came to."""

    passed: tuple[Passed, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()


def extract(words: SessionWords, messages: Sequence[SessionMessage], scene: GateContext) -> Extracted:
    """What these messages of a session teach; `scene` says what is known and forbidden."""
    verdicts = Verdicts(scene.similarity)
    for each in messages:
        verdicts.judge(find_candidates(each.said), scene_at(words, each, scene))
    return Extracted(verdicts.passed, verdicts.refused)


def let_through(words: SessionWords, candidates: Sequence[MemoryCandidate], scene: GateContext) -> Extracted:
    """What a model proposes for a session, through the same gate."""
    verdicts = Verdicts(scene.similarity)
    by_id = {each.said.message: each for each in words.messages}
    for candidate in candidates:
        spoken = by_id.get(candidate.message)
        last = words.messages[-1] if words.messages else None
        place = spoken or last
        verdicts.judge([candidate], scene_at(words, place, scene) if place else scene)
    return Extracted(verdicts.passed, verdicts.refused)


def judge_written(
    topic: Topic, words: SessionWords, scene: GateContext, old: Topic | None = None
) -> RefusedCandidate | None:
    """Whether a fork may write this topic: the same gate, over the words that it gives as its source.

    A memory that quotes nothing is taken for the agent's own conclusion. Only what stood in the session before the
    quoted message can have been repeated in it; without one everything counts. What the file quoted before, as `old`,
    may be from other sessions; everything else must have been said in this one.
    """
    before = {source.quote for source in old.sources} if old is not None else set()
    quotes = [source.quote for source in topic.sources if source.quote and source.quote not in before]
    if old is not None and not quotes and (topic.description, topic.body) == (old.description, old.body):
        return None
    quote = next(iter(quotes), "") or topic.description
    candidate = MemoryCandidate(
        topic.type or MemoryType.project,
        topic.name,
        topic.description,
        topic.body,
        quote,
        "",
        trust=topic.trust or Trust.inferred,
        cue="model",
        observed=topic.observed or scene.today,
    )
    said = [ForeignText(each.said.text) for each in words.messages]
    place = next((each for each, heard in zip(words.messages, said, strict=True) if normal(quote) in heard.words), None)
    here = (
        replace(scene, injected=words.injected, foreign=words.foreign)
        if place is None
        else scene_at(words, place, scene)
    )
    verdict = judge(candidate, replace(here, said=said))
    if isinstance(verdict, RefusedCandidate):
        is_own_file = verdict.reason in {RefusalReason.known, RefusalReason.outdated} and verdict.known == topic.path
        if not is_own_file:
            return verdict
    unheard = next((each for each in quotes if not any(normal(each) in heard.words for heard in said)), None)
    return None if unheard is None else RefusedCandidate(RefusalReason.unfounded, redact(unheard)[:QUOTE_CHARS])


def scene_at(words: SessionWords, spoken: SessionMessage, scene: GateContext) -> GateContext:
    """What had been put into the session before a message: only that can have been repeated in it."""
    return replace(scene, injected=words.injected[: spoken.injected], foreign=words.foreign[: spoken.foreign])


def with_its_reason(old: Topic, new: Topic) -> Topic:
    """A topic with the reason that a newer word on it gives; its own words stay."""
    return replace(
        old,
        body=with_reason(old.body, reason_of(new.body)),
        sources=tuple(dict.fromkeys((*old.sources, *new.sources))),
    )


def brought_up_to_date(old: Topic, new: Topic) -> Topic:
    """A topic with a newer word on its subject: title and text are the new ones, the word before is kept below.

    The file keeps its name, so that links to it and its history hold.
    """
    paragraphs = old.body.split("\n\n")
    day = f" {old.observed.isoformat()}" if old.observed else ""
    history = [f"{_BEFORE}{day}): {paragraphs[0] or old.description}"]
    history += [each for each in paragraphs if each.startswith(_BEFORE)]
    return replace(
        new,
        path=old.path,
        body="\n\n".join([new.body, *history[:HISTORY]]),
        pinned=old.pinned,
        anchors=new.anchors or old.anchors,
        asks=new.asks or old.asks,
        about=old.about,
        sources=tuple(dict.fromkeys((*old.sources, *new.sources))),
        modified=old.modified,
        extra=old.extra,
    )
