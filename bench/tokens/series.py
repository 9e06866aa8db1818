"""Sessions as series of calls, and the fit of the rates without one of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import mul
from pathlib import Path

from reverie.messages.message import Usage
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from reverie.models.profiles import Profile, Tokenizer, profile
from reverie.models.tokens.count import UNCALIBRATED, growth, learn_one
from reverie.models.tokens.rates import RATES, Rates
from reverie.models.tokens.rounds import (
    TRUSTED_SHARE,
    CountedRound,
    forgotten_tokens,
    reply_tokens,
    rounds,
    tail_tokens,
)

LEAST_GROWTH_TOKENS = 200
LEAST_PAIRS = 6
HIDDEN_CONTENT = ("read-tool-variants.jsonl",)
"""Files whose tool results were replaced after the fact: nothing in them tells what was sent."""
START = (1.15, 1.0, 15.0, 15.0, 15.0)
"""Where every fit starts, in the order of `_rates`: round figures; escapes as the open vocabulary has them."""
HELD = (RATES[Tokenizer.OLD].script, RATES[Tokenizer.OLD].message)
"""Rates on which the sessions say nothing."""


@dataclass(frozen=True, slots=True)
class Series:
    """One session."""

    name: str
    calls: tuple[CountedRound, ...]

    @property
    def pairs(self) -> list[tuple[CountedRound, CountedRound, int]]:
        """Neighbouring calls with the growth between them."""
        found = [
            (one, following, following.usage.context_tokens - one.usage.context_tokens)
            for one, following in pairwise(self.calls)
            if one.model == following.model
        ]
        return [pair for pair in found if pair[2] > LEAST_GROWTH_TOKENS]


@dataclass(frozen=True, slots=True)
class Errors:
    """Relative errors; negative is under."""

    values: tuple[float, ...]

    @property
    def bias(self) -> float:
        return statistics.median(self.values)

    @property
    def typical(self) -> float:
        return statistics.median(map(abs, self.values))


def read_series(folder: Path) -> list[Series]:
    """All sessions under a folder that are long enough to say something."""
    found = []
    for path in sorted(folder.rglob("*.jsonl")):
        calls = tuple(rounds(project(read_entries(path)).items))
        series = Series(str(path.relative_to(folder)), calls)
        if path.name not in HIDDEN_CONTENT and len(series.pairs) >= LEAST_PAIRS and _is_real(calls):
            found.append(series)
    return found


def growth_errors(series: Series, rates: Rates | None, *, online: bool) -> Errors:
    """Errors of the predicted growth; `online` lets the session calibrate itself from the calls before."""
    values: list[float] = []
    calibration = UNCALIBRATED
    measured = {id(one) for one, _, _ in series.pairs}
    for one, following in pairwise(series.calls):
        facts, used = _terms(one, rates)
        if id(one) in measured:
            grown = following.usage.context_tokens - one.usage.context_tokens
            values.append(growth(one, facts, used, calibration) / grown - 1)
        if online:
            calibration = learn_one(one, following, facts, used, calibration)
    return Errors(tuple(values))


def size_errors(series: Series, rates: Rates | None) -> Errors:
    """Errors of the predicted size of the next request."""
    values = []
    for one, following in pairwise(series.calls):
        facts, used = _terms(one, rates)
        predicted = one.usage.context_tokens + growth(one, facts, used, UNCALIBRATED)
        values.append(predicted / following.usage.context_tokens - 1)
    return Errors(tuple(values))


def plain_errors(series: Series, weigh: Callable[[str], float]) -> Errors:
    """Errors of a bare weight of the visible text, which is what peers do."""
    values = []
    for one, _, grown in series.pairs:
        blocks = (block for item in (*one.reply, *one.tail) for block in item.message.content)
        values.append(sum(weigh(text) for text in map(visible_text, blocks)) / grown - 1)
    return Errors(tuple(values))


def visible_text(block: object) -> str:
    """The characters of a block as a reader of the file sees them."""
    from reverie.messages.blocks import Text, Thinking, ToolResult, ToolUse
    from reverie.messages.codec import encode_json

    match block:
        case Text(text=text) | Thinking(thinking=text):
            return text
        case ToolResult():
            return block.text
        case ToolUse(input=given):
            return encode_json(dict(given)).decode()
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class _Sums:
    """One pair as sums that each rate multiplies, so that a fit need not weigh the texts again."""

    reply: tuple[float, ...]
    tail: tuple[float, ...]
    fixed: float
    output_tokens: int
    grown: int

    def loss(self, rates: Sequence[float]) -> float:
        visible: float = sum(map(mul, self.reply, rates))
        reply = self.output_tokens if self.output_tokens >= TRUSTED_SHARE * visible else visible
        predicted: float = reply + self.fixed + sum(map(mul, self.tail, rates))
        loss = min(abs(predicted / self.grown - 1), _ACCIDENT)
        if reply is not visible and self.output_tokens > _WORDS:
            loss += 0.5 * min(abs(visible / self.output_tokens - 1), _ACCIDENT)
        return loss


_ACCIDENT = 0.25
"""A pair that is off by more holds something unseen; it pulls no harder than this."""
_WORDS = 40
"""Shorter answers say little about the rates."""


def fit(series: Iterable[Series]) -> Rates:
    """The rates of the older tokenizer that fit these series best, found by steps along one rate at a time."""
    training = [_sums(one, grown) for each in series for one, _, grown in each.pairs]
    rates = [*START, *HELD]
    best = sum(one.loss(rates) for one in training)
    for step in (1.5, 1.2, 1.08, 1.03, 1.01):
        before = best + 1
        while best < before:
            before = best
            for number in range(len(START)):
                for factor in (step, 1 / step):
                    trial = [*rates]
                    trial[number] *= factor
                    loss = sum(one.loss(trial) for one in training)
                    if loss < best - 1e-9:
                        rates, best = trial, loss
    return _rates(rates)


def _rates(values: Sequence[float]) -> Rates:
    plain, terminal, call, parameter, result, script, message = values
    return replace(
        RATES[Tokenizer.OLD],
        plain=plain,
        terminal=terminal,
        call=call,
        parameter=parameter,
        result=result,
        script=script,
        message=message,
    )


def _sums(one: CountedRound, grown: int) -> _Sums:
    """Weigh a pair once per rate, with that rate 1 and all others 0."""
    facts = profile(one.model or "")
    number = len(START) + len(HELD)
    nothing = _rates([0.0] * number)
    units = [_rates([float(at == place) for at in range(number)]) for place in range(number)]
    unreported = replace(one, usage=Usage())
    fixed = sum(tail_tokens(one, nothing).values())
    tails = [sum(tail_tokens(one, unit).values()) - forgotten_tokens(one, facts, unit) - fixed for unit in units]
    replies = [reply_tokens(unreported, facts, unit) for unit in units]
    return _Sums(tuple(replies), tuple(tails), fixed, one.usage.output_tokens, grown)


def _terms(one: CountedRound, rates: Rates | None) -> tuple[Profile, Rates]:
    facts = profile(one.model or "")
    return facts, rates or RATES[facts.tokenizer]


def _is_real(calls: Sequence[CountedRound]) -> bool:
    """Hand-made fixtures report contexts of a few hundred tokens."""
    return bool(calls) and calls[0].usage.context_tokens > 5_000
