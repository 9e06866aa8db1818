"""Memories as JSON documents, in the shapes that scripts rely on (`docs/memory.md`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.search.passages import PastHit
    from reverie.memory.search.recall import Recalled
    from reverie.memory.search.render import Hit
    from reverie.memory.store.change import Commit
    from reverie.memory.store.topic_store import Saved
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


def topic_documents(memory: Memory, scope: str) -> list[Document]:
    """All memories as `list` shows them: rows of the search index, since thousands of `Topic` values take longer."""
    if memory.off is not None:
        return []
    memory.index.sweep()
    directory = str(memory.directory)
    rows = list(memory.index.read_fields())
    shared = memory.describe_shared({path: fields.get("trust") for path, fields in rows})
    return [
        {
            "path": f"{directory}/{path}",
            "name": fields["name"],
            "type": fields.get("type"),
            "description": fields.get("description", ""),
            "observed": fields.get("observed"),
            "trust": shared.get(path) or fields.get("trust"),
            "pinned": fields.get("pinned", False),
            "scope": scope,
        }
        for path, fields in rows
    ]


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


def shown_document(memory: Memory, topic: Topic) -> Document:
    """A memory as `show` shows it now, with the colleague whose word it is."""
    document = whole_document(topic, memory.directory, memory.scope.name)
    return document | {"trust": memory.describe_shared({topic.path: topic.trust}).get(topic.path) or topic.trust}


def saved_document(memory: Memory, saved: Saved, *notices: str) -> Document:
    """The result of a save."""
    place = memory.directory / saved.path
    document = {"path": str(place), "name": saved.topic.name, "commit": saved.commit, "is_new": saved.is_new}
    return document | {"warnings": [*saved.warnings, *memory.cautions(), *filter(None, notices)]}


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


def hit_documents(memory: Memory, recalled: Recalled) -> list[Document]:
    """All hits of a recall."""
    shared = describe_shared_hits(memory, recalled)
    return [hit_document(hit, shared.get(hit.path, "")) for hit in recalled.hits]


def describe_shared_hits(memory: Memory, recalled: Recalled) -> dict[str, str]:
    """Whole path → the colleague whose word it is."""
    hits = {hit.topic.path: hit for hit in recalled.hits if hit.scope == memory.scope.name}
    shared = memory.describe_shared({path: hit.trust for path, hit in hits.items()})
    return {hits[path].path: whose for path, whose in shared.items()}


def passage_document(hit: PastHit) -> Document:
    """A passage of a past session."""
    return {
        "session": hit.session,
        "message": hit.message,
        "when": hit.when,
        "role": hit.role,
        "text": hit.text,
        "score": hit.score,
        "path": str(hit.path),
        "before": hit.before,
        "after": hit.after,
        "why": {
            "words": sorted(matched_words(hit)),
            "corrected": {word: list(others) for word, others in hit.why.corrected.items()},
            "parts": {name: round(share, 4) for name, share in hit.why.parts.items()},
        },
    }


def matched_words(hit: PastHit) -> set[str]:
    """The words of a query that a passage has, also as they are spelled there."""
    matched = {word for words in hit.why.words.values() for word in words}
    return matched.union(*(others for word, others in hit.why.corrected.items() if word in matched))


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
