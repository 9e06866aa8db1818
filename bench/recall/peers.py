"""Other memory systems, each in a virtual environment of its own, driven through a small script over pipes.

`available_peers(folder)` looks for `folder/<peer>/bin/python`; without it a peer is left out and the table says so.
A peer starts once and is told every case in turn: starting takes some of them seconds.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recall.systems import Ranking, System

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

_ROOT = Path(__file__).resolve().parents[2]
PEERS = ("basic-memory", "reme", "mem0")
_ASKS_FOR_VECTORS = frozenset({"mem0"})
"""mem0 brings no embedding model; it is given ours."""


def available_peers(folder: Path, embedder: Embeds | None, left_out: list[str]) -> dict[str, System]:
    """The peers whose environment is there; `left_out` gets the others, with the reason."""
    found: dict[str, System] = {}
    for name in PEERS:
        python = folder / name / "bin" / "python"
        if not python.exists():
            left_out.append(f"{name}: it has no environment here (`python -m bench.peers`)")
        elif name in _ASKS_FOR_VECTORS and embedder is None:
            left_out.append(f"{name}: there are no weights to give it")
        else:
            driver = f"bench.recall.drivers.{name.replace('-', '_')}"
            found[name] = Peer(python, driver, embedder if name in _ASKS_FOR_VECTORS else None)
    return found


class Peer:
    """One peer's process, started with the first case."""

    def __init__(self, python: Path, driver: str, embedder: Embeds | None) -> None:
        self._command = [str(python), "-m", driver]
        self._embedder = embedder
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, texts: Mapping[str, str]) -> Ranking:
        self._say({"documents": list(texts.items()), **self._vectors(list(texts.values()))})

        def rank(question: str) -> list[str]:
            return self._say({"question": question, **self._vectors([question])})

        return rank

    def _vectors(self, texts: Sequence[str]) -> dict[str, dict[str, list[float]]]:
        if self._embedder is None:
            return {}
        return {"vectors": dict(zip(texts, self._embedder.embed(texts).tolist(), strict=True))}

    def _say(self, message: object) -> list[str]:
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._command[-1]} ended early: run it by hand to see why")
        keys: list[str] = json.loads(answer) or []
        return keys

    def _start(self) -> subprocess.Popen[str]:
        folder = tempfile.TemporaryDirectory()
        process = subprocess.Popen(
            [*self._command, folder.name],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

        def end() -> None:
            # The driver ends with its input.
            process.communicate()
            folder.cleanup()

        weakref.finalize(self, end)
        return process
