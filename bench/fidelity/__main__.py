"""`python -m bench.fidelity`: fidelity, size, cost and cache use of ours and of other strategies, on real sessions.

Needs the sample data (`REVERIE_SHARED_DATA` or `--data`). LangChain and OpenHands have environments below `--peers`
(`python -m bench.peers`); what is not installed is left out and named. Sessions that the summariser was tuned on and
held-out ones are reported apart; intervals draw whole sessions.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import TypeVar

from bench.fidelity.matched import points, verdict
from bench.fidelity.measure import MOST_CUTS, MULTIPLES, OURS, Bill, Other, Sample, bills, interval, others, samples
from bench.fidelity.sessions import read_sessions
from bench.fidelity.with_langchain import LangChain
from bench.fidelity.with_openhands import OpenHands
from bench.figures import BOOTSTRAP, Figure, Result, Row, Table, add_options, default_peers, report, share, shared_data
from bench.figures import mean as average
from bench.peers import find_peer

WINDOWS = (30_000, 60_000, 120_000)
QUICK_WINDOW = 60_000
QUICK_CUTS = 6
Measured = TypeVar("Measured", Sample, Bill)
PARTS = {"tuned": (False,), "held out": (True,), "all": (False, True)}
"""Which sessions a table is about, by whether they were held out."""


def main(arguments: Sequence[str]) -> int:
    asked = _read_options(arguments)
    result = Result()
    if not (asked.data / "trajectories").is_dir():
        result.left_out.append("everything: the recorded sessions are not here (`REVERIE_SHARED_DATA`)")
        return report(result, asked)
    sessions = [one for one in read_sessions(asked.data) if not asked.session or one.name.startswith(asked.session)]
    sessions = [one for one in sessions if one.is_held_out in PARTS[asked.part]]
    windows = asked.windows or ((QUICK_WINDOW,) if asked.quick else WINDOWS)
    if asked.quick:
        skipped = " and ".join(f"{window:,}" for window in WINDOWS if window not in windows)
        result.left_out.append(f"windows of {skipped} tokens: in a full run only")
    multiples = MULTIPLES if asked.matched else (1.0,)
    found: list[Sample] = []
    billed: list[Bill] = []
    started = time.perf_counter()
    with ExitStack() as stack:
        rivals = _rivals(asked, stack, result)
        for window in windows:
            for session in sessions:
                made = list(samples(session, window, rivals, multiples, QUICK_CUTS if asked.quick else MOST_CUTS))
                if not made:
                    continue
                found += made
                if not asked.without_cost:
                    target = mean(one.tokens for one in made if one.strategy == OURS)
                    billed += bills(session, window, target, rivals, multiples)
                print(f"# {window} {session.name}: {time.perf_counter() - started:.0f} s", flush=True)
    for part in ("all", "held out"):
        kinds = PARTS[part]
        own = _even(one for one in found if one.is_held_out in kinds)
        paid = _even(one for one in billed if one.is_held_out in kinds)
        result.tables += [_table(part, window, own, paid) for window in dict.fromkeys(one.window_tokens for one in own)]
    for part, kinds in PARTS.items():
        own = [one for one in found if one.is_held_out in kinds]
        paid = [one for one in billed if one.is_held_out in kinds]
        if own and not asked.quick:
            print(f"\n## {part}: {len({one.session for one in own})} sessions")
            _print_goals(_even(own))
            if asked.matched and paid:
                _print_matched(own, paid)
    if asked.out:
        _write(asked.out, found, billed)
    return report(result, asked)


def _rivals(asked: argparse.Namespace, stack: ExitStack, result: Result) -> list[Other]:
    pythons = {
        name: None if asked.without_others else find_peer(asked.peers, name) for name in ("langchain", "openhands")
    }
    for name, python in pythons.items():
        if python is None:
            result.left_out.append(f"{name}: it is not installed (`python -m bench.peers`)")
    first, second = pythons.values()
    return others(
        None if first is None else stack.enter_context(LangChain(first)),
        None if second is None else stack.enter_context(OpenHands(second)),
    )


def _read_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.fidelity", description=__doc__))
    parser.add_argument("--data", type=Path, default=shared_data())
    parser.add_argument("--peers", type=Path, default=default_peers(), help="environments of other libraries")
    parser.add_argument("--windows", type=lambda text: tuple(map(int, text.split(","))), help="tokens: 30000,60000")
    parser.add_argument("--session", default="", help="only sessions whose name begins so")
    parser.add_argument("--out", type=Path, help="a file for every single cut, as JSON")
    parser.add_argument("--part", choices=tuple(PARTS), default="all", help="which sessions")
    parser.add_argument("--matched", action="store_true", help="also give the others smaller and larger budgets")
    parser.add_argument("--without-others", action="store_true", help="neither LangChain nor OpenHands")
    parser.add_argument("--without-cost", action="store_true")
    return parser.parse_args(arguments)


def _table(part: str, window: int, found: Sequence[Sample], billed: Sequence[Bill]) -> Table:
    rows = []
    for size, strategy, own in _groups(found):
        if size != window:
            continue
        bought = [bill for bill in billed if (bill.window_tokens, bill.strategy) == (window, strategy)]
        figures = {
            "visible": average([(one.session, one.score.visible_share) for one in own]),
            "reachable": average([(one.session, one.score.reachable_share) for one in own]),
            "user messages": average([(one.session, one.score.user_share) for one in own]),
            "tokens": average([(one.session, one.tokens) for one in own], "tokens"),
            "too large": share(sum(one.is_refused for one in own), len(own)),
        }
        if bought:
            costs = [bill.spending.cost_usd for bill in bought]
            figures["cost of the sessions"] = Figure(sum(costs), unit="$")
            figures["cache"] = average([(bill.session, bill.spending.read_share) for bill in bought])
        rows.append(Row(strategy, figures, is_ours=strategy == OURS))
    chosen = [one for one in found if one.window_tokens == window and one.strategy == OURS]
    sessions = len({one.session for one in chosen})
    about = (
        f"{sessions} recorded sessions, {len(chosen)} places of compaction. Visible: identifiers (names, paths, codes, "
        "numbers) that the real continuation uses and that are still in view with what they stood with. Reachable: "
        "also by one read that the view points to. User messages: kept word by word. Others get the tokens that ours "
        "took. Too large: views that no request can hold. Summaries of all are written by the same embedded "
        "summariser, without a model. Cost is that of all input of the sessions; cache, the share read from it."
    )
    name = str(window) if part == "all" else f"{window} {part}"
    title = f"Window of {window:,} tokens" + ("" if part == "all" else ", sessions that nothing was tuned on")
    picture = "visible" if part == "all" else ""
    return Table(name, title, about, f"{BOOTSTRAP}, whole sessions drawn", rows, picture)


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


def _even(found: Iterable[Measured]) -> list[Measured]:
    """Those with the budget that ours took."""
    return [one for one in found if one.multiple == 1.0]


def _groups(found: Sequence[Sample]) -> list[tuple[int, str, list[Sample]]]:
    keys = dict.fromkeys((one.window_tokens, one.strategy) for one in found)
    return [(w, s, [one for one in found if (one.window_tokens, one.strategy) == (w, s)]) for w, s in keys]


def _write(file: Path, found: Sequence[Sample], billed: Sequence[Bill]) -> None:
    document = {
        "samples": [asdict(one) for one in found],
        "bills": [
            {**asdict(one), "cost_usd": one.spending.cost_usd, "read_share": one.spending.read_share} for one in billed
        ],
    }
    file.write_text(json.dumps(document, indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
