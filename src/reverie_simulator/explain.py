"""Explains why a prefix was or was not found: per breakpoint, and the first block that differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reverie.messages.blocks import Json
from reverie.values import value
from reverie_simulator.prompt import PromptLevel, PromptPiece


@value
class Trace:
    """An earlier request, kept to compare with."""

    hashes: Sequence[bytes]
    pieces: Sequence[PromptPiece]
    scopes: tuple[tuple[PromptLevel, str], ...]


@value
class PrefixChange:
    """Where a request parts from the most similar one before it."""

    level: PromptLevel
    same_blocks: int
    """How many blocks from the start are the same."""
    path: str | None = None
    """The first block that differs; None when only settings do, or when the request is a beginning of the other."""
    settings: tuple[str, ...] = ()
    """The settings that differ and lie in the cache key, as they are now."""

    def as_json(self) -> dict[str, Json]:
        return {
            "level": self.level.value,
            "same_blocks": self.same_blocks,
            "path": self.path,
            "settings": list(self.settings),
        }


@value
class Miss:
    """Why a breakpoint found nothing."""

    reason: str
    """`below_minimum`, `expired`, `look_back_exceeded`, `changed` or `nothing_cached`."""
    position: int | None = None
    """The entry that would have served."""
    path: str | None = None
    late_seconds: float | None = None

    def as_json(self) -> dict[str, Json]:
        return {
            "reason": self.reason,
            "position": self.position,
            "path": self.path,
            "late_seconds": self.late_seconds,
        }


@value
class Breakpoint:
    """One marked place and what it led to."""

    path: str
    position: int
    """The block's number in the prompt, tools first."""
    ttl: str
    automatic: bool
    tokens: int
    """The size of the prefix that ends here."""
    hash: str
    read_path: str | None
    read_position: int | None
    read_tokens: int
    miss: Miss | None

    def as_json(self) -> dict[str, Json]:
        return {
            "path": self.path,
            "position": self.position,
            "ttl": self.ttl,
            "automatic": self.automatic,
            "tokens": self.tokens,
            "hash": self.hash,
            "hit": self.miss is None,
            "read_path": self.read_path,
            "read_position": self.read_position,
            "read_tokens": self.read_tokens,
            "miss": None if self.miss is None else self.miss.as_json(),
        }


@value
class Explanation:
    """What happened to one request in the cache, for a person."""

    blocks: int
    minimum_tokens: int
    breakpoints: tuple[Breakpoint, ...]
    change: PrefixChange | None
    """How the request differs from the most similar earlier one; None when it extends it or when there is none."""

    def as_json(self) -> dict[str, Json]:
        return {
            "blocks": self.blocks,
            "minimum_tokens": self.minimum_tokens,
            "breakpoints": [each.as_json() for each in self.breakpoints],
            "change": None if self.change is None else self.change.as_json(),
        }


def first_change(now: Trace, earlier: Iterable[Trace]) -> PrefixChange | None:
    """Compare with the earlier request that shares the longest beginning; None when it is extended unchanged."""
    best: Trace | None = None
    longest = -1
    for trace in earlier:
        same = common_blocks(now, trace)
        if same >= longest:
            best, longest = trace, same
    if best is None or longest == len(best.pieces):
        return None
    settings = tuple(
        setting
        for (level, setting), (_, other) in zip(now.scopes, best.scopes, strict=False)
        if setting != other and _is_in_hash(level, now, longest)
    )
    if longest >= len(now.pieces):
        return PrefixChange(now.pieces[-1].level, longest) if now.pieces else None
    piece = now.pieces[longest]
    differs = longest >= len(best.pieces) or piece.content.digest != best.pieces[longest].content.digest
    return PrefixChange(piece.level, longest, piece.path if differs else None, settings)


def _is_in_hash(level: PromptLevel, trace: Trace, position: int) -> bool:
    """Whether a setting of this level is already in the hash of the block at the position."""
    order = list(PromptLevel)
    return position < len(trace.pieces) and order.index(level) <= order.index(trace.pieces[position].level)


def common_blocks(one: Trace, other: Trace) -> int:
    """How many blocks from the start have the same hash; equality at a place implies it at all earlier ones."""
    low, high = 0, min(len(one.hashes), len(other.hashes))
    while low < high:
        middle = (low + high + 1) // 2
        if one.hashes[middle - 1] == other.hashes[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low


def miss_reason(now: Trace, before: Trace | None) -> dict[str, Json] | None:
    """Why a request could not reuse the prefix of an earlier one, in the provider's words; None when it could."""
    if before is None:
        return {"type": "previous_message_not_found"}
    change = first_change(now, [before])
    if change is None:
        return None
    kind = "model" if any(setting.startswith(("model=", "speed=")) for setting in change.settings) else change.level
    missed = sum(piece.tokens for piece in before.pieces[change.same_blocks :])
    return {"type": f"{kind}_changed", "cache_missed_input_tokens": missed}
