"""Other memory systems, each in a virtual environment of its own, driven through a small script over pipes.

`available_peers(folder)` looks for `folder/<peer>/bin/python`; without it a peer is left out and the table says so.
"""

from __future__ import annotations

import json
import subprocess
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path

from bench.recall.systems import Ranking, System, plain_text
from reverie.memory.search import Document

_DRIVERS = Path(__file__).with_name("drivers")
PEERS = ("basic-memory", "reme")
"""mem0 is missing: without a language model it stores texts as they are and finds them by vectors alone, and it carries
no embedding model. What it would return with MiniLM is the row `MiniLM alone`."""


def available_peers(folder: Path | None) -> dict[str, System]:
    """The peers whose environment and driver are there."""
    found: dict[str, System] = {}
    for name in PEERS:
        driver = _DRIVERS / f"{name.replace('-', '_')}.py"
        python = folder / name / "bin" / "python" if folder else None
        if python is None or not python.exists() or not driver.exists():
            print(f"{name}: not run (no environment under --peers)", file=sys.stderr)
            continue
        found[name] = _driven(python, driver)
    return found


def _driven(python: Path, driver: Path) -> System:
    def build(documents: Sequence[Document], folder: Path) -> Ranking:
        process = subprocess.Popen(
            [str(python), str(driver), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        to, back = process.stdin, process.stdout
        to.write(json.dumps([[each.key, plain_text(each)] for each in documents]) + "\n")
        to.flush()

        def rank(question: str) -> list[str]:
            to.write(json.dumps(question) + "\n")
            to.flush()
            keys: list[str] = json.loads(back.readline())
            return keys

        # The driver ends with its input, when the ranking is no longer held by anyone.
        weakref.finalize(rank, process.communicate)
        return rank

    return build
