"""What the tests of the store share: a store in a temporary directory, on a clock that ticks once per question."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.errors import Damaged
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.history import History
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import is_topic_path, list_tracked, read_topic
from reverie.memory.topics.topic import MemoryType, Topic

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class TickingClock:
    """One minute passes at every question."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        self.time += timedelta(minutes=1)
        return self.time


def open_store(directory: Path, *, aside: Path | None = None, with_git: bool = True, **more: Any) -> Store:
    directory.mkdir(parents=True, exist_ok=True)
    folder = MemoryFolder(directory, aside or directory)
    history = History.open(folder) if with_git else History(folder, program=None)
    return Store(folder, now=more.pop("now", TickingClock()), history=history, **more)


def read_topics(store: Store) -> Iterator[Topic]:
    """Every topic that can be read, as it is on disk, in the order of paths."""
    return (each for each in _read_all(store) if isinstance(each, Topic))


def find_damaged(store: Store) -> Iterator[Damaged]:
    """Every topic file that cannot be read, with the reason."""
    return (each for each in _read_all(store) if isinstance(each, Damaged))


def _read_all(store: Store) -> Iterator[Topic | Damaged]:
    for path in sorted(filter(is_topic_path, list_tracked(store.folder))):
        try:
            found = read_topic(store.folder, path)
        except Damaged as error:
            yield error
            continue
        if found is not None:
            yield found


def topic(name: str, body: str = "A body.", *, path: str = "", kind: str | None = "feedback", **more: Any) -> Topic:
    description = more.pop("description", f"What there is to say about {name}")
    return Topic(path, name, description, MemoryType(kind) if kind else None, body, **more)


def git(directory: Path, *arguments: str, environment: dict[str, str] | None = None) -> str:
    """Run git as a user would, with the user's environment."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        check=True,
    )
    return done.stdout


def files_of(directory: Path) -> dict[str, bytes]:
    """Every visible Markdown file with its bytes."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*.md"))
        if ".git" not in path.parts
    }
