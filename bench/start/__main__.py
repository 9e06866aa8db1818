"""Measure cold starts: `python -m bench.start`. The best of many runs, since the machine does other things too."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

RUNS = 30


def best(command: list[str], environment: dict[str, str]) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, env=environment)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    sample = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
    program = str(Path(sys.executable).with_name("reverie"))
    with tempfile.TemporaryDirectory() as home:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["HOME"] = home
        large = Path(home) / "large.jsonl"
        lines = sample.read_text(encoding="utf-8")
        large.write_text(lines * (1_500_000 // len(lines)), encoding="utf-8")
        bare = best([sys.executable, "-c", "pass"], environment)
        print(f"{'command':34} {'ms':>7} {'× bare':>7}")
        for name, command in {
            "python -c pass": [sys.executable, "-c", "pass"],
            "reverie --version": [program, "--version"],
            "reverie --help": [program, "--help"],
            "reverie settings --json": [program, "settings", "--json"],
            "reverie context (1.5 MB) --json": [program, "context", str(large), "--json"],
            "reverie context (1.5 MB)": [program, "context", str(large)],
        }.items():
            seconds = best(command, environment)
            print(f"{name:34} {seconds * 1000:>7.1f} {seconds / bare:>7.1f}")


if __name__ == "__main__":
    main()
