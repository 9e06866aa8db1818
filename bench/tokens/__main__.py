"""Print the tables: `python -m bench.tokens [DATA]`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.tokens import exchanges
from bench.tokens.series import Errors, Series, fit, growth_errors, plain_errors, read_series, size_errors
from reverie.models.tokens.rates import pieces


def main() -> None:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    data = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("REVERIE_SHARED_DATA", beside))
    if not data.is_dir():
        sys.exit(f"no sample data at {data}: name the folder or set REVERIE_SHARED_DATA")
    _print_exchanges(data / "wire")
    _print_series(read_series(data / "transcripts"))
    _print_unseen(data / "wire" / "token_calibration.json")
    _print_speed()


def _print_exchanges(folder: Path) -> None:
    print("recorded exchanges: estimated against billed tokens (median error, bias; negative is under)")
    _line("requests with their bodies", exchanges.errors(exchanges.recorded(folder)))
    _line("answers of one text", exchanges.errors(exchanges.answers(folder)))
    _line("published pairs, by length alone", exchanges.errors(exchanges.published(folder / "token_calibration.json")))
    _line("  the same by bytes / 4", exchanges.by_bytes(folder / "token_calibration.json"))


def _print_series(all_series: list[Series]) -> None:
    print("\nsessions: growth from call to call, each with rates fitted to the others")
    peers = _peers()
    for series in all_series:
        rates = fit([other for other in all_series if other is not series])
        print(f"{series.name}: {len(series.pairs)} pairs")
        _line("  rates of the others", growth_errors(series, rates, online=False))
        _line("  and learning from its own past", growth_errors(series, rates, online=True))
        _line("  rates as shipped", growth_errors(series, None, online=False))
        _line("  as shipped, and learning", growth_errors(series, None, online=True))
        for name, weigh in peers.items():
            _line(f"  {name}", plain_errors(series, weigh))
        _line("  size of the next request", size_errors(series, rates))


def _print_unseen(path: Path) -> None:
    print("\nthe published series (characters per token of growth; files that are not in the folder included)")
    for series in json.loads(path.read_text(encoding="utf-8"))["session_delta"]:
        print(f"  {series['file']}: median {series['p50']}, so bytes / 4 is {1 - series['p50'] / 4:.0%} under")


def _print_speed() -> None:
    text = ("def read(path):\n    return path.read_text(encoding='utf-8').splitlines()[0]  # the first line\n") * 20_000
    start = time.perf_counter()
    pieces(text)
    print(
        f"\nspeed on one text of {len(text) / 1e6:.1f} MB: {len(text) / (time.perf_counter() - start) / 1e6:.0f} MB/s"
    )


def _peers() -> dict[str, Callable[[str], float]]:
    peers: dict[str, Callable[[str], float]] = {"bytes / 4": lambda text: len(text.encode()) / 4}
    try:
        import toktok
    except ImportError:
        return peers
    peers["toktok o200k of the visible text"] = lambda text: toktok.batch_count([text], "o200k_base")[0]
    return peers


def _line(name: str, errors: Errors) -> None:
    print(f"{name:40} {errors.typical:6.1%}  bias {errors.bias:+6.1%}  n={len(errors.values)}")


if __name__ == "__main__":
    main()
