"""Which memory directories a call works on: the project's, the user's own, those of agents that are mentioned.

The project's is, in this order: what the settings name, our own store, and, where we have none yet, the directory that
the host agent already keeps for the repository, on which we then work in place. Nothing is made here.

`MemoryDirectories` holds those that recall searches, each with its index and the time of its last check.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from reverie.files.places import (
    AgentScope,
    MemoryFolder,
    Places,
    ProjectFolder,
    memory_folder,
    validate_memory_directory,
)
from reverie.memory.search.topic_index import IndexedFolder
from reverie.patterns import lazy_regex
from reverie.settings import Settings
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.search.recall import SearchedDirectory
    from reverie.memory.search.vectors import Embeds

AGENT_MEMORY = ("agent-memory", "agent-memory-local")
"""The folders in which agents have a directory each."""
_MENTION = lazy_regex(r"(?<![\w@])@agent-([A-Za-z0-9_][\w:-]*)")


@value
class Scope:
    """One memory directory and why it is one."""

    name: str
    """`project`, `user`, or `agent:NAME`."""
    folder: MemoryFolder
    reason: str
    """Who chose it, for people."""


def project_scope(places: Places, settings: Settings, store: ProjectFolder, root: Path, user_home: Path) -> Scope:
    """The directory of a project's memories.

    Raises:
        UserMistake: the directory that the settings name cannot be one.
    """
    for key, named in (
        ("memory.path_override", settings.memory.path_override),
        ("memory.directory", settings.memory.directory),
    ):
        if named:
            directory = validate_memory_directory(named, user_home=user_home)
            return Scope("project", memory_folder(places, directory), f"named by {key}")
    if settings.remote.memory_dir:
        base = validate_memory_directory(settings.remote.memory_dir, user_home=user_home)
        directory = base / "projects" / places.slug(root) / "memory"
        return Scope("project", memory_folder(places, directory), "on the mount named by remote.memory_dir")
    theirs = places.host_project(root).memory
    if not _has_topics(store.memory) and _has_topics(theirs):
        return Scope("project", memory_folder(places, theirs), "kept by the host agent, used in place")
    return Scope("project", memory_folder(places, store.memory), "the project's own store")


def user_scope(places: Places) -> Scope:
    """The directory of what holds in every project."""
    return Scope("user", memory_folder(places, places.user_memory), "the user's own, for every project")


def agent_scopes(places: Places, text: str, *, cwd: Path) -> Iterator[Scope]:
    """The directories of agents that a text mentions as `@agent-NAME` and that have memories."""
    for name in dict.fromkeys(_MENTION.findall(text) if "@" in text else ()):
        for scope in AgentScope:
            directory = places.agent_memory(name, scope, cwd=cwd)
            if directory.is_dir():
                yield Scope(f"agent:{name}", memory_folder(places, directory), f"the {scope} memory of agent {name}")


def agent_directories(places: Places, *, cwd: Path) -> Iterator[Path]:
    """The directories of agents that have memories in this project or for this user."""
    for scope in AgentScope:
        parent = places.agent_memory("x", scope, cwd=cwd).parent
        with suppress(OSError):
            yield from sorted(each for each in parent.iterdir() if each.is_dir())


def find_memory_directory(places: Places, path: Path) -> Path | None:
    """The memory directory of the user, of any project or of an agent in which a path lies, links followed."""
    target = Path(os.path.realpath(path))
    user = Path(os.path.realpath(places.user_memory))
    if target.is_relative_to(user):
        return user
    parts = target.parts
    for base in map(os.path.realpath, (places.projects, places.host_projects)):
        inside = target.relative_to(base).parts if target.is_relative_to(base) else ()
        if inside[1:2] == ("memory",):
            return Path(base, *inside[:2])
    host = Path(os.path.realpath(places.config_home)).parts
    for place in range(len(parts) - 2):
        is_home = parts[place - 1] == ".claude" or parts[:place] == host or "projects" in parts[:place]
        if parts[place] in AGENT_MEMORY and is_home:
            return Path(*parts[: place + 2])
    return None


def without_mentions(text: str) -> str:
    """The text without the names of agents, which say where to look and not what for."""
    return _MENTION.sub(" ", text) if "@" in text else text


def _has_topics(directory: Path) -> bool:
    """Whether somebody keeps memories there; a store of ours that was emptied still counts."""
    try:
        with os.scandir(directory) as entries:
            return any(entry.name.endswith(".md") or entry.name == ".git" for entry in entries)
    except OSError:
        return False


FRESH_SECONDS = 1.0
"""How long a look at the directory holds: an edit is visible to recall after that at the latest. Where questions come
in quick succession, a thread looks before the time is over and no question waits."""


class MemoryDirectories:
    """The indexes of one memory: its own directory, for a project also the user's, and those of mentioned agents."""

    def __init__(self, places: Places, scope: Scope, *, root: Path | None, is_project: bool) -> None:
        self._places = places
        has_user = is_project and scope.folder.directory != places.user_memory
        self.scopes = (scope, user_scope(places)) if has_user else (scope,)
        """Those that are always searched, the memory's own first; none twice."""
        self._root = root
        self._folders: dict[Path, IndexedFolder] = {}
        self._embedder: tuple[Embeds | None] | None = None
        self._loading = Lock()

    @property
    def own(self) -> IndexedFolder:
        """The index of the memory's own directory."""
        return self._folder(self.scopes[0])

    @property
    def standing(self) -> tuple[SearchedDirectory, ...]:
        """Those that are always searched."""
        return tuple(map(self._to_searched, self.scopes))

    def for_query(self, query: str, *, fresh: bool) -> tuple[SearchedDirectory, ...]:
        """Those to search for a query, in step with the disk as far as is due."""
        agents = agent_scopes(self._places, query, cwd=self._root) if self._root is not None else ()
        searched = (*self.standing, *map(self._to_searched, agents))
        for each in searched:
            each.folder.renew()
            age_seconds = each.folder.seconds_since_sweep
            if fresh or age_seconds > FRESH_SECONDS:
                each.folder.sweep()
            elif age_seconds > FRESH_SECONDS / 3:
                each.folder.sweep_beside()
        return searched

    @property
    def has_vectors(self) -> bool:
        """Whether `embedder` would find what it needs; loads nothing."""
        from reverie.memory.search.semantic import is_installed

        return is_installed(self._places.models)

    def embedder(self) -> Embeds | None:
        """What turns text into vectors, when the `semantic` extra and its weights are installed."""
        with self._loading:
            if self._embedder is None:
                from reverie.memory.search.semantic import load_embedder

                self._embedder = (load_embedder(self._places.models),)
            return self._embedder[0]

    def close(self) -> None:
        """Let go of all files."""
        for folder in self._folders.values():
            folder.close()
        self._folders.clear()

    def _to_searched(self, scope: Scope) -> SearchedDirectory:
        from reverie.memory.search.recall import SearchedDirectory

        return SearchedDirectory(scope=scope.name, folder=self._folder(scope))

    def _folder(self, scope: Scope) -> IndexedFolder:
        directory = scope.folder.directory
        if directory not in self._folders:
            self._folders[directory] = IndexedFolder(scope.folder, embedder=self.embedder)
        return self._folders[directory]
