"""Memories as JSON documents, in the shapes that scripts rely on (`docs/memory.md`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.memory.search.render import Hit
    from reverie.memory.store.change import Commit
    from reverie.memory.topics.anchors import AnchorCheck
    from reverie.memory.topics.topic import Source, Topic

Document = dict[str, Any]


def topic_document(topic: Topic, directory: Path, scope: str = "project") -> Document:
    """A memory as `list` shows it."""
    return {
        "path": f"{directory}/{topic.path}",
        "name": topic.name,
        "type": topic.type,
        "description": topic.description,
        "observed": topic.observed and topic.observed.isoformat(),
        "trust": topic.trust,
        "pinned": topic.pinned,
        "scope": scope,
    }


def whole_document(topic: Topic, directory: Path, scope: str = "project") -> Document:
    """A memory as `show` shows it."""
    from reverie.memory.topics.anchors import describe_anchor

    when = topic.when
    return topic_document(topic, directory, scope) | {
        "body": topic.body,
        "sources": [source_document(source) for source in topic.sources],
        "verified": topic.verified and topic.verified.isoformat(),
        "expires": topic.expires and topic.expires.isoformat(),
        "about": list(topic.about),
        "anchors": [describe_anchor(anchor) for anchor in topic.anchors],
        "asks": list(topic.asks),
        "when": None
        if when is None
        else {
            "always": when.always,
            "files": list(when.files),
            "tools": list(when.tools),
            "tasks": list(when.tasks),
            "words": list(when.words),
        },
    }


def source_document(source: Source) -> Document:
    """Where a memory comes from."""
    return {"session": source.session, "message": source.message, "quote": source.quote}


def hit_document(hit: Hit, whose: str = "") -> Document:
    """A recalled memory; `whose` names the colleague whose word it is."""
    return {
        "path": hit.path,
        "name": hit.topic.name,
        "type": hit.topic.type,
        "description": hit.topic.description,
        "score": hit.score,
        "why": hit.why,
        "age_days": hit.age_days,
        "trust": whose or hit.trust,
        "anchors": [anchor_document(check) for check in hit.anchors],
        "shown": hit.shown,
        "text": hit.text,
        "header": hit.header,
        "scope": hit.scope,
        "reasons": {
            "words": {place: list(words) for place, words in hit.reasons.words.items()},
            "corrected": {word: list(others) for word, others in hit.reasons.corrected.items()},
            "similarity": hit.reasons.similarity,
            "situation": list(hit.reasons.situation),
            "parts": {name: round(share, 4) for name, share in hit.reasons.parts.items()},
        },
    }


def anchor_document(check: AnchorCheck) -> Document:
    """An anchor and its state."""
    from reverie.memory.topics.anchors import describe_anchor

    return {"anchor": describe_anchor(check.anchor), "state": check.state.value}


def commit_document(commit: Commit) -> Document:
    """A change."""
    return {
        "commit": commit.commit,
        "when": commit.when.isoformat(),
        "author": commit.change.author,
        "session": commit.change.session,
        "reason": commit.change.reason,
        "paths": list(commit.paths),
    }
