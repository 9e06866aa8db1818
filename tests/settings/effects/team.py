"""Doors of team memory: a bare repository, somebody who shares, and the watcher on a clock of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from reverie.errors import Error
from reverie.files.places import Places
from reverie.memory.memory import Memory
from reverie.memory.team.team import Team
from reverie.memory.team.watch import TeamWatcher
from reverie.memory.topics.topic import Topic
from reverie.memory.topics.value import MemoryType
from reverie.session.options import SessionOptions
from reverie.session.team_memory import TeamMemory
from reverie.settings import Settings
from reverie.testing.scripted_model import ScriptedModel
from tests.memory.team.people import make_remote
from tests.settings.effects.doors import MODEL, NOW, place


def _open(root: Path, settings: Settings, name: str) -> Memory:
    places = Places.at(root / name / ".reverie", root / name / ".claude")
    return Memory.at(places, settings, root / "project", now=lambda: NOW)


def _save(memory: Memory, name: str, body: str = "We follow it.") -> None:
    memory.keep(Topic(name=name, description=f"about {name}", type=MemoryType.project, body=body), team=True)


def _join(memory: Memory, remote: Path) -> Team:
    team = memory.team
    team.join(str(remote), name="Ada")
    team.allow_push()
    return team


def shared(settings: Settings) -> object:
    """What is sent of three memories, one of them long."""
    with place() as root:
        memory = _open(root, settings, "home")
        for name, body in (("One", "We do."), ("Two", "We do too."), ("Long", "We follow it. " * 50)):
            _save(memory, name, body)
        try:
            return _join(memory, make_remote(root)).push()
        except Error as problem:
            return type(problem).__name__


def token_needed(settings: Settings) -> object:
    """What is asked for where a server is joined without a token."""
    with place() as root:
        try:
            return _open(root, settings, "home").team.join("https://memory.example.org", name="Ada")
        except Error as problem:
            return str(problem)


def watched(settings: Settings) -> object:
    """What a watcher tells, and when."""
    with place() as root:
        memory, told, now = _open(root, settings, "home"), list[tuple[float, str]](), [0.0]
        remote = make_remote(root)
        watcher = TeamWatcher(
            _join(memory, remote), lambda text: told.append((now[0], text[:27])), clock=lambda: now[0]
        )
        watcher.step()
        _save(memory, "One")
        for now[0] in (1.0, 4.0):
            watcher.step()
        remote.rename(root / "away.git")
        for now[0] in (200.0, 400.0):
            watcher.step()
        return told


def pulled_first(settings: Settings) -> object:
    """Whether a session has what a colleague shares when its first request is due."""
    with place() as root:
        remote = make_remote(root)
        colleague = _open(root, replace(settings, team=Settings().team), "home")
        _save(colleague, "One")
        _join(colleague, remote).push()
        memory = _open(root, settings, "other")
        _join(memory, remote)
        options = SessionOptions(
            settings=settings,
            places=Places.at(root / "other" / ".reverie", root / "other" / ".claude"),
            directory=root / "project",
            project=root / "project",
            model=MODEL,
            make_model=lambda name: ScriptedModel([], name),
            now=lambda: NOW,
            new_id=lambda: "1",
            user_home=root / "other",
        )
        part = TeamMemory(options, memory, lambda _event: None)

        async def begin() -> bool:
            await part.begin()
            return any(memory.team.directory.glob("*.md"))

        try:
            return asyncio.run(begin())
        finally:
            part.close()
