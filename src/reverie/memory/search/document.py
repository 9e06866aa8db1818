"""What goes into search: documents and queries; and the reasons that come with what is found."""

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
    asks: tuple[str, ...] = ()
    """Requests for which it should be found."""
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
    """What is searched for, from the caller down to the index."""

    text: str
    now: datetime
    """Recency is measured from here."""
    context: str = ""
    """What was said just before; its words count little."""
    limit: int = 5
    exclude: frozenset[str] = frozenset()
    """What must not come back because it was shown or read already: whole paths for recall, keys for one index."""
    abstains: bool = True
    """Whether hits below the calibrated threshold are left out; searching by hand wants them all."""
    uses: Mapping[str, int] = field(default_factory=dict)
    """Key → how often it was recalled before, where that is known better than when the document was indexed."""
    files: tuple[str, ...] = ()
    """Touched in the last turns, relative to the project root."""
    tools: tuple[str, ...] = ()
    """Used in the last turns."""
    by_words: bool = False
    """Whether vectors are left aside: loading them takes longer than a hook may."""


@value
class Reasons:
    """Why a memory was recalled, part by part."""

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Where → the words of the query found there."""
    corrected: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """A word the memory does not know → the words taken in its place."""
    similarity: float | None = None
    """Likeness of meaning, from 0 to 1; None without vectors."""
    situation: tuple[str, ...] = ()
    """Why a standing instruction applies now."""
    parts: dict[str, float] = field(default_factory=dict)
    """What each measure added to the ranking."""

    def __str__(self) -> str:
        reasons = list(self.situation)
        places: dict[tuple[str, ...], list[str]] = {}
        for place, terms in self.words.items():
            places.setdefault(terms, []).append(place)
        reasons += [f"{', '.join(map(_quote_word, terms))} in {' and '.join(where)}" for terms, where in places.items()]
        reasons += [f"{word!r} read as {' or '.join(map(repr, others))}" for word, others in self.corrected.items()]
        if self.similarity is not None:
            reasons.append(f"semantic similarity {self.similarity:.2f}")
        reasons += [words for name, (words, least) in _PRIORS.items() if self.parts.get(name, 0.0) > least]
        return "; ".join(reasons)


_PRIORS = {
    "recency": ("recent", 0.34),
    "use": ("useful before", 0.0),
    "type": ("working preference", 0.0),
}
"""What each prior is called, from which share on; recency fades without end and is worth a word for three weeks."""


def _quote_word(word: str) -> str:
    return f'"{word}"'
