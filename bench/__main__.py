"""All measurements of the report in one run: `python -m bench [--full] [NAME …]`.

Writes `bench/REPORT.md`, its pictures, `bench/report.json` and the table of figures in `README.md`. Quick by default
(under ten minutes on two cores), `--full` takes as long as it takes. With names only these parts are measured and
printed, and nothing is written but `--json`. A part that fails does not stop the others; Ctrl+C keeps what is done.

Weights of vectors are looked for in --models, else $REVERIE_BENCH_MODELS, else $REVERIE_HOME/models, else
~/.reverie/models (`reverie models install` puts them there). Sample data lies in $REVERIE_SHARED_DATA, else in
../shared/data. Other people's libraries have environments below --peers, else $REVERIE_BENCH_PEERS, else
~/.cache/reverie-bench; `python -m bench.peers` makes them. What is not there is left out, and the report says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

from bench.figures import default_models, default_peers, rounded, shared_data
from bench.parts import PARTS, Part
from bench.render import DATA, REPORT, write

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = {True: 1_800.0, False: 10_800.0}
"""A part that takes longer hangs and is ended, by whether the run is quick."""
INTERRUPTED, NOT_ASKED = "the run was interrupted before it ended", "it was not asked for"


def main(arguments: Sequence[str]) -> int:
    options = _read_options(arguments)
    chosen = [part for part in PARTS if not options.names or part.name in options.names]
    environment = _environment(options)
    begun = time.monotonic()
    content: dict[str, Any] = {
        "command": f"make bench{' FULL=1' if options.full else ''}",
        "is_quick": not options.full,
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": _ask("git", "rev-parse", "--short=12", "HEAD") or "unknown",
        "is_changed": bool(_ask("git", "status", "--porcelain", "--untracked-files=no")),
        "machine": describe_machine(),
        "load": [os.getloadavg()[0]],
    }
    done, is_interrupted = run_parts(chosen, environment, is_quick=not options.full)
    content["load"].append(os.getloadavg()[0])
    content["seconds"] = time.monotonic() - begun
    content["parts"] = [
        done.get(part.name)
        or describe_part(part, is_quick=not options.full, problem=INTERRUPTED if part in chosen else NOT_ASKED)
        for part in PARTS
    ]
    content = rounded(content)
    if options.json:
        options.json.write_text(_text(content), encoding="utf-8")
    if not options.names:
        DATA.write_text(_text(content), encoding="utf-8")
        write(content)
        print(f"\n{REPORT.relative_to(ROOT)} is written, after {content['seconds'] / 60:.1f} minutes")
    return 1 if is_interrupted or any(each["problem"] and each["seconds"] for each in done.values()) else 0


def run_parts(
    chosen: Sequence[Part], environment: Mapping[str, str], *, is_quick: bool
) -> tuple[dict[str, dict[str, Any]], bool]:
    """What each part came to, by name, and whether somebody pressed Ctrl+C.

    Parts that measure no times run beside each other, as many as there are cores; then the others, one by one.
    """
    done: dict[str, dict[str, Any]] = {}
    stop = Event()
    for part in chosen:
        if part.is_slow and is_quick:
            done[part.name] = describe_part(part, is_quick=True, problem="it is part of a full run only")
    waiting = [part for part in chosen if part.name not in done]

    def run(part: Part) -> None:
        print(f"{part.title}: {part.command(is_quick=is_quick)}", flush=True)
        outcome = run_part(part, environment, stop, is_quick=is_quick)
        if not stop.is_set():
            done[part.name] = outcome
            print(f"[{len(done)}/{len(chosen)}] {part.title}: {outcome['problem'] or 'done'}, "
                  f"{outcome['seconds']:.0f} s", flush=True)  # fmt: skip

    try:
        for is_timed, workers in ((False, _count_cores()), (True, 1)):
            with ThreadPoolExecutor(workers) as pool:
                try:
                    for future in [pool.submit(run, part) for part in waiting if part.is_timed is is_timed]:
                        future.result()
                except BaseException:
                    stop.set()
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
    except KeyboardInterrupt:
        print("\ninterrupted: what is done is kept", flush=True)
        return done, True
    return done, False


def run_part(part: Part, environment: Mapping[str, str], stop: Event, *, is_quick: bool) -> dict[str, Any]:
    """Run a part in a process of its own, which may fail; what it prints comes at its end, in one piece."""
    load, begun = os.getloadavg()[0], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, (Path(folder) / "printed").open("w+") as printed:
        target = Path(folder) / "result.json"
        command = [sys.executable, "-m", part.module, *(["--quick"] if is_quick else []), "--json", str(target)]
        process = subprocess.Popen(
            command, cwd=ROOT, env=dict(environment), start_new_session=True, stdout=printed, stderr=printed
        )
        problem, cpu = _wait(process, stop, MOST_SECONDS[is_quick])
        found = json.loads(target.read_text(encoding="utf-8")) if target.exists() and not problem else {}
        printed.seek(0)
        print(printed.read(), flush=True)
    if not found and not problem:
        problem = "it wrote no figures"
    return describe_part(part, is_quick=is_quick, problem=problem) | found | {
        "seconds": time.monotonic() - begun,
        "cpu_seconds": cpu,
        "load": [load, os.getloadavg()[0]],
    }  # fmt: skip


def describe_part(part: Part, *, is_quick: bool, problem: str) -> dict[str, Any]:
    """A part without figures."""
    command = part.command(is_quick=is_quick)
    return {
        "name": part.name, "command": command, "problem": problem, "seconds": 0.0, "cpu_seconds": 0.0,
        "load": [0.0, 0.0], "tables": [], "left_out": [],
    }  # fmt: skip


def describe_machine() -> dict[str, Any]:
    """What the figures were measured on."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "cores": _count_cores(),
        "processor": processor,
        "memory_gb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "git": _ask("git", "--version").removeprefix("git version "),
    }


def _wait(process: subprocess.Popen[bytes], stop: Event, most_seconds: float) -> tuple[str, float]:
    """Wait for the end; what went wrong, and the processor time. What the process started ends with it."""
    until, problem = time.monotonic() + most_seconds, ""
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        if stop.wait(0.1) or time.monotonic() > until:
            problem = "it was interrupted" if stop.is_set() else f"it took more than {most_seconds:.0f} s"
            _, status, used = _end(process.pid)
            break
    process.returncode = os.waitstatus_to_exitcode(status)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    if process.returncode and not problem:
        problem = f"it ended with {process.returncode}"
    return problem, used.ru_utime + used.ru_stime


def _end(pid: int) -> tuple[int, int, Any]:
    os.killpg(pid, signal.SIGTERM)
    return os.wait4(pid, 0)


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """Ours without settings of the program, so that a home of the person who measures is neither read nor written."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("REVERIE_", "ANTHROPIC_", "OPENAI_", "GEMINI_")) and name != "PYTHONDONTWRITEBYTECODE"
    }
    return kept | {
        "REVERIE_BENCH_MODELS": str(options.models.absolute()),
        "REVERIE_BENCH_PEERS": str(options.peers.absolute()),
        "REVERIE_SHARED_DATA": str(shared_data().absolute()),
    }


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ask(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _read_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(part.name for part in PARTS)}")
    parser.add_argument("--full", action="store_true", help="all cases and rounds")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--models", type=Path, default=default_models(), help="where the weights of vectors lie")
    parser.add_argument("--peers", type=Path, default=default_peers(), help="environments of other libraries")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in {part.name for part in PARTS}]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(part.name for part in PARTS)}")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
