"""Which identifiers were written and which only seen, round by round, and the lines of results that showed them.

Of each identifier only the newest lines are kept that could ever be told, so that a long conversation is never walked
again and its text is not held twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from reverie.context.facts.outline import is_bare_punctuation
from reverie.context.facts.terms import terms_of_line
from reverie.context.facts.values import Term, ToolEvidence

EVIDENCE_PER_TERM = 2
OFTEN_SEEN = 2
SHORTEST_EVIDENCE_CHARS = 6
LONGEST_EVIDENCE_CHARS = 240

Row: TypeAlias = tuple[int | None, str]
"""A line of a result with its number, where the print has one."""
Source: TypeAlias = tuple[str, Sequence[Row]]
"""What a file, command or search gave."""
_Line: TypeAlias = tuple[int, int, ToolEvidence]
"""A line behind its place: the number of its source, and the negative number of its row there."""
_NEVER = Term()


class SeenIdentifiers:
    """The identifiers of a conversation, and the lines that tell of them."""

    def __init__(self) -> None:
        self._terms: dict[str, Term] = {}
        self._newest: dict[str, tuple[_Line, ...]] = {}
        """The lines of the newest results that hold a name, the first ones of each."""
        self._used: dict[str, tuple[_Line, ...]] = {}
        """The same as it was when the name was last written."""
        self._sources = 0

    def take(self, number: int, used: set[str], seen: set[str], sources: Iterable[Source]) -> None:
        """Note what a round wrote and what came back; rounds come in order, each once."""
        for where, rows in sources:
            self._take_source(number, where, rows)
        for name in used:
            self._terms[name] = _used(self._terms.get(name, _NEVER), number)
            if name in self._newest:
                self._used[name] = self._newest[name]
        for name in seen - used:
            one = self._terms.get(name, _NEVER)
            self._terms[name] = Term(one.used, one.seen + 1, one.last_used, number)

    def terms(self, number: int, used: Collection[str]) -> dict[str, Term]:
        """All identifiers, when those in `used` stand in a round of that number which has not come yet."""
        found = dict(self._terms)
        found.update((name, _used(found.get(name, _NEVER), number)) for name in used)
        return found

    def evidence(self, used: Collection[str]) -> tuple[ToolEvidence, ...]:
        """Lines with names that were written then or later, or that tools show again and again.

        Each name is told by a few lines at most, of the newest results.
        """
        found: dict[tuple[int, int], ToolEvidence] = {}
        for name, newest in self._newest.items():
            told = newest if name in used or _comes_back(name, self._terms[name]) else self._used.get(name, ())
            for source, row, line in told:
                found[(source, row)] = line
        return tuple(found[place] for place in sorted(found))

    def _take_source(self, number: int, where: str, rows: Sequence[Row]) -> None:
        self._sources += 1
        firsts: dict[str, list[_Line]] = {}
        for place, (at, row) in enumerate(rows):
            line = row.strip()
            if not SHORTEST_EVIDENCE_CHARS <= len(line) <= LONGEST_EVIDENCE_CHARS or is_bare_punctuation(line):
                continue
            made: _Line | None = None
            for name in terms_of_line(line):
                own = firsts.setdefault(name, [])
                if len(own) < EVIDENCE_PER_TERM:
                    made = made or (self._sources, -place, ToolEvidence(line, where, number, at))
                    own.append(made)
        for name, lines in firsts.items():
            self._newest[name] = (*lines, *self._newest.get(name, ()))[:EVIDENCE_PER_TERM]


def _used(one: Term, number: int) -> Term:
    return Term(one.used + 1, one.seen, number, one.last_seen)


def _comes_back(name: str, one: Term) -> bool:
    """Whether a name stands in several results; sizes and durations do so by accident."""
    return one.seen >= OFTEN_SEEN and not name[0].isdigit()
