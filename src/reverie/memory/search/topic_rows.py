"""A topic as one line of JSON for the derived index, so that a query needs no YAML.

Only what front matter says goes here; the text lies beside it. A line that cannot be read means the index is stale.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

from reverie.memory.topics.anchors import Anchor, CommitAnchor, FileAnchor, SymbolAnchor, UrlAnchor
from reverie.memory.topics.situations import When
from reverie.memory.topics.value import MemoryType, Source, Topic, Trust

_KINDS: dict[str, type[Anchor]] = {
    "file": FileAnchor,
    "symbol": SymbolAnchor,
    "commit": CommitAnchor,
    "url": UrlAnchor,
}


def topic_to_row(topic: Topic) -> str:
    """Everything of a topic but its path and body."""
    said: dict[str, Any] = {
        "name": topic.name,
        "description": topic.description,
        "type": topic.type,
        "trust": topic.trust,
        "observed": topic.observed and topic.observed.isoformat(),
        "verified": topic.verified and topic.verified.isoformat(),
        "expires": topic.expires and topic.expires.isoformat(),
        "modified": topic.modified and topic.modified.isoformat(),
        "pinned": topic.pinned,
        "anchors": [_anchor_to_row(anchor) for anchor in topic.anchors],
        "when": topic.when and when_to_row(topic.when),
        "about": topic.about,
        "sources": [(source.session, source.message, source.quote) for source in topic.sources],
        "extra": topic.extra,
    }
    return json.dumps({key: value for key, value in said.items() if value}, ensure_ascii=False)


def topic_from_row(path: str, row: str, body: str) -> Topic:
    """The topic again."""
    said = json.loads(row)
    return Topic(
        path,
        said.get("name", ""),
        said.get("description", ""),
        MemoryType(said["type"]) if "type" in said else None,
        body,
        Trust(said["trust"]) if "trust" in said else None,
        _day(said.get("observed")),
        _day(said.get("verified")),
        said.get("pinned", False),
        _day(said.get("expires")),
        tuple(_KINDS[kind](*values) for kind, *values in said.get("anchors", ())),
        when_from_row(said["when"]) if "when" in said else None,
        tuple(said.get("about", ())),
        tuple(Source(*values) for values in said.get("sources", ())),
        datetime.fromisoformat(said["modified"]) if "modified" in said else None,
        tuple((key, value) for key, value in said.get("extra", ())),
    )


def when_to_row(when: When) -> list[Any]:
    """Situations as a list."""
    return [when.always, when.files, when.tools, when.tasks, when.words]


def when_from_row(row: list[Any]) -> When:
    """Situations again."""
    return When(row[0], *(tuple(names) for names in row[1:]))


def _anchor_to_row(anchor: Anchor) -> tuple[str | None, ...]:
    match anchor:
        case FileAnchor(path, sha256):
            return "file", path, sha256
        case SymbolAnchor(name, path):
            return "symbol", name, path
        case CommitAnchor(commit):
            return "commit", commit
        case UrlAnchor(url):
            return "url", url


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
