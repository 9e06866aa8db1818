"""Replay all recordings of the sample data: `python -m bench.replay [WINDOW …]`.

Totals per window and strategy. A refusal other than "too long" under `none`, an unannounced break or a lost survivor is
a fault of ours and is named.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from reverie.apps.replay.figures import SessionFigures
from reverie.apps.replay.run import ReplaySetup, replay, steps
from reverie.apps.replay.strategies import STRATEGIES
from reverie.messages.trajectory import read_recording
from reverie.models.profiles import profile
from reverie.models.tokens.window import budget_by
from reverie.settings import Settings

MODEL = "claude-sonnet-4-6"
WINDOWS = (4_000, 30_000, 60_000, 120_000)


def recordings() -> list[Path]:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("REVERIE_SHARED_DATA", beside))
    found = [*sorted((folder / "transcripts").rglob("*.jsonl")), *sorted((folder / "trajectories").rglob("*.json"))]
    return [path for path in found if len(steps(read_recording(path))) >= 10]


def main(windows: tuple[int, ...]) -> None:
    paths = recordings()
    if not paths:
        raise SystemExit("no sample data here: set REVERIE_SHARED_DATA to its folder")
    print(f"{len(paths)} recordings, {MODEL}")
    headings = f"{'cost $':>8} {'cached':>7} {'ceiling':>8} {'peak':>8} {'ms max':>7}"
    print(f"{'window':>7} {'strategy':12} {'whole':>6} {headings}")
    faults: list[str] = []
    for window in windows:
        for strategy in STRATEGIES:
            done: list[SessionFigures] = []
            for path in paths:
                with tempfile.TemporaryDirectory() as spills:
                    setup = ReplaySetup(
                        MODEL,
                        profile(MODEL),
                        budget_by(Settings(), MODEL, window=window),
                        Settings(),
                        strategy,
                        spills=Path(spills),
                    )
                    one = replay(path.name, read_recording(path), setup)
                done.append(one)
                faults += named_faults(one, window)
            report(window, strategy.name, done)
    print(f"\n{len(faults)} faults", *faults, sep="\n  ")


def report(window: int, strategy: str, done: list[SessionFigures]) -> None:
    total = sum(row.tokens for one in done for row in one.requests)
    read = sum(row.cache_read for one in done for row in one.requests)
    best = sum(one.ceiling_share * sum(row.tokens for row in one.requests) for one in done)
    whole = sum(len(one.requests) == one.steps and one.stopped is None for one in done)
    cost = sum(one.cost_usd or 0.0 for one in done)
    slowest = max((row.prepare_ms for one in done for row in one.requests if not row.reduced), default=0.0)
    print(
        f"{window:>7} {strategy:12} {whole:>3}/{len(done):<2} {cost:>8.2f} {read / max(1, total):>7.1%} "
        f"{best / max(1, total):>8.1%} {max(one.peak_tokens for one in done):>8} {slowest:>7.1f}",
        flush=True,
    )


def named_faults(one: SessionFigures, window: int) -> list[str]:
    where = f"{one.file}, {one.strategy}, {window}"
    found = [
        f"{where}: request {number}: {row.refused}"
        for number, row in enumerate(one.requests, 1)
        if row.refused and not (one.strategy == "none" and "too long" in row.refused)
    ]
    found += [
        f"{where}: request {number}: {row.break_cause}, not announced"
        for number, row in enumerate(one.requests, 1)
        if row.break_cause and not row.is_announced
    ]
    if one.strategy == "default":
        found += [
            f"{where}: request {number}: lost {what}" for number, row in enumerate(one.requests, 1) for what in row.lost
        ]
    return found


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or WINDOWS)
