"""A user at a terminal of their own: a home, a project, and the real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Terminal:
    """Runs `reverie` as its own process, away from the real home."""

    home: Path
    project: Path

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        process = subprocess.run(
            [sys.executable, "-m", "reverie", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.project,
            env={**kept, "HOME": str(self.home), "NO_COLOR": "1", **environment},
            timeout=60,
            check=False,
        )
        assert "Traceback" not in process.stderr, process.stderr
        return Ran(process.returncode, process.stdout, process.stderr)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Terminal(home, project)
