"""Input and output of the search engine: documents, queries, scored hits and their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date, datetime

from reverie.values import value


@value
class SearchDocument:
    """One thing that can be found: a topic file, or a passage of a transcript."""

    key: str
    """Its identity, for topics the path relative to the memory directory."""
    body: str
    name: str = ""
    description: str = ""
    type: str | None = None
    anchors: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Whom or what it concerns; for a passage of talk, who speaks."""
    when: str = ""
    """Words of the situations in which it holds."""
    observed: date | None = None
    mtime_ns: int = 0
    size: int = 0
    uses: int = 0
    group: str | None = None
    """What it is a part of (a session, a conversation); neighbours in one group explain each other."""
    position: int = 0


@value
class Known:
    """What the index remembers of a document, to tell whether the file changed."""

    mtime_ns: int
    size: int
    digest: bytes


@value
class Query:
    """A question to the index."""

    text: str
    now: datetime
    """Recency is measured from here."""
    context: str = ""
    """What was said just before; its words count little."""
    limit: int = 5
    exclude: frozenset[str] = frozenset()
    """Keys that must not come back: shown already, or read already."""
    abstains: bool = True
    """Whether hits below the calibrated threshold are left out; searching by hand wants them all."""
    uses: Mapping[str, int] = field(default_factory=dict)
    """Key → how often it was recalled before, where that is known better than when the document was indexed."""


@value
class RankingReason:
    """Why a document was found. The shares in `parts` add up to the ranking score."""

    words: dict[str, tuple[str, ...]]
    """Field → the query's terms found there."""
    corrected: dict[str, tuple[str, ...]]
    """Unknown query term → the terms of the store taken in its place."""
    similarity: float | None
    """Cosine of query and document; None without vectors."""
    parts: dict[str, float] = field(default_factory=dict)
    """Reason → what it added to the ranking score."""


@value
class Scored:
    """One hit."""

    key: str
    score: float
    """How likely this answers the query, from 0 to 1."""
    why: RankingReason
