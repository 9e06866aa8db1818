"""Run every strategy at every cut of every session and collect what the tables show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TypeAlias

from bench.fidelity import strategies
from bench.fidelity.cuts import Cut, cuts, lines_of, weigh_items
from bench.fidelity.score import Need, Score, score
from bench.fidelity.sessions import Session
from bench.fidelity.spending import Spending, spending
from bench.fidelity.with_langchain import LangChain
from bench.fidelity.with_openhands import OpenHands
from reverie.messages.view import Item

OURS = "reverie"
TRUNCATE = "truncation"
CLEAR = "clear tool results, then truncate"
EDITING = "LangChain ContextEditing"
SUMMARY = "LangChain Summarization"
SUMMARY_WHOLE = "LangChain Summarization, untrimmed"
CONDENSER = "OpenHands LLMSummarizingCondenser"
MOST_CUTS = 12
"""Measured per session and window, spread over the whole session."""
MULTIPLES = (1.0, 1.5, 2.0, 3.0)
"""Budgets of the others, in sizes of ours, with which a matching fidelity is looked for."""
FULLEST = 0.9
"""Of the compaction line: a view that is reduced to more than this is reduced again a few requests later."""
RESAMPLES = 2_000
SEED = 20_261_115

Reduce: TypeAlias = Callable[[Sequence[Item], float], list[Item]]


@dataclass(frozen=True, slots=True)
class Other:
    """A strategy that takes a budget."""

    name: str
    reduce: Reduce
    rolls: bool = False
    """Whether it works on what it left the last time; else it looks at the whole history again."""
    bill: Reduce | None = None
    """How it reduces while a whole session is billed, if not the same."""


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
    is_refused: bool = False
    """Whether the view is larger than the window without the room for an answer: no request can hold it, so at this cut
    the strategy is none, whatever the view would show."""
    multiple: float = 1.0
    """Its budget, in sizes of ours."""


@dataclass(frozen=True, slots=True)
class Bill:
    """One strategy over one session."""

    strategy: str
    session: str
    is_held_out: bool
    window_tokens: int
    spending: Spending
    multiple: float = 1.0


def others(langchain: LangChain | None, openhands: OpenHands | None) -> list[Other]:
    """All strategies but ours that can be run here."""
    found = [Other(TRUNCATE, strategies.truncated), Other(CLEAR, strategies.cleared)]
    if langchain is not None:
        found += [
            Other(EDITING, langchain.edited, bill=langchain.edits_as_set_up()),
            Other(SUMMARY, lambda view, budget: langchain.summarised(view, budget, trims=True), rolls=True),
            Other(SUMMARY_WHOLE, lambda view, budget: langchain.summarised(view, budget, trims=False), rolls=True),
        ]
    if openhands is not None:
        found.append(Other(CONDENSER, openhands.condensed, rolls=True))
    return found


def samples(
    session: Session,
    window_tokens: int,
    rivals: Sequence[Other],
    multiples: Sequence[float] = (1.0,),
    most_cuts: int = MOST_CUTS,
) -> Iterable[Sample]:
    """All strategies at the cuts of one session, each with the tokens that ours took there or a multiple of them."""
    limit = lines_of(window_tokens).compact_at_tokens
    rolling = {(one.name, by): _Rolling(one.reduce, limit) for one in rivals if one.rolls for by in multiples}
    places = cuts(session.items, window_tokens)
    wanted = set(spread(places, most_cuts))
    for cut in places:
        is_measured = cut in wanted
        if not is_measured and not any(one.is_due(session.items, cut) for one in rolling.values()):
            continue
        mine = strategies.ours(session, cut.at, window_tokens)
        size = weigh_items(mine)
        views: dict[tuple[str, float], list[Item]] = {(OURS, 1.0): mine}
        for by in multiples:
            budget = min(size * by, max(size, FULLEST * limit))
            for one in rivals:
                if one.rolls:
                    roll = rolling[(one.name, by)]
                    if is_measured or roll.is_due(session.items, cut):
                        views[(one.name, by)] = roll.reduced(session.items, cut, budget)
                elif is_measured:
                    views[(one.name, by)] = one.reduce(session.items[: cut.at], budget)
        if is_measured:
            yield from _scored(session, window_tokens, cut, views)


def _scored(
    session: Session, window_tokens: int, cut: Cut, views: Mapping[tuple[str, float], list[Item]]
) -> Iterable[Sample]:
    need = Need(session.items, cut)
    lines = lines_of(window_tokens)
    for (name, by), view in views.items():
        tokens = weigh_items(view)
        yield Sample(
            name,
            session.name,
            session.is_held_out,
            window_tokens,
            cut.at,
            score(need, view),
            tokens,
            fits=tokens <= lines.compact_at_tokens,
            is_refused=tokens > lines.effective_tokens,
            multiple=by,
        )


class _Rolling:
    """What a strategy left the last time that it had to reduce; a cut between two such times changes nothing."""

    def __init__(self, reduce: Reduce, limit_tokens: int) -> None:
        self._reduce = reduce
        self._limit_tokens = limit_tokens
        self._at = 0
        self._view: list[Item] = []

    def is_due(self, items: Sequence[Item], cut: Cut) -> bool:
        return weigh_items(self._before(items, cut)) > self._limit_tokens

    def reduced(self, items: Sequence[Item], cut: Cut, budget_tokens: float) -> list[Item]:
        before = self._before(items, cut)
        view = self._reduce(before, budget_tokens)
        if weigh_items(before) > self._limit_tokens:
            self._at, self._view = cut.at, view
        return view

    def _before(self, items: Sequence[Item], cut: Cut) -> list[Item]:
        return [*self._view, *items[self._at : cut.at]]


def spread(places: Sequence[Cut], most: int) -> list[Cut]:
    """So many of the cuts, evenly over the session, the first and the last among them."""
    if len(places) <= most:
        return list(places)
    return [places[round(number * (len(places) - 1) / (most - 1))] for number in range(most)]


def bills(
    session: Session,
    window_tokens: int,
    target_tokens: float,
    rivals: Sequence[Other],
    multiples: Sequence[float] = (1.0,),
) -> Iterable[Bill]:
    """What the whole session costs with each strategy; the others reduce to the given size or a multiple of it."""
    items = session.items
    limit = lines_of(window_tokens).compact_at_tokens
    mine = spending(items, window_tokens, lambda at, _: strategies.ours(session, at, window_tokens))
    yield Bill(OURS, session.name, session.is_held_out, window_tokens, mine)
    for by in multiples:
        budget = min(target_tokens * by, max(target_tokens, FULLEST * limit))
        for one in rivals:
            spent = spending(items, window_tokens, _billed(one, items, budget), keeps=one.name != EDITING)
            yield Bill(one.name, session.name, session.is_held_out, window_tokens, spent, by)


def _billed(one: Other, items: Sequence[Item], budget_tokens: float) -> Callable[[int, Sequence[Item]], list[Item]]:
    reduce = one.bill or one.reduce
    if one.name == EDITING:
        return lambda at, _: reduce(items[:at], budget_tokens)
    return lambda _, view: reduce(view, budget_tokens)


def interval(values: Sequence[tuple[str, float]]) -> tuple[float, float, float]:
    """The mean of values with their sessions and its 95 % interval.

    Whole sessions are drawn and not single cuts: the cuts of one session overlap and are no independent evidence. With
    a handful of sessions the interval is rough, and with one there is none: both ends are the mean.
    """
    if not values:
        return 0.0, 0.0, 0.0
    by_session: dict[str, list[float]] = {}
    for session, value in values:
        by_session.setdefault(session, []).append(value)
    draw = random.Random(SEED)
    groups = list(by_session.values())
    means = sorted(
        mean(one for group in draw.choices(groups, k=len(groups)) for one in group) for _ in range(RESAMPLES)
    )
    return mean(value for _, value in values), means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]
