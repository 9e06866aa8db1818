"""Extraction without a model over one session: finds candidates in each new message and applies the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reverie.memory.extraction.candidate import MemoryCandidate, RefusalReason, RefusedCandidate
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.gate import ForeignText, GateContext, Passed, Verdicts, judge
from reverie.memory.extraction.session import SessionMessage, SessionWords
from reverie.memory.extraction.wording import reason_of, with_reason
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.topic import MemoryType, Topic, Trust, parse_topic
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
    verdicts = Verdicts(scene.reader)
    for each in messages:
        verdicts.judge(find_candidates(each.said, scene.reader), scene_at(words, each, scene))
    return Extracted(verdicts.passed, verdicts.refused)


def let_through(words: SessionWords, candidates: Sequence[MemoryCandidate], scene: GateContext) -> Extracted:
    """What a model proposes for a session, through the same gate."""
    verdicts = Verdicts(scene.reader)
    by_id = {each.said.message: each for each in words.messages}
    for candidate in candidates:
        spoken = by_id.get(candidate.message)
        last = words.messages[-1] if words.messages else None
        place = spoken or last
        verdicts.judge([candidate], scene_at(words, place, scene) if place else scene)
    return Extracted(verdicts.passed, verdicts.refused)


def judge_written(path: str, text: str, words: SessionWords, scene: GateContext) -> RefusedCandidate | None:
    """Whether a fork may write this topic file: the same gate, over the words that the file gives as its source.

    A memory that quotes nothing is taken for the agent's own conclusion. Only what stood in the session before the
    quoted message can have been repeated in it; without one everything counts.
    """
    topic = parse_topic(path, text)
    quote = next((source.quote for source in topic.sources if source.quote), "") or topic.description
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
    foreign = [ForeignText(each.said.text) for each in words.messages]
    place = next(
        (each for each, heard in zip(words.messages, foreign, strict=True) if normal(quote) in heard.words), None
    )
    here = (
        replace(scene, injected=words.injected, foreign=words.foreign)
        if place is None
        else scene_at(words, place, scene)
    )
    verdict = judge(candidate, replace(here, said=foreign))
    if isinstance(verdict, Passed):
        return None
    is_own_file = verdict.reason in {RefusalReason.known, RefusalReason.outdated} and verdict.known == path
    return None if is_own_file else verdict


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
