"""Run every strategy at every cut of every session and collect what the table shows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from bench.fidelity import strategies
from bench.fidelity.cuts import cuts, lines_of, weigh_items
from bench.fidelity.score import Need, Score, score
from bench.fidelity.sessions import Session
from bench.fidelity.spending import Spending, spending
from bench.fidelity.with_langchain import LangChain
from reverie.messages.view import Item

OURS = "reverie"
TRUNCATE = "truncation"
CLEAR = "clear tool results, then truncate"
EDITING = "LangChain ContextEditing"
SUMMARY = "LangChain Summarization"
SUMMARY_WHOLE = "LangChain Summarization, untrimmed"
MOST_CUTS = 8
RESAMPLES = 2_000
SEED = 20_261_115


@dataclass(frozen=True, slots=True)
class Sample:
    """One strategy at one cut."""

    strategy: str
    session: str
    is_held_out: bool
    window_tokens: int
    at: int
    score: Score
    tokens: float
    """Of the reduced view."""
    fits: bool
    """Whether the view is below the compaction line, so that the session can go on."""


@dataclass(frozen=True, slots=True)
class Bill:
    """One strategy over one session."""

    strategy: str
    session: str
    window_tokens: int
    spending: Spending


def samples(session: Session, window_tokens: int, langchain: LangChain | None) -> Iterable[Sample]:
    """All strategies at the cuts of one session, each with the tokens that ours took there."""
    limit = lines_of(window_tokens).compact_at_tokens
    carried: dict[str, tuple[int, list[Item]]] = {}
    for cut in cuts(session.items, window_tokens)[:MOST_CUTS]:
        need = Need(session.items, cut)
        mine = strategies.ours(session, cut.at, window_tokens)
        size = weigh_items(mine)
        before = session.items[: cut.at]
        views = {OURS: mine, TRUNCATE: strategies.truncated(before, size), CLEAR: strategies.cleared(before, size)}
        if langchain is not None:
            views[EDITING] = langchain.edited(before, size)
            for name, trims in ((SUMMARY, True), (SUMMARY_WHOLE, False)):
                start, view = carried.get(name, (0, []))
                views[name] = langchain.summarised([*view, *before[start:]], size, trims=trims)
                carried[name] = (cut.at, views[name])
        for name, view in views.items():
            tokens = weigh_items(view)
            yield Sample(
                name,
                session.name,
                session.is_held_out,
                window_tokens,
                cut.at,
                score(need, view),
                tokens,
                tokens <= limit,
            )


def bills(session: Session, window_tokens: int, target_tokens: float, langchain: LangChain | None) -> Iterable[Bill]:
    """What the whole session costs with each strategy; the others reduce to the given size."""
    items = session.items
    reducers: dict[str, tuple[Callable[[int, Sequence[Item]], list[Item]], bool]] = {
        OURS: (lambda at, _: strategies.ours(session, at, window_tokens), True),
        TRUNCATE: (lambda _, view: strategies.truncated(view, target_tokens), True),
        CLEAR: (lambda _, view: strategies.cleared(view, target_tokens), True),
    }
    if langchain is not None:
        reducers[EDITING] = (lambda at, _: langchain.edited(items[:at], target_tokens), False)
        reducers[SUMMARY] = (lambda _, view: langchain.summarised(view, target_tokens, trims=True), True)
        reducers[SUMMARY_WHOLE] = (lambda _, view: langchain.summarised(view, target_tokens, trims=False), True)
    for name, (reduce, keeps) in reducers.items():
        yield Bill(name, session.name, window_tokens, spending(items, window_tokens, reduce, keeps=keeps))


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its 95 % bootstrap interval."""
    if not values:
        return 0.0, 0.0, 0.0
    draw = random.Random(SEED)
    means = sorted(mean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return mean(values), means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]
