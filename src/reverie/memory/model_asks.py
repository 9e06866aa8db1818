"""Which of the asks that a model wrote with a memory may stand; the memory is kept without the others."""

from __future__ import annotations

from dataclasses import replace

from reverie.files.secret_scan import scan
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.value import ASK_CHARS, MAX_ASKS, Topic
from reverie.messages.injection import Suspicion, flags
from reverie.values import value

INSTRUCTIONS = frozenset({Suspicion.order, Suspicion.disguise, Suspicion.leak})
_SHOWN_CHARS = 40


@value
class DroppedAsk:
    """An ask that a model wrote and that was left out."""

    reason: str
    text: str = ""
    """The ask; empty where it holds a secret."""
    is_dangerous: bool = False
    """A secret or an instruction; everything else is merely of no use."""

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= _SHOWN_CHARS else f"{self.text[:_SHOWN_CHARS]}…"
        return f"an ask was left out: it {self.reason}{f' ({shown})' if shown else ''}"


def drop_bad_asks(topic: Topic, old: Topic | None = None) -> tuple[Topic, tuple[DroppedAsk, ...]]:
    """A topic that a model wrote without the asks that may not stand or are of no use, and those; `old` ones stay."""
    old_asks = old.asks if old is not None else ()
    if topic.asks == old_asks:
        return topic, ()
    text = f" {normal(f'{topic.name} {topic.description} {topic.body}')} "
    kept: list[str] = []
    dropped: list[DroppedAsk] = []
    for ask in topic.asks:
        bad = None if ask in old_asks else _judge(ask, text)
        if bad is None and len(kept) >= max(MAX_ASKS, len(old_asks)):
            bad = DroppedAsk(f"is one of more than {MAX_ASKS}", ask)
        if bad is None:
            kept.append(ask)
        else:
            dropped.append(bad)
    return replace(topic, asks=tuple(kept)), tuple(dropped)


def _judge(ask: str, text: str) -> DroppedAsk | None:
    if scan(ask):
        return DroppedAsk("holds a secret", is_dangerous=True)
    if {flag.suspicion for flag in flags(ask)} & INSTRUCTIONS:
        return DroppedAsk("is an instruction", ask, is_dangerous=True)
    if len(ask) > ASK_CHARS:
        return DroppedAsk(f"has more than {ASK_CHARS} characters", ask)
    words = normal(ask)
    return DroppedAsk("repeats the memory", ask) if not words or f" {words} " in text else None
