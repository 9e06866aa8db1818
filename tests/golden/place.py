"""A home and a project of their own, the real program in them, and a simulated provider."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.testing.simulator import RunningSimulator, simulator
from tests.golden.golden import Normaliser
from tests.program import Ended, run_reverie

MODEL = "claude-sonnet-5"


@dataclass(frozen=True)
class Place:
    """Where `reverie` runs."""

    folder: Path
    provider: RunningSimulator

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def normaliser(self) -> Normaliser:
        """A new one for each document, so that its names depend on that document alone."""
        return Normaliser({str(self.folder): "<folder>", slug(self.folder): "<folder-slug>"})

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> Ended:
        """Run a command that ends with this exit code."""
        ended = run_reverie(
            arguments,
            cwd=self.project,
            environment={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "TZ": "UTC",
                "ANTHROPIC_API_KEY": self.provider.api_key,
                "ANTHROPIC_BASE_URL": self.provider.base_url,
            },
            stdin=stdin,
        )
        assert ended.code == code, (arguments, ended)
        return ended

    def ask(self, prompt: str, *arguments: str) -> str:
        """The answer to one prompt."""
        return self.run("-m", MODEL, *arguments, "-p", prompt).out

    def json(self, *arguments: str, stdin: str = "") -> Any:
        """The document that a command prints with `--json`."""
        return json.loads(self.run(*arguments, "--json", stdin=stdin).out)

    def files(self, pattern: str) -> list[Path]:
        """Files of the home, in the order of their names."""
        return sorted(self.home.glob(pattern))


def slug(path: Path) -> str:
    """A path as the name of a folder."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(path))


@contextmanager
def place(script: Any = None) -> Iterator[Place]:
    """A place for the length of a `with` block; the script is the JSON of a script file of the simulator."""
    folder = Path(tempfile.mkdtemp(prefix="golden")).resolve()
    try:
        for name in ("home", "project"):
            (folder / name).mkdir()
        with simulator(script) as provider:
            yield Place(folder, provider)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
