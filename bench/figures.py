"""Figures with their intervals, as data: what a measurement returns, prints, and writes for the report.

A measurement is a module with `--quick` and `--json`; it fills tables of figures and names what it left out. Weights of
vectors are looked for in `--models`, else `$REVERIE_BENCH_MODELS`, else `$REVERIE_HOME/models`, else
`~/.reverie/models`; sample data in `$REVERIE_SHARED_DATA`, else `../shared/data`; other people's libraries in
environments below `--peers`, else `$REVERIE_BENCH_PEERS`, else `~/.cache/reverie-bench`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

BOOTSTRAP = "95 % interval by bootstrap"
WILSON = "95 % interval after Wilson"
RANGE = "median, with the least and the most"
_RESAMPLES = 1_000
_SEED = 7
_Z = 1.96
_DIGITS = 5
"""What is written of a figure: more is noise."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, the interval it lies in, and its unit: `%` for shares of one, else as it is printed."""

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        middle = show(self.value, self.unit)
        if self.low is None or self.high is None:
            return middle
        return f"{middle} ({show(self.low, self.unit, bare=True)}–{show(self.high, self.unit, bare=True)})"


@dataclass(frozen=True, slots=True)
class Row:
    """One way of doing it."""

    label: str
    figures: dict[str, Figure]
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Ways beside each other, by the same measure."""

    name: str
    title: str
    about: str
    """How it was measured and what the columns mean."""
    interval: str
    """What the figures in brackets are."""
    rows: list[Row]
    picture: str = ""
    """The column that is drawn."""


@dataclass(slots=True)
class Result:
    """What a measurement came to."""

    tables: list[Table] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What could not be measured here, and why, in words."""


def show(value: float, unit: str, *, bare: bool = False) -> str:
    """A value for people."""
    match unit:
        case "%":
            text = f"{value * 100:.1f}" if 0 < value < 0.1 or 0.99 < value < 1 else f"{value * 100:.0f}"
        case "$":
            text = f"{value:.2f}" if value >= 1 else f"{value:.3f}"
            return text if bare else f"${text}"
        case _ if value and abs(value) < 10 and value != int(value):
            text = f"{value:.2g}" if abs(value) < 1 else f"{value:.1f}"
        case _:
            text = f"{value:,.0f}"
    return text if bare or not unit else f"{text} {unit}"


def share(hits: int, of: int) -> Figure:
    """A share with its 95 % interval after Wilson."""
    if of == 0:
        return Figure(None, unit="%")
    part = hits / of
    middle = (part + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z * math.sqrt(part * (1 - part) / of + _Z**2 / (4 * of**2)) / (1 + _Z**2 / of)
    return Figure(part, max(0.0, middle - half), min(1.0, middle + half), "%")


def mean(values: Sequence[tuple[Hashable, float]], unit: str = "%") -> Figure:
    """The mean of values, each with the group it belongs to, and its bootstrap interval.

    Whole groups are drawn: what is asked of one request, or cut from one session, is no independent evidence.
    """
    if not values:
        return Figure(None, unit=unit)
    groups: dict[Hashable, list[float]] = {}
    for group, value in values:
        groups.setdefault(group, []).append(value)
    sums = [(sum(each), len(each)) for each in groups.values()]
    draw = random.Random(_SEED)
    means = []
    for _ in range(_RESAMPLES):
        drawn = draw.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    low, high = means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
    return Figure(statistics.fmean(value for _, value in values), low, high, unit)


def spread(values: Sequence[float], unit: str) -> Figure:
    """The median of measured values, with the least and the most."""
    return Figure(statistics.median(values), min(values), max(values), unit)


def percentile(values: Sequence[float], part: float, unit: str) -> Figure:
    """A percentile of values (0.99 for the 99th), and its bootstrap interval."""

    def of(some: Sequence[float]) -> float:
        return sorted(some)[min(len(some) - 1, int(len(some) * part))]

    draw = random.Random(_SEED)
    drawn = sorted(of(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return Figure(of(values), drawn[int(0.025 * _RESAMPLES)], drawn[int(0.975 * _RESAMPLES)], unit)


def default_models() -> Path:
    """Where the weights of vectors lie unless told otherwise."""
    if named := os.environ.get("REVERIE_BENCH_MODELS"):
        return Path(named)
    return Path(os.environ.get("REVERIE_HOME", "~/.reverie")).expanduser() / "models"


def default_peers() -> Path:
    """Where environments with other people's libraries lie unless told otherwise."""
    return Path(os.environ.get("REVERIE_BENCH_PEERS", "~/.cache/reverie-bench")).expanduser()


def shared_data() -> Path:
    """Where the sample data lies."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("REVERIE_SHARED_DATA", beside))


def add_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The options that all measurements have."""
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    return parser


def report(result: Result, options: argparse.Namespace) -> int:
    """Print a result and write it where it was asked for."""
    for table in result.tables:
        print_table(table)
    for reason in result.left_out:
        print(f"left out: {reason}")
    if options.json:
        options.json.write_text(json.dumps(asdict(result), default=str), encoding="utf-8")
    return 0


def print_table(table: Table) -> None:
    """A table for a terminal."""
    columns = list(dict.fromkeys(name for row in table.rows for name in row.figures))
    texts = [[row.label, *(str(row.figures.get(name, Figure(None))) for name in columns)] for row in table.rows]
    widths = [max(len(line[at]) for line in [["", *columns], *texts]) for at in range(len(columns) + 1)]
    print(f"\n{table.title} ({table.interval})")
    for line in [["", *columns], *texts]:
        print("  ".join(text.ljust(width) if at == 0 else text.rjust(width) for at, (text, width) in enumerate(
            zip(line, widths, strict=True))), flush=True)  # fmt: skip


def read_result(content: Mapping[str, Any]) -> Result:
    """A result as it was written."""
    tables = [
        Table(
            **{
                **table,
                "rows": [
                    Row(row["label"], {name: Figure(**each) for name, each in row["figures"].items()}, row["is_ours"])
                    for row in table["rows"]
                ],
            }
        )
        for table in content["tables"]
    ]
    return Result(tables, list(content["left_out"]))


def rounded(content: Any) -> Any:
    """JSON with its numbers cut to what they are worth."""
    if isinstance(content, dict):
        return {name: rounded(value) for name, value in content.items()}
    if isinstance(content, list):
        return [rounded(value) for value in content]
    return float(f"{content:.{_DIGITS}g}") if isinstance(content, float) else content
