"""What goes into search: documents and queries; and the reasons that come with what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date, datetime

from reverie.memory.topics.situations import When
from reverie.values import value

_LEAST_OPENING = 12
"""A shorter name may begin its text by chance."""


@value
class SearchDocument:
    """A topic as the index takes it in."""

    key: str
    """Its identity, the path relative to the memory directory."""
    body: str
    name: str = ""
    description: str = ""
    type: str | None = None
    anchors: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Whom or what it concerns."""
    when: When | None = None
    """The situations in which it holds."""
    asks: tuple[str, ...] = ()
    """Requests for which it should be found."""
    observed: date | None = None

    @property
    def is_verbatim(self) -> bool:
        """Whether it is a text kept as it was said: its name is its own beginning and sums up nothing."""
        name = " ".join(self.name.split()).rstrip(" .…")
        return len(name) >= _LEAST_OPENING and " ".join(self.body[: 2 * len(name) + 100].split()).startswith(name)

    @property
    def situation(self) -> str:
        """The words of its situations."""
        return "" if self.when is None else situation_text(self.when)


def situation_text(when: When) -> str:
    """Situations as words."""
    return " ".join((*when.files, *when.tools, *when.tasks, *when.words))


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
    named: frozenset[str] = frozenset()
    """Whole paths of what a line names already: it comes back only whole."""
    abstains: bool = True
    """Whether hits that are not likely enough are left out; a model that chooses among them wants them all."""
    caution: float = 1.0
    """How sure recall must be before it shows something, as a factor of the odds; 0 shows the best in any case."""
    uses: Mapping[str, int] = field(default_factory=dict)
    """Key → how often it was recalled before."""
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
    """Cosine of the nearest part with the query; None without vectors."""
    situation: tuple[str, ...] = ()
    """Why a standing instruction applies now."""
    parts: dict[str, float] = field(default_factory=dict)
    """What each feature added to the log-odds."""

    def __str__(self) -> str:
        reasons = list(self.situation)
        places: dict[tuple[str, ...], list[str]] = {}
        for place, terms in self.words.items():
            places.setdefault(terms, []).append(place)
        reasons += [f"{', '.join(map(_quote_word, terms))} in {' and '.join(where)}" for terms, where in places.items()]
        reasons += [f"{word!r} read as {' or '.join(map(repr, others))}" for word, others in self.corrected.items()]
        if self.similarity is not None:
            reasons.append(f"semantic similarity {self.similarity:.2f}")
        return "; ".join(reasons)


def _quote_word(word: str) -> str:
    return f'"{word}"'
