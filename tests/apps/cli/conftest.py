"""A user at a terminal of their own: a home, a project, and the real program."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.program import run_reverie


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
        ended = run_reverie(
            arguments,
            cwd=self.project,
            environment={**kept, "HOME": str(self.home), "NO_COLOR": "1", **environment},
            stdin=stdin,
            # `recall` begins differently: it must be quick from the first line of the process on.
            fresh=arguments[:1] == ("recall",),
        )
        assert "Traceback" not in ended.err, ended.err
        return Ran(ended.code, ended.out, ended.err)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Terminal(home, project)
