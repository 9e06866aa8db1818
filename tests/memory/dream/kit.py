"""What the tests of dreams share: topics as text, and a dream on a directory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.apply import Applied, apply_steps
from reverie.memory.dream.proposal import DreamStep
from reverie.memory.dream.tidy import Tidied, TidyContext, tidy
from reverie.memory.store.topic_store import Store
from reverie.memory.topics.situations import derive_when
from reverie.memory.topics.topic import MemoryType, Topic, Trust, render_topic

DAY = date(2026, 3, 2)
"""A Monday."""


def text(
    path: str,
    body: str,
    *,
    name: str = "",
    description: str = "",
    kind: str = "feedback",
    trust: str = "said",
    **more: Any,
) -> str:
    """A topic file, as a save writes it."""
    more.setdefault("observed", DAY)
    described, named = description or body.split("\n", maxsplit=1)[0], name or path.removesuffix(".md")
    more.setdefault("when", derive_when(named, described, body, kind))
    return render_topic(Topic(path, named, described, MemoryType(kind), body, Trust(trust), **more))


def files(**bodies: str) -> dict[str, str]:
    """Topics `a.md`, `b.md`, … with these bodies."""
    return {f"{name}.md": text(f"{name}.md", body) for name, body in bodies.items()}


def after(texts: Mapping[str, str], steps: tuple[DreamStep, ...]) -> dict[str, str]:
    """The files as steps would leave them, archived ones gone."""
    result = dict(texts)
    for step in steps:
        for path, made in step.after.items():
            if made is None:
                del result[path]
            else:
                result[path] = made
    return result


def write(directory: Path, texts: Mapping[str, str]) -> None:
    for path, content in texts.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(content, encoding="utf-8")


def read(directory: Path) -> dict[str, str]:
    found = sorted(directory.glob("*.md"))
    return {path.name: path.read_text(encoding="utf-8") for path in found if path.name != "MEMORY.md"}


def dreamt(store: Store, world: TidyContext | None = None) -> tuple[Tidied, Applied]:
    """One embedded dream on a store."""
    found = tidy(read(store.folder.directory), world or TidyContext())
    return found, apply_steps(store, found.steps)


def append_daily(folder: MemoryFolder, said: str, *, now: datetime) -> Path:
    """Append to the log of a day, as an agent in daily-log mode does."""
    place = folder.directory / "logs" / f"{now:%Y}" / f"{now:%m}" / f"{now:%Y-%m-%d}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a", encoding="utf-8") as file:
        file.write(f"- {now:%H:%M} {' '.join(said.split())}\n")
    return place
