"""`python -m bench.peers [NAME …]`: environments with other people's libraries, to measure them beside ours.

Each has an environment of its own below `--peers`, so that nobody's dependencies meet ours. Some need a Python of 3.12
or newer, which is looked for on the path or named with `--newer-python`. A library that cannot be installed is named.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import default_peers

NEWER = ("python3.14", "python3.13", "python3.12")


@dataclass(frozen=True, slots=True)
class Library:
    """What is installed, the module that shows it is there, and whether it needs a newer Python."""

    packages: tuple[str, ...]
    module: str
    is_newer: bool = False


LIBRARIES = {
    "langchain": Library(("langchain",), "langchain.agents"),
    "openhands": Library(("openhands-sdk",), "openhands.sdk", is_newer=True),
    "mem0": Library(("mem0ai", "langchain<1"), "mem0"),
    "reme": Library(("reme-ai", "agentscope"), "reme", is_newer=True),
    "basic-memory": Library(("basic-memory",), "basic_memory", is_newer=True),
}


def find_peer(folder: Path, name: str) -> Path | None:
    """The Python of an environment that has the library; None when it is not installed."""
    python = folder / name / "bin" / "python"
    has = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({LIBRARIES[name].module!r}) is None)"
    for own in (python, Path(sys.executable)):
        if own.exists() and subprocess.run([own, "-c", has], capture_output=True, check=False).returncode == 0:
            return own
    return None


def install(folder: Path, name: str, newer_python: str | None) -> str:
    """Make the environment of a library unless it is there; what went wrong."""
    if find_peer(folder, name):
        return ""
    library = LIBRARIES[name]
    base: str | None = sys.executable
    if library.is_newer and sys.version_info < (3, 12):
        base = newer_python or next(filter(_runs, filter(None, map(shutil.which, NEWER))), None)
    if base is None:
        return "it needs Python 3.12 or newer, which is not on the path (`--newer-python`)"
    steps = [
        [base, "-m", "venv", str(folder / name)],
        [str(folder / name / "bin" / "python"), "-m", "pip", "install", "--quiet", *library.packages],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            return lines[-1] if lines else f"{step[1]} ended with {done.returncode}"
    return ""


def _runs(python: str) -> bool:
    """Whether it is more than a shim without a Python behind it."""
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(LIBRARIES)}; all without")
    parser.add_argument("--peers", type=Path, default=default_peers(), help="where the environments lie")
    parser.add_argument("--newer-python", help="a Python of 3.12 or newer")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in LIBRARIES]:
        parser.error(f"no library {', '.join(unknown)}; there are {', '.join(LIBRARIES)}")
    failed = 0
    for name in options.names or LIBRARIES:
        problem = install(options.peers, name, options.newer_python)
        print(f"{name}: {problem or 'installed'}", flush=True)
        failed += bool(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
