"""The long session again, under several strategies: what each costs, and what each has forgotten at its end.

All of them get the same recording, the same window, the same provider's rules and the same bill, and are asked by one
function what is left of what the user said and decided, which files were touched, what failed, and what is still open
(`apps.replay.survival`). The others are the usual ways in plain form; none of them is another product.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reverie.apps.replay.run import ReplayRun, ReplaySetup, steps
from reverie.apps.replay.strategies import STRATEGIES
from reverie.apps.replay.survival import Survival, measure_survival
from reverie.hosts.catalogue import read_any_entries
from reverie.messages.message import Usage
from reverie.models import from_settings
from reverie.models.profiles import cost, profile
from reverie.settings import Settings
from reverie.values import value

COMPARED = {
    "default": "Reverie",
    "truncate": "drop the oldest",
    "clear-tools": "empty old results",
    "summarise": "one summary",
}
"""Strategies of `reverie replay`, and what they do in words."""


@value
class StrategyResult:
    """One strategy at the end of the session."""

    name: str
    requests: int
    reductions: int
    peak_tokens: int
    input_tokens: int
    cached_tokens: int
    cost_usd: float
    uncached_usd: float
    """What the same requests cost where no prompt cache is kept."""
    survival: Survival

    @property
    def cached_share(self) -> float:
        return self.cached_tokens / max(1, self.input_tokens)


def compare_strategies(
    transcript: Path,
    model: str,
    settings: Settings,
    window_tokens: int,
    heard: Callable[[str], None] = lambda _name: None,
) -> list[StrategyResult]:
    """Replay a session under each strategy; `heard` is told the name of the one that begins."""
    recording = steps(read_any_entries(transcript))
    budget = from_settings.budget(settings, model, window=window_tokens)
    by_name = {strategy.name: strategy for strategy in STRATEGIES}
    results = []
    for name, words in COMPARED.items():
        heard(words)
        setup = ReplaySetup(model, profile(model), budget, settings, by_name[name])
        run = ReplayRun(setup, recording[0].at)
        rows = [run.request(step, number) for number, step in enumerate(recording, 1)]
        full = Usage(input_tokens=sum(row.tokens for row in rows), output_tokens=sum(row.output for row in rows))
        results.append(
            StrategyResult(
                name=words,
                requests=len(rows),
                reductions=sum(bool(row.reduced) for row in rows),
                peak_tokens=max(row.tokens for row in rows),
                input_tokens=full.input_tokens,
                cached_tokens=sum(row.cache_read for row in rows),
                cost_usd=sum(row.cost_usd or 0.0 for row in rows),
                uncached_usd=cost(full, setup.facts) or 0.0,
                survival=measure_survival(run.log.entries, run.log.view),
            )
        )
    return results


def count_conversation_tokens(transcript: Path, model: str) -> int:
    """The size of everything that was said in a session, if nothing were ever left out."""
    from reverie.models.tokens.estimate import weigh_message
    from reverie.models.tokens.rates import rates_for

    rates = rates_for(profile(model))
    total = 0.0
    for step in steps(read_any_entries(transcript)):
        for entry in (*step.arrived, *step.reply):
            message = getattr(entry, "message", None)
            if message is not None:
                total += weigh_message(message, rates)
    return round(total)
