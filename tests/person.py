"""A user with a home of their own, and projects of theirs."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie import Memory, Settings


class Clock:
    """A clock that one can set."""

    def __init__(self) -> None:
        self.time = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def forward(self, **more: float) -> None:
        self.time += timedelta(**more)


@dataclass(frozen=True)
class Person:
    """Somebody's home, settings and clock."""

    home: Path
    settings: Settings
    clock: Clock

    def open(self, project: Path, settings: Settings | None = None) -> Memory:
        return Memory.open(project, settings=settings or self.settings, now=self.clock)

    def repository(self, path: Path) -> Path:
        path.mkdir(parents=True)
        git(path, "init", "--quiet", "--initial-branch=main")
        (path / "README.md").write_text("A project.\n", encoding="utf-8")
        git(path, "add", ".")
        git(path, "commit", "--quiet", "-m", "begin")
        return path


def git(directory: Path, *arguments: str) -> None:
    names = {f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=directory, check=True, env={**os.environ, **names}, capture_output=True)


def person_in(folder: Path) -> Person:
    home = folder / "home"
    home.mkdir()
    settings = Settings(home=str(home / ".reverie"), config_home=str(home / ".claude"))
    return Person(home, settings, Clock())
