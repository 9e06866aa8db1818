"""One line of a digest: its text, its place, and what it tells; and the user's requests, word for word.

A request that does not fit keeps its head, its tail and a pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from reverie.context.facts.values import UserRequest
from reverie.context.spans import short_ids
from reverie.values import value

Weigh: TypeAlias = Callable[[str], float]
"""The size of a text in tokens."""


class DigestTopic(StrEnum):
    """What a line is about; summaries and notes put topics under different headings."""

    DECISION = "decision"
    CONCEPT = "concept"
    FILE = "file"
    SYMBOL = "symbol"
    CHANGE = "change"
    EXCERPT = "excerpt"
    COMMAND = "command"
    OUTPUT = "output"
    LOOKUP = "lookup"
    TROUBLE = "trouble"
    STATEMENT = "statement"
    DELEGATION = "delegation"
    TODO = "todo"
    PLAN = "plan"
    SKILL = "skill"
    SPAN = "span"
    EARLIER = "earlier"


@value
class DigestLine:
    """A candidate."""

    topic: DigestTopic
    place: tuple[int, ...]
    """Where it stands among lines of its topic."""
    text: str
    terms: frozenset[str] = frozenset()
    """The identifiers it tells of."""
    floor: float = 0.0
    """What it is worth even when everything it names is told elsewhere."""
    factor: float = 1.0
    """How much better than a bare mention it tells of its identifiers."""
    key: str = ""
    """Names it for the lines that stand under it."""
    under: str = ""
    """The line without which it would hang in the air."""


SHORTEST_CHARS = 200
"""A message is not cut below this; head and tail would say nothing."""


def quote_requests(
    requests: Sequence[UserRequest],
    *,
    limit_tokens: float,
    weigh: Weigh,
    kept_ids: Collection[str] = (),
    short: Mapping[str, str] | None = None,
) -> list[str]:
    """Every request as one quoted piece, oldest first; those in `kept_ids` stand elsewhere and are left out.

    When all of them together are over the limit, the longest are cut first, and of equal length the oldest.
    """
    short = short_ids(one.uuid for one in requests) if short is None else short
    shown = [request for request in requests if request.uuid not in kept_ids]
    limits = {request.uuid: len(request.text) for request in shown}
    pieces = [_piece(request, limits[request.uuid], short) for request in shown]
    while sum(map(weigh, pieces)) > limit_tokens:
        longest = max(range(len(shown)), key=lambda at: (limits[shown[at].uuid], -at), default=None)
        if longest is None or limits[shown[longest].uuid] <= SHORTEST_CHARS:
            break
        longest_request = shown[longest]
        limits[longest_request.uuid] = max(SHORTEST_CHARS, limits[longest_request.uuid] // 2)
        pieces[longest] = _piece(longest_request, limits[longest_request.uuid], short)
    return pieces


def _piece(request: UserRequest, limit_chars: int, short: Mapping[str, str]) -> str:
    text = request.text.strip("\n")
    name = short.get(request.uuid, request.uuid)
    if len(text) > limit_chars:
        half = limit_chars // 2
        gap = f"[… {len(text) - 2 * half} characters left out; read {name} for all …]"
        text = f"{text[:half]}\n{gap}\n{text[-half:]}"
    return f"[{name}] {text}"
