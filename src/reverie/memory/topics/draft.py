"""Builds a topic from what a caller gives: sources, date, situations, anchors; and updates a topic by a newer draft."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TypeAlias

from reverie.errors import Refused, UserMistake
from reverie.memory.topics.anchors import (
    Anchor,
    Ask,
    CommitAnchor,
    FileAnchor,
    SymbolAnchor,
    UrlAnchor,
    describe_anchor,
    read_anchors,
)
from reverie.memory.topics.polarity import keep_as_said
from reverie.memory.topics.situations import When, derive_when, parse_when
from reverie.memory.topics.topic import MemoryType, Source, Topic, Trust, parse_topic
from reverie.memory.topics.value import ASK_CHARS, MAX_ASKS

Given: TypeAlias = Source | str | Iterable[Source] | None
"""Where a memory comes from: sources, or simply the words it rests on."""


def sources_of(sources: Given) -> tuple[Source, ...]:
    """The sources of a memory as values."""
    if sources is None:
        return ()
    if isinstance(sources, str):
        return (Source(quote=sources),)
    return (sources,) if isinstance(sources, Source) else tuple(sources)


def draft_topic(
    name: str,
    description: str,
    kind: str | MemoryType | None,
    body: str,
    *,
    trust: str | Trust,
    source: Given = None,
    when: When | Iterable[str] = (),
    asks: Iterable[str] = (),
    observed: date | None = None,
) -> Topic:
    """The topic that a caller describes.

    Raises:
        UserMistake: the name is empty, type or trust is none of ours, or the asks are too many or too long.
    """
    for what, value in (("name", name), ("description", description), ("body", body)):
        if not isinstance(value, str):
            raise UserMistake(f"the {what} of a memory must be a string, not {type(value).__name__}")
    if not name.strip():
        raise UserMistake("a memory needs a name: one short line that says what it is about")
    if not (description.strip() or body.strip()):
        raise UserMistake(f"the memory {name!r} is empty; add a description or a body")
    kinds, levels = [each.value for each in MemoryType], [each.value for each in Trust]
    if kind is not None and kind not in kinds:
        raise UserMistake(f"{kind!r} is not a memory type; use one of {', '.join(kinds)}")
    if trust not in levels:
        raise UserMistake(f"{trust!r} is not a trust level; use one of {', '.join(levels)}")
    if observed is not None and not isinstance(observed, date):
        raise UserMistake(f"observed={observed!r} must be a date, not {type(observed).__name__}")
    topic = Topic(
        "",
        name,
        description,
        MemoryType(kind) if kind else None,
        body,
        Trust(trust),
        observed.date() if isinstance(observed, datetime) else observed,
        when=when if isinstance(when, When) else parse_when(_check_texts("when", when)),
        asks=_check_texts("asks", asks),
        sources=sources_of(source),
    )
    check_asks(topic)
    return topic


def _check_texts(what: str, values: Iterable[str]) -> tuple[str, ...]:
    """The texts that a caller gave; one alone need not stand in a list."""
    texts = (values,) if isinstance(values, str) else tuple(values)
    for text in texts:
        if not isinstance(text, str):
            raise UserMistake(f"{what} of a memory must be strings, not {type(text).__name__}")
    return texts


def check_asks(topic: Topic, old: Topic | None = None) -> None:
    """Refuse more or longer asks than are useful, except those that a file has already.

    Raises: `UserMistake`.
    """
    old_asks = old.asks if old is not None else ()
    if topic.asks == old_asks:
        return
    if len(topic.asks) > MAX_ASKS:
        raise UserMistake(f"{topic.name!r} has {len(topic.asks)} asks; a memory may have up to {MAX_ASKS}")
    for ask in topic.asks:
        if len(ask) > ASK_CHARS and ask not in old_asks:
            raise UserMistake(
                f"an ask of {topic.name!r} has {len(ask)} characters; use one line of at most {ASK_CHARS}: {ask[:40]}…"
            )


def complete_topic(topic: Topic, now: datetime, root: Path | None, has_commit: Ask | None = None) -> Topic:
    """The topic with what its text allows to derive: the day, the situations, the anchors. What is said stays."""
    text = f"{topic.name}\n{topic.description}\n{topic.body}"
    if root is None:
        anchors = topic.anchors
    elif topic.anchors:
        anchors = tuple(_with_hash(anchor, root) for anchor in topic.anchors)
    else:
        anchors = read_anchors(text, root, has_commit=has_commit)
    return replace(
        topic,
        observed=topic.observed or now.date(),
        trust=topic.trust or Trust.inferred,
        when=topic.when or derive_when(topic.name, topic.description, topic.body, topic.type),
        anchors=anchors,
    )


def complete_agent_topic(topic: Topic, old: Topic | None, source: Source, *, is_judged: bool) -> Topic:
    """A topic that an agent wrote as a file, with what it must say besides: its source, and whose word it is.

    Words of the user are such only where the agent left them as they were, or where `is_judged` says that somebody has
    compared the quote with the conversation.

    Raises: `Refused` when it does not say what it quotes.
    """
    before = old or Topic(topic.path)
    is_same = (before.description, before.body) == (topic.description, topic.body)
    trust = before.trust if is_same or before.trust is Trust.seen else topic.trust
    sources = dict.fromkeys((*before.sources, *topic.sources))
    if not any(each.session for each in topic.sources if each not in before.sources):
        sources[source] = None
    topic = replace(
        topic,
        trust=Trust.inferred if trust is Trust.said and not (is_same or is_judged) else trust,
        observed=topic.observed or before.observed,
        sources=tuple(sources),
    )
    complete = topic if is_same else keep_as_said(topic)
    if complete != topic and not is_judged:
        raise Refused(f"{topic.name!r} was not saved: it contradicts the text it quotes", by="polarity")
    return topic if old is not None else complete


def parse_anchor(text: str) -> Anchor:
    """The anchor that a person types: a path, `path#symbol`, a commit or a URL, read as front matter reads it."""
    anchors = parse_topic("anchor.md", f"---\nanchors: [{json.dumps(text)}]\n---\n").anchors
    if not anchors:
        raise UserMistake(f"{text!r} is not an anchor; use a path, path#symbol, a commit or a URL")
    return anchors[0]


def _with_hash(anchor: Anchor, root: Path) -> Anchor:
    """A file with the hash it has now, so that a later change can be told."""
    if not isinstance(anchor, FileAnchor) or anchor.sha256 is not None:
        return anchor
    current = read_anchors(anchor.path, root)
    return next((each for each in current if isinstance(each, FileAnchor) and each.path == anchor.path), anchor)


def update_topic(old: Topic, update: Topic, complete: Callable[[Topic], Topic]) -> Topic:
    """An existing topic brought up to date: what only the old one has stays.

    `update` is the new one before `complete` derives anything: what a person put into the old one is not lost to that.
    """
    new = complete(
        replace(
            update,
            path=old.path,
            type=update.type or old.type,
            body=update.body or old.body,
            pinned=old.pinned or update.pinned,
            expires=update.expires or old.expires,
            asks=update.asks or old.asks,
            about=update.about or old.about,
            when=update.when or find_stated_when(old),
            sources=tuple(dict.fromkeys((*old.sources, *update.sources))),
            modified=old.modified,
            extra=old.extra,
        )
    )
    return new if update.anchors else replace(new, anchors=(*new.anchors, *_anchors_by_hand(old, new)))


def find_stated_when(topic: Topic) -> When | None:
    """The situations that somebody gave a topic; None where they are those that its own text names."""
    return None if topic.when == derive_when(topic.name, topic.description, topic.body, topic.type) else topic.when


def _anchors_by_hand(old: Topic, new: Topic) -> list[Anchor]:
    """The anchors of a topic that its own text does not name and the new one does not have."""
    text = f"{old.name}\n{old.description}\n{old.body}"
    described = {describe_anchor(anchor) for anchor in new.anchors}
    return [
        anchor for anchor in old.anchors if _target(anchor) not in text and describe_anchor(anchor) not in described
    ]


def _target(anchor: Anchor) -> str:
    match anchor:
        case FileAnchor(path):
            return path
        case SymbolAnchor(name):
            return name
        case CommitAnchor(commit):
            return commit
        case UrlAnchor(url):
            return url


def check_trust(topic: Topic) -> None:
    """Refuse to make an instruction of what was only seen."""
    if topic.trust is Trust.seen and topic.type in {MemoryType.user, MemoryType.feedback}:
        raise Refused(
            f"{topic.name!r} was not saved: text from a file, a page or a tool result cannot become a "
            f"{topic.type} memory; the user may save it with `reverie save`",
            by="trust",
        )
