"""Counts the tokens of the next request: reported usage plus an estimate of what was added since.

The last reported size, plus the answer that came with it, plus an estimate of what was added since, minus what was
taken out after it was reported. A view without a believable report is estimated as a whole.

`Calibration` corrects the estimates by what the session's reported usage showed, per kind of content. It is a value:
observing gives a new one. Each factor follows the middle of what it saw in small steps, so that a reminder which the
provider was sent unseen does not move it far; it is drawn towards the factor of the whole session while it rests on
little, and that one towards 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import exp, log
from operator import is_
from typing import Self

from reverie.messages.entries import Entry
from reverie.messages.view import Item, View, project
from reverie.models.profiles import Profile, profile
from reverie.models.tokens.estimate import weigh_message, weigh_view
from reverie.models.tokens.rates import Rates, rates_for
from reverie.models.tokens.rounds import CountedRound, forgotten_tokens, newest_rounds, reply_tokens, tail_tokens
from reverie.values import value

LEARN_FROM_ROUNDS = 40
"""How many of the newest calls teach the calibration; enough to settle, few enough to stay fast."""
_DOMINANT_SHARE = 0.7
"""A call teaches about a kind of content when that kind is most of what was added."""
_MOST_BELIEVED, _LEAST_BELIEVED = 2.0, 0.05
"""A count above or below these multiples of the whole estimate rests on a figure that the provider got wrong."""
_UNSEEN_TOKENS, _UNSEEN_PROMPT_TOKENS = 4_000, 60_000
"""What a request may hold that the view does not show; the second where the recording lacks system text and tools."""


@value
class TokenCount:
    """How large the next request will be, and what that rests on."""

    tokens: int
    reported_tokens: int = 0
    """Of these, what the provider itself counted: the last request."""
    estimated_tokens: int = 0
    """The rest: answer, tail, and what was taken out."""


def count(
    view: View,
    facts: Profile,
    *,
    entries: Sequence[Entry] = (),
    calibration: Calibration | None = None,
    rates: Rates | None = None,
    learner: Learner | None = None,
    estimate: Callable[[View], int] | None = None,
) -> TokenCount:
    """Count a view for a model.

    `entries` are needed only when something was taken out after the last report, to know how much. Without a
    `calibration` one is learnt from the newest calls of the view; a `learner` remembers it from count to count.
    `estimate` weighs a whole view, for callers who remember the weights. A report that cannot be about this
    conversation is not believed: the estimate of the whole stands.
    """
    rates = rates or rates_for(facts)
    whole = estimate(view) if estimate is not None else weigh_view(view, facts, rates)
    calls = newest_rounds(view.items, LEARN_FROM_ROUNDS)
    if not calls:
        return TokenCount(whole, estimated_tokens=whole)
    if calibration is None:
        calibration = (learner or Learner()).calibration(calls[-LEARN_FROM_ROUNDS:], facts, rates)
    last = calls[-1]
    change = growth(last, facts, rates, calibration)
    if view.reduced_after is not None and any(item.uuid == view.reduced_after for item in last.reply):
        change -= calibration.ratio() * _count_freed(view, entries, last, rates)
    reported = last.usage.context_tokens
    tokens = round(reported + change)
    unseen = _UNSEEN_TOKENS if view.system or view.tools else _UNSEEN_PROMPT_TOKENS
    if not _LEAST_BELIEVED * whole <= tokens <= _MOST_BELIEVED * whole + unseen:
        return TokenCount(whole, estimated_tokens=whole)
    return TokenCount(tokens, reported, round(change))


class Learner:
    """Keeps what was learnt for as long as the calls are the same, which is from one reply to the next."""

    def __init__(self) -> None:
        self._calls: list[Item] = []
        self._known = UNCALIBRATED

    def calibration(self, calls: Sequence[CountedRound], facts: Profile, rates: Rates) -> Calibration:
        """As `learn`; always for one model."""
        looked_at = [item for one in calls[:-1] for item in (*one.reply, *one.tail)] + calls[-1].reply
        if len(looked_at) != len(self._calls) or not all(map(is_, looked_at, self._calls)):
            self._known = learn(calls, facts, rates)
            self._calls = looked_at
        return self._known


def growth(call: CountedRound, facts: Profile, rates: Rates, calibration: Calibration) -> float:
    """By how much the next request is larger than this one was."""
    tail = sum(calibration.ratio(kind) * tokens for kind, tokens in tail_tokens(call, rates).items())
    return reply_tokens(call, facts, rates) + tail - forgotten_tokens(call, facts, rates)


def learn(calls: Sequence[CountedRound], facts: Profile, rates: Rates) -> Calibration:
    """Compare what each call added with how much larger the next one was reported to be."""
    calibration = UNCALIBRATED
    for call, following in pairwise(calls):
        calibration = learn_one(call, following, facts, rates, calibration)
    return calibration


def learn_one(
    call: CountedRound, following: CountedRound, facts: Profile, rates: Rates, calibration: Calibration
) -> Calibration:
    """What one call and its successor teach."""
    if call.model != following.model:
        return calibration
    tail = tail_tokens(call, rates)
    estimated = sum(tail.values())
    if estimated <= 0:
        return calibration
    seen = following.usage.context_tokens - call.usage.context_tokens
    seen_tail = seen - reply_tokens(call, facts, rates) + forgotten_tokens(call, facts, rates)
    kind = max(tail, key=lambda name: tail[name])
    dominant = tail[kind] >= _DOMINANT_SHARE * estimated
    return calibration.observe(estimated, seen_tail, kind if dominant else "")


def _count_freed(view: View, entries: Sequence[Entry], anchor: CountedRound, rates: Rates) -> float:
    """The weight of what was in the reported request and is no longer, less what stands in its place."""
    end = anchor.reply[-1].uuid
    then = _until(project(entries, leaf=end).items, end)
    now = _until(view.items, end)
    before = {item.uuid: item.message for item in then}
    after = {item.uuid: item.message for item in now}
    gone = sum(weigh_message(message, rates) for uuid, message in before.items() if after.get(uuid) != message)
    come = sum(weigh_message(message, rates) for uuid, message in after.items() if before.get(uuid) != message)
    return gone - come if before else 0.0


def _until(items: Sequence[Item], uuid: str) -> list[Item]:
    for number, item in enumerate(items):
        if item.uuid == uuid:
            return list(items[: number + 1])
    return []


def model_of(view: View) -> str | None:
    """The model that answered last."""
    return next((item.model for item in reversed(view.items) if item.model and item.usage), None)


def facts_of(view: View, otherwise: str = "") -> Profile:
    """The facts on the model that answered last."""
    return profile(model_of(view) or otherwise)


_DOUBT = 4.0
"""How many observations the starting belief is worth."""
_MEMORY = 12.0
"""How many observations count at most."""
_STEP = 0.12
"""How far one observation can pull, as a logarithm; the pull itself weakens until…"""
_SETTLED = 8.0
"""…this many observations, and stays so, because sessions change their subject."""
_LEAST, _MOST = log(0.4), log(3.0)
"""A single observation outside is an accident, such as a file that was injected unseen."""


@value
class Factor:
    """One running middle, as a logarithm."""

    middle: float = 0.0
    weight: float = 0.0

    def observe(self, value: float) -> Factor:
        """The middle after one more value."""
        weight = min(self.weight + 1.0, _MEMORY)
        pull = min(max(value - self.middle, -_STEP), _STEP)
        return Factor(self.middle + pull / min(weight, _SETTLED), weight)

    def towards(self, belief: float) -> float:
        """The middle, drawn towards a belief while it rests on little."""
        return (self.middle * self.weight + belief * _DOUBT) / (self.weight + _DOUBT)


@value
class Calibration:
    """The factors of one session and model."""

    overall: Factor = Factor()
    by_kind: Mapping[str, Factor] = field(default_factory=dict)

    def ratio(self, kind: str = "") -> float:
        """By what an estimate of this kind is to be multiplied."""
        belief = self.overall.towards(0.0)
        factor = self.by_kind.get(kind)
        return exp(belief if factor is None else factor.towards(belief))

    def observe(self, estimated: float, reported: float, kind: str = "") -> Self:
        """Learn from one estimate and what the provider reported for it; nonsense teaches nothing."""
        if estimated <= 0 or reported <= 0:
            return self
        value = log(reported) - log(estimated)
        if not _LEAST <= value <= _MOST:
            return self
        kinds = self.by_kind
        if kind:
            kinds = {**kinds, kind: kinds.get(kind, Factor()).observe(value)}
        return type(self)(self.overall.observe(value), kinds)


UNCALIBRATED = Calibration()
"""Every estimate as it is."""
