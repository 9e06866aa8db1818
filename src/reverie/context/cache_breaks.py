"""Does a request extend the one before it, and if not: what moved, how much it costs, was it announced.

Two independent witnesses. The *fingerprints* of two requests say beforehand where they part; the *usage* that came
back says afterwards how much the provider really read. A break that one of our own entries announced (a compaction, a
clearing, a new prompt) is booked and not reported as a fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from reverie.messages.blocks import CompactionBlock, JsonObject, Opaque
from reverie.messages.codec import encode_json
from reverie.messages.entries import (
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    PromptEntry,
    SnipEntry,
    SpillEntry,
)
from reverie.messages.message import Usage
from reverie.messages.view import SERVER_CLEARS
from reverie.models.ports import Request
from reverie.models.profiles import Profile
from reverie.settings import CacheSettings
from reverie.values import value

LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}
SURE_OF_THE_REST = 0.5
"""The share of the rest that must be read after we moved something for the first time. What is left is then known in
bytes alone, and prose has twice the bytes a token that numbers have."""


class Cause(StrEnum):
    """Why a prefix was not read again."""

    MODEL = "the model or its options changed"
    TOOLS = "the tools changed"
    SYSTEM = "the system text changed"
    MEMORY = "instructions or memories at the start changed"
    MESSAGE = "an earlier message changed"
    TIME = "the cache had expired"
    UNKNOWN = "the provider did not keep it"


@value
class RequestPiece:
    """One tool, system block or message block as it stands in a request."""

    level: str
    """`options`, `tools`, `system` or `messages`."""
    digest: bytes
    size: int
    """Bytes of its JSON, without cache marks."""
    label: str


@value
class Fingerprint:
    """A request as the provider's cache sees it, in order."""

    pieces: tuple[RequestPiece, ...]

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)


@value
class Break:
    """A request that does not extend the one before it."""

    cause: Cause
    where: str
    """The first piece that differs."""
    lost_share: float
    """The share of the earlier request that is no longer a prefix."""
    is_announced: bool = False
    lost_tokens: int = 0
    cost_usd: float | None = None
    """What reading again instead of writing again would have saved."""
    kept_bytes: int = 0
    """Of the earlier request, what is still a prefix."""


def fingerprint(body: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint of a Messages API body; cache marks leave no trace in it."""
    options = {key: body[key] for key in ("model", "thinking", "output_config", "speed") if key in body}
    pieces = [_piece("options", options, str(body.get("model", "")))]
    pieces += [_piece("tools", tool, str(tool.get("name", ""))) for tool in body.get("tools") or ()]
    system = body.get("system") or ()
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    pieces += [_piece("system", block, f"system block {number}") for number, block in enumerate(blocks)]
    for number, message in enumerate(body.get("messages") or ()):
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            label = f"message {number}, {block.get('type', '')}"
            pieces.append(_piece("messages", block, label, message["role"]))
    return Fingerprint(tuple(pieces))


def predict(before: Fingerprint, after: Fingerprint, announced: Iterable[str] = ()) -> Break | None:
    """The break between two requests that follow each other, or None when the later extends the earlier."""
    shared = _count_shared_pieces(before.pieces, after.pieces)
    if shared == len(before.pieces):
        return None
    lost = sum(piece.size for piece in before.pieces[shared:])
    changed = before.pieces[shared]
    # Tools that joined stand where the system text began.
    joined = shared < len(after.pieces) and after.pieces[shared].level == "tools"
    return Break(
        Cause.TOOLS if joined else _cause(changed, shared, before.pieces),
        changed.label,
        lost / max(1, before.size),
        is_announced=any(announced),
        kept_bytes=before.size - lost,
    )


def extends(before: Request, after: Request) -> bool:
    """Whether the later request has the earlier one as its prefix. Fast: equal parts are mostly the same objects."""
    if (before.model, before.thinking, before.effort, before.tools, before.system) != (
        after.model,
        after.thinking,
        after.effort,
        after.tools,
        after.system,
    ):
        return False
    if len(before.messages) > len(after.messages):
        return False
    for number, (earlier, later) in enumerate(zip(before.messages, after.messages, strict=False)):
        if earlier is later:
            continue
        grown = number == len(before.messages) - 1 and later.content[: len(earlier.content)] == earlier.content
        if earlier.role is not later.role or not (grown or earlier.content == later.content):
            return False
    return True


def detect(expected_tokens: int, usage: Usage, limits: CacheSettings) -> int | None:
    """How many tokens fewer than promised were read from the cache; None when that is no break."""
    missing = expected_tokens - usage.cache_read_tokens
    if missing > limits.break_tokens and missing > limits.break_fraction * expected_tokens:
        return missing
    return None


def predict_cached_tokens(previous: Usage, predicted: Break | None) -> int:
    """How much of the last request the next one should read: all that was read or written, less what we moved."""
    cached_tokens = previous.cache_read_tokens + previous.cache_write_tokens
    if predicted is not None and predicted.cause in (Cause.MODEL, Cause.TOOLS):
        # No mark stands before the end of the tools, so nothing that was kept ends where these part.
        return 0
    return cached_tokens if predicted is None else round(cached_tokens * (1 - predicted.lost_share))


def price(lost_tokens: int, facts: Profile, ttl: str = "5m") -> float | None:
    """What it costs to write these tokens again instead of reading them."""
    if facts.prices is None:
        return None
    write = facts.prices.write_1h if ttl == "1h" else facts.prices.write_5m
    return lost_tokens * (write - facts.prices.read) / 1_000_000


def announcements(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The reasons, among entries appended since the last request, for which the next one need not extend it."""
    reasons: list[str] = []
    for entry in entries:
        match entry:
            case BoundaryEntry():
                reasons.append("compaction")
            case SnipEntry():
                reasons.append("snip")
            case CollapseEntry():
                reasons.append("collapse")
            case ClearEntry() if entry.trigger != SERVER_CLEARS:
                reasons.append("clearing")
            case PromptEntry():
                reasons.append("a new prompt")
            case SpillEntry() if any(one.preview is not None for one in entry.decisions):
                reasons.append("spill")
            case _:
                pass
    return tuple(dict.fromkeys(reasons))


def is_expired(gap: timedelta, ttl: str) -> bool:
    """Whether a kept prefix is gone after so long a pause."""
    return gap >= LIFETIMES.get(ttl, LIFETIMES["5m"])


class CacheWatch:
    """Follows the requests of one conversation and their usage."""

    def __init__(self, facts: Profile, settings: CacheSettings) -> None:
        self._facts = facts
        self._settings = settings
        self._usage: Usage | None = None
        self._answered_at: datetime | None = None
        self._kept_for = "5m"
        self._edits: list[JsonObject] = []
        self._deletions = 0
        self._read: dict[int, int] = {}
        """What was read of a rest, by its size in bytes. The same rest comes again: system text and tools stay where
        they are when the messages behind them are compacted."""

    def observe(
        self,
        usage: Usage,
        request: Request | None,
        predicted: Break | None,
        now: datetime,
        edits: Sequence[JsonObject] = (),
    ) -> Break | None:
        """Note what was reported for a request; returns a break that it shows.

        `edits` are what the provider says it cleared. What it cleared anew, or was asked to delete, is no break.
        """
        deletions = _deletions(request)
        is_edited = list(edits) != self._edits or deletions != self._deletions
        self._edits, self._deletions = list(edits), deletions
        cache_break = None if is_edited else self._break(usage, predicted, now)
        marks = request.cache_marks if request is not None else ()
        self._usage, self._answered_at = usage, now
        self._kept_for = marks[-1].ttl if marks else "5m"
        return cache_break

    def _break(self, seen: Usage, predicted: Break | None, now: datetime) -> Break | None:
        """A break that the usage shows, with its cause: what moved, or the time that passed."""
        if self._usage is None:
            return None
        promised = predict_cached_tokens(self._usage, predicted)
        if predicted is not None:
            rest = self._read.get(predicted.kept_bytes)
            promised = round(promised * SURE_OF_THE_REST) if rest is None else rest
        missing = detect(promised, seen, self._settings)
        if missing is None:
            if predicted is not None:
                self._read[predicted.kept_bytes] = seen.cache_read_tokens
            return None
        cost = price(missing, self._facts, self._kept_for)
        idle = now - self._answered_at if self._answered_at else None
        cause = Cause.TIME if idle is not None and is_expired(idle, self._kept_for) else Cause.UNKNOWN
        share = missing / max(1, self._usage.cache_read_tokens + self._usage.cache_write_tokens)
        return Break(cause, "the kept prefix", share, lost_tokens=missing, cost_usd=cost)


def _count_shared_pieces(before: Sequence[RequestPiece], after: Sequence[RequestPiece]) -> int:
    for number, (earlier, later) in enumerate(zip(before, after, strict=False)):
        if earlier.digest != later.digest:
            return number
    return min(len(before), len(after))


def _cause(changed: RequestPiece, position: int, pieces: Sequence[RequestPiece]) -> Cause:
    match changed.level:
        case "options":
            return Cause.MODEL
        case "tools":
            return Cause.TOOLS
        case "system":
            return Cause.SYSTEM
    opening = next(number for number, piece in enumerate(pieces) if piece.level == "messages")
    return Cause.MEMORY if position == opening else Cause.MESSAGE


def _piece(level: str, value: Mapping[str, Any], label: str, role: str = "") -> RequestPiece:
    data = encode_json(_strip_cache_control(value))
    digest = hashlib.blake2b(data, digest_size=16, key=f"{level}:{role}".encode()).digest()
    return RequestPiece(level, digest, len(data), label)


def _strip_cache_control(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if "cache_control" not in value:
        return value
    return {key: part for key, part in value.items() if key != "cache_control"}


def _deletions(request: Request | None) -> int:
    """How many times a request has the provider delete inside its cache, or sum up what came before."""
    if request is None:
        return 0
    blocks = (block for message in request.messages for block in message.content)
    return sum(isinstance(block, Opaque | CompactionBlock) for block in blocks)
