"""What the user wrote, word for word; what does not fit keeps its head, its tail and a pointer (product §6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from reverie.context.digest.line import Weigh
from reverie.context.facts.values import Request

SHORTEST_CHARS = 200
"""A message is not cut below this; head and tail would say nothing."""


def quoted_requests(
    requests: Sequence[Request], *, limit_tokens: float, weigh: Weigh, kept: Collection[str] = ()
) -> list[str]:
    """Every request as one quoted piece, oldest first; those whose ids are in `kept` stand elsewhere and are left out.

    When all of them together are over the limit, the longest are cut first, and of equal length the oldest.
    """
    shown = [request for request in requests if request.uuid not in kept]
    limits = {request.uuid: len(request.text) for request in shown}
    pieces = [_piece(request, limits[request.uuid]) for request in shown]
    while sum(map(weigh, pieces)) > limit_tokens:
        longest = max(range(len(shown)), key=lambda at: (limits[shown[at].uuid], -at), default=None)
        if longest is None or limits[shown[longest].uuid] <= SHORTEST_CHARS:
            break
        one = shown[longest]
        limits[one.uuid] = max(SHORTEST_CHARS, limits[one.uuid] // 2)
        pieces[longest] = _piece(one, limits[one.uuid])
    return pieces


def short_id(uuid: str) -> str:
    """The beginning of an id, enough to find its entry again."""
    return uuid[:8]


def _piece(request: Request, limit_chars: int) -> str:
    text = request.text.strip("\n")
    if len(text) > limit_chars:
        half = limit_chars // 2
        left_out = len(text) - 2 * half
        text = f"{text[:half]}\n[… {left_out} characters left out; read {short_id(request.uuid)} for all …]\n{text[-half:]}"
    return f"[{short_id(request.uuid)}] {text}"
