"""`python -m bench.fidelity`: fidelity, size, cost and cache use of ours and of other strategies, on real sessions.

Needs the sample data (`REVERIE_SHARED_DATA` or `--data`). LangChain and OpenHands are installed into environments below
`--cache`; OpenHands needs Python 3.12 or newer (`--newer-python`). Whatever cannot be installed is left out and named.
Sessions that the summariser was tuned on and held-out ones are reported apart; intervals draw whole sessions.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import TypeVar

from bench.fidelity.chart import Bar, chart
from bench.fidelity.matched import points, verdict
from bench.fidelity.measure import MULTIPLES, OURS, Bill, Other, Sample, bills, interval, others, samples
from bench.fidelity.sessions import read_sessions
from bench.fidelity.with_langchain import LangChain, langchain_python
from bench.fidelity.with_openhands import OpenHands, openhands_python

WINDOWS = (30_000, 60_000, 120_000)
Row = TypeVar("Row", Sample, Bill)
PARTS = {"tuned": (False,), "held out": (True,), "all": (False, True)}
"""Which sessions a table is about, by whether they were held out."""


def main() -> None:
    asked = _arguments()
    sessions = [one for one in read_sessions(asked.data) if not asked.session or one.name.startswith(asked.session)]
    sessions = [one for one in sessions if one.is_held_out in PARTS[asked.part]]
    multiples = MULTIPLES if asked.matched else (1.0,)
    found: list[Sample] = []
    billed: list[Bill] = []
    started = time.perf_counter()
    with ExitStack() as stack:
        rivals = _rivals(asked, stack)
        for window in asked.windows:
            for session in sessions:
                made = list(samples(session, window, rivals, multiples))
                if not made:
                    continue
                found += made
                if not asked.without_cost:
                    target = mean(one.tokens for one in made if one.strategy == OURS)
                    billed += bills(session, window, target, rivals, multiples)
                print(f"# {window} {session.name}: {time.perf_counter() - started:.0f} s", flush=True)
    for part, kinds in PARTS.items():
        own = [one for one in found if one.is_held_out in kinds]
        paid = [one for one in billed if one.is_held_out in kinds]
        if own:
            print(f"\n## {part}: {len({one.session for one in own})} sessions")
            _print_table(_even(own), _even(paid))
            _print_goals(_even(own))
            if asked.matched and paid:
                _print_matched(own, paid)
    if asked.out:
        _write(asked.out, found, billed)


def _rivals(asked: argparse.Namespace, stack: ExitStack) -> list[Other]:
    first = None if asked.without_others else langchain_python(asked.cache)
    second = None if asked.without_others else openhands_python(asked.cache, asked.newer_python)
    for name, python in (("LangChain", first), ("OpenHands", second)):
        if python is None:
            print(f"# {name} is left out: no environment has it")
    return others(
        None if first is None else stack.enter_context(LangChain(first)),
        None if second is None else stack.enter_context(OpenHands(second)),
    )


def _arguments() -> argparse.Namespace:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser = argparse.ArgumentParser(prog="python -m bench.fidelity", description="Fidelity of reductions.")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("REVERIE_SHARED_DATA", beside)))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "reverie-bench")
    parser.add_argument("--windows", type=lambda text: tuple(map(int, text.split(","))), default=WINDOWS)
    parser.add_argument("--session", default="", help="only sessions whose name begins so")
    parser.add_argument("--out", type=Path, help="folder for results.json and chart.svg")
    parser.add_argument("--part", choices=tuple(PARTS), default="all", help="which sessions")
    parser.add_argument("--matched", action="store_true", help="also give the others smaller and larger budgets")
    parser.add_argument("--newer-python", help="a Python of 3.12 or newer, for OpenHands")
    parser.add_argument("--without-others", action="store_true", help="neither LangChain nor OpenHands")
    parser.add_argument("--without-cost", action="store_true")
    return parser.parse_args()


def _print_table(found: Sequence[Sample], billed: Sequence[Bill]) -> None:
    head = ("window", "strategy", "visible", "95 %", "reachable", "users", "tokens", "refused", "USD", "cached", "cuts")
    print("\n" + "{:>7} {:36} {:>8} {:>13} {:>9} {:>6} {:>7} {:>7} {:>7} {:>6} {:>4}".format(*head))
    for window, strategy, own in _groups(found):
        visible, low, high = interval([(one.session, one.score.visible_share) for one in own])
        bought = [bill.spending for bill in billed if (bill.window_tokens, bill.strategy) == (window, strategy)]
        refused = sum(one.is_refused for one in own)
        usd = f"{sum(one.cost_usd for one in bought):.2f}" if bought else "-"
        cached = f"{mean(one.read_share for one in bought):.1%}" if bought else "-"
        print(
            f"{window:>7} {strategy:36} {visible:>7.1%}{'*' if refused else ' '} {low:>6.1%}-{high:<6.1%}"
            f" {mean(one.score.reachable_share for one in own):>9.1%} {mean(one.score.user_share for one in own):>6.0%}"
            f" {mean(one.tokens for one in own):>7.0f} {refused / len(own):>7.0%}"
            f" {usd:>7} {cached:>6} {len(own):>4}"
        )
    if any(one.is_refused for one in found):
        print("* counts what views show that are larger than the window: no request can hold them")


def _print_goals(found: Sequence[Sample]) -> None:
    """Ours against each other strategy at the same cuts: by how much it is ahead, and what it takes for that.

    A view that no request can hold is no strategy at that cut; with such views counted, the difference stands behind.
    """
    print("\nours minus the other at the same cuts (visible, points; 95 % interval) and tokens of ours per token of it")
    mine = {(one.window_tokens, one.session, one.at): one for one in found if one.strategy == OURS}
    for window, strategy, own in _groups(found):
        if strategy == OURS:
            continue
        pairs = [(mine[(window, one.session, one.at)], one) for one in own]
        sent = [(a, b) for a, b in pairs if not b.is_refused]
        told = _ahead(sent) if sent else "every view is larger than the window"
        if len(sent) < len(pairs):
            told += f", at the {len(sent)} cuts where its view is no larger than the window; over all {_ahead(pairs)}"
        print(f"{window:>7} {strategy:36} {told}")


def _ahead(pairs: Sequence[tuple[Sample, Sample]]) -> str:
    ahead, low, high = interval([(a.session, (a.score.visible_share - b.score.visible_share) * 100) for a, b in pairs])
    ratio = sum(a.tokens for a, _ in pairs) / sum(b.tokens for _, b in pairs)
    return f"{ahead:+6.1f} ({low:+.1f} to {high:+.1f}), {ratio:.2f}"


def _print_matched(found: Sequence[Sample], billed: Sequence[Bill]) -> None:
    for window in dict.fromkeys(one.window_tokens for one in found):
        print(f"\nmatched fidelity, window of {window} tokens")
        for line in verdict(points(found, billed, window)):
            print(f"  {line}")


def _even(found: Iterable[Row]) -> list[Row]:
    """Those with the budget that ours took."""
    return [one for one in found if one.multiple == 1.0]


def _groups(found: Sequence[Sample]) -> list[tuple[int, str, list[Sample]]]:
    keys = dict.fromkeys((one.window_tokens, one.strategy) for one in found)
    return [(w, s, [one for one in found if (one.window_tokens, one.strategy) == (w, s)]) for w, s in keys]


def _write(folder: Path, found: Sequence[Sample], billed: Sequence[Bill]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "samples": [asdict(one) for one in found],
        "bills": [
            {**asdict(one), "cost_usd": one.spending.cost_usd, "read_share": one.spending.read_share} for one in billed
        ],
    }
    (folder / "results.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    bars = [
        Bar(
            window,
            strategy,
            interval([(one.session, one.score.visible_share) for one in own]),
            mean(one.score.reachable_share for one in own),
            mean(one.tokens for one in own),
            strategy == OURS,
        )
        for window, strategy, own in _groups(_even(found))
    ]
    (folder / "chart.svg").write_text(chart(bars), encoding="utf-8")


if __name__ == "__main__":
    main()
