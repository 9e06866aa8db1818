"""The prompt cache, byte for byte: one entry per breakpoint, found again by the hash of everything before it.

As the provider documents: a breakpoint looks back over at most 20 blocks, itself the first; a prefix below the model's
minimum is silently left out; an entry lives 5 minutes or an hour from the start of the request that wrote or read it.
Nothing here reads a clock: every call says when it happens. Why something was not found is `explain`'s part.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from reverie.values import value
from reverie_simulator.explain import Breakpoint, Explanation, Miss, Trace, first_change
from reverie_simulator.memo import digest
from reverie_simulator.prompt import PromptLevel, SimulatedPrompt
from reverie_simulator.usage import CacheUsage

LOOK_BACK_BLOCKS = 20
LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}
ENTRIES_MAX = 20_000
_ORDER = {level: number for number, level in enumerate(PromptLevel)}
TRACES_MAX = 64
"""How many earlier prompts are kept to say what changed."""


@dataclass(slots=True)
class CachedPrefix:
    """One cached prefix."""

    ttl: str
    expires: datetime


@value
class CacheOutcome:
    """What the cache did for one request."""

    usage: CacheUsage
    explanation: Explanation
    trace: Trace
    """What a later request is compared with."""


class PromptCache:
    """All prefixes that were written and have not been forgotten."""

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, CachedPrefix] = OrderedDict()
        self._traces: OrderedDict[bytes, Trace] = OrderedDict()

    def clear(self) -> None:
        """Forget everything, as if the provider had lost it."""
        self._entries.clear()
        self._traces.clear()

    def serve(self, prompt: SimulatedPrompt, now: datetime) -> CacheOutcome:
        """Read what can be read, write what is marked, and say what it costs."""
        hashes = prefix_hashes(prompt)
        totals = list(accumulate((piece.tokens for piece in prompt.pieces), initial=0))
        marks = prompt.marks()
        cached_at = {at: self._look_back(hashes, at, now) for at in marks}
        read_to = max((hit for hit in cached_at.values() if hit is not None), default=-1)
        trace = Trace(hashes, prompt.pieces, prompt.scopes)
        explanation = self._explain(prompt, trace, totals, cached_at, now)
        for hit in {hit for hit in cached_at.values() if hit is not None}:
            self._refresh(hashes[hit], now)
        written = {
            at: ttl for at, ttl in marks.items() if at > read_to and totals[at + 1] >= prompt.facts.cache_minimum_tokens
        }
        for at, ttl in written.items():
            self._write(hashes[at], ttl, now)
        self._remember(trace)
        return CacheOutcome(_usage(prompt, totals, read_to, written), explanation, trace)

    def _look_back(self, hashes: Sequence[bytes], at: int, now: datetime) -> int | None:
        for position in range(at, max(-1, at - LOOK_BACK_BLOCKS), -1):
            entry = self._entries.get(hashes[position])
            if entry is not None and entry.expires > now:
                return position
        return None

    def _refresh(self, key: bytes, now: datetime) -> None:
        entry = self._entries[key]
        entry.expires = now + LIFETIMES[entry.ttl]
        self._entries.move_to_end(key)

    def _write(self, key: bytes, ttl: str, now: datetime) -> None:
        self._entries[key] = CachedPrefix(ttl, now + LIFETIMES[ttl])
        self._entries.move_to_end(key)
        if len(self._entries) > ENTRIES_MAX:
            self._entries.popitem(last=False)

    def _remember(self, trace: Trace) -> None:
        if not trace.hashes:
            return
        self._traces[trace.hashes[-1]] = trace
        self._traces.move_to_end(trace.hashes[-1])
        if len(self._traces) > TRACES_MAX:
            self._traces.popitem(last=False)

    def _explain(
        self,
        prompt: SimulatedPrompt,
        trace: Trace,
        totals: Sequence[int],
        cached_at: dict[int, int | None],
        now: datetime,
    ) -> Explanation:
        marks, hashes = prompt.marks(), trace.hashes
        change = first_change(trace, self._traces.values())
        breakpoints = tuple(
            Breakpoint(
                path=prompt.pieces[at].path,
                position=at,
                ttl=marks[at],
                automatic=prompt.pieces[at].content.ttl is None,
                tokens=totals[at + 1],
                hash=hashes[at].hex(),
                read_path=None if hit is None else prompt.pieces[hit].path,
                read_position=hit,
                read_tokens=0 if hit is None else totals[hit + 1],
                miss=self._miss(prompt, hashes, totals, at, now) if hit is None else None,
            )
            for at, hit in cached_at.items()
        )
        return Explanation(
            blocks=len(hashes),
            minimum_tokens=prompt.facts.cache_minimum_tokens,
            breakpoints=breakpoints,
            change=change,
        )

    def _miss(
        self, prompt: SimulatedPrompt, hashes: Sequence[bytes], totals: Sequence[int], at: int, now: datetime
    ) -> Miss:
        if totals[at + 1] < prompt.facts.cache_minimum_tokens:
            return Miss("below_minimum")
        oldest = max(-1, at - LOOK_BACK_BLOCKS)
        for position in range(at, -1, -1):
            entry = self._entries.get(hashes[position])
            if entry is None:
                continue
            if entry.expires > now:
                return Miss("look_back_exceeded", position, prompt.pieces[position].path)
            if position > oldest:
                late = (now - entry.expires).total_seconds()
                return Miss("expired", position, prompt.pieces[position].path, late)
        return Miss("changed" if self._traces else "nothing_cached")


def prefix_hashes(prompt: SimulatedPrompt) -> tuple[bytes, ...]:
    """For each block the hash of everything up to it, and of the settings that its level depends on."""
    settings = dict.fromkeys(PromptLevel, "")
    for level, setting in prompt.scopes:
        settings[level] += f"{setting}\n"
    entered = list(PromptLevel)
    state = b""
    hashes = []
    for piece in prompt.pieces:
        # A level that has no blocks still counts with its settings.
        while entered and _ORDER[entered[0]] <= _ORDER[piece.level]:
            state = digest(state, settings[entered.pop(0)].encode())
        state = digest(state, piece.role.encode(), piece.content.digest)
        hashes.append(state)
    return tuple(hashes)


def _usage(prompt: SimulatedPrompt, totals: Sequence[int], read_to: int, written: dict[int, str]) -> CacheUsage:
    """Bill by three places: the highest hit, the highest one-hour mark after it, the last mark."""
    read = totals[read_to + 1]
    hour = max((totals[at + 1] for at, ttl in written.items() if ttl == "1h"), default=read)
    last = max((totals[at + 1] for at in written), default=read)
    return CacheUsage(
        input_tokens=prompt.tokens - max(last, read),
        read_tokens=read,
        written_5m_tokens=last - hour,
        written_1h_tokens=hour - read,
        deleted_tokens=prompt.deleted_tokens,
    )
