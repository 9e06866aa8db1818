"""What the user wrote, word for word; what does not fit keeps its head, its tail and a pointer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from reverie.context.digest.line import Weigh
from reverie.context.facts.values import UserRequest
from reverie.context.spans import short_ids

SHORTEST_CHARS = 200
"""A message is not cut below this; head and tail would say nothing."""


def quoted_requests(
    requests: Sequence[UserRequest],
    *,
    limit_tokens: float,
    weigh: Weigh,
    kept: Collection[str] = (),
    short: Mapping[str, str] | None = None,
) -> list[str]:
    """Every request as one quoted piece, oldest first; those whose ids are in `kept` stand elsewhere and are left out.

    When all of them together are over the limit, the longest are cut first, and of equal length the oldest.
    """
    short = short_ids(one.uuid for one in requests) if short is None else short
    shown = [request for request in requests if request.uuid not in kept]
    limits = {request.uuid: len(request.text) for request in shown}
    pieces = [_piece(request, limits[request.uuid], short) for request in shown]
    while sum(map(weigh, pieces)) > limit_tokens:
        longest = max(range(len(shown)), key=lambda at: (limits[shown[at].uuid], -at), default=None)
        if longest is None or limits[shown[longest].uuid] <= SHORTEST_CHARS:
            break
        one = shown[longest]
        limits[one.uuid] = max(SHORTEST_CHARS, limits[one.uuid] // 2)
        pieces[longest] = _piece(one, limits[one.uuid], short)
    return pieces


def _piece(request: UserRequest, limit_chars: int, short: Mapping[str, str]) -> str:
    text = request.text.strip("\n")
    name = short.get(request.uuid, request.uuid)
    if len(text) > limit_chars:
        half = limit_chars // 2
        gap = f"[… {len(text) - 2 * half} characters left out; read {name} for all …]"
        text = f"{text[:half]}\n{gap}\n{text[-half:]}"
    return f"[{name}] {text}"
