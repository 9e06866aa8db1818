"""The memories that a client means: those of the projects it works in, and the user's own.

A client saves to the first of its projects unless it names another; it reads from all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from reverie.errors import Error, UserMistake
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.topics.value import Topic

OpenMemory = Callable[[Path], "Memory"]


@value
class ServedMemories:
    """The memories of the projects of one client, in its order."""

    projects: tuple[Memory, ...]

    def within(self, project: str) -> ServedMemories:
        """Only those of the project around a directory; all of them when none is named."""
        if not project:
            return self
        place = _directory_of(project) or Path(project).expanduser().absolute()
        chosen = tuple(memory for memory in self.projects if memory.root and place.is_relative_to(memory.root))
        if not chosen:
            roots = ", ".join(str(memory.root) for memory in self.projects)
            raise UserMistake(f"{project} lies in no project that is served; name a directory in {roots}")
        return ServedMemories(chosen)

    def with_user(self) -> tuple[Memory, ...]:
        """Those of the projects, and the user's own where there is one."""
        user = self.projects[0].user
        return (*self.projects, user) if user.directory.is_dir() else self.projects

    def read(self, name: str) -> tuple[Memory, Topic]:
        """The memory of a name, and whose it is.

        Raises:
            UserMistake: there is none, or more than one.
        """
        memory = self.holding(name)
        return memory, memory.read(name)

    def holding(self, name: str, *, or_gone: bool = False) -> Memory:
        """The memory that has a topic of this name; `or_gone` allows for a name that only the past knows."""
        missing: UserMistake | None = None
        for memory in self.with_user():
            try:
                memory.path_of(name)
            except UserMistake as mistake:
                missing = missing or mistake
            else:
                return memory
        for memory in self.with_user() if or_gone else ():
            with suppress(Error):
                if memory.log(name, limit=1):
                    return memory
        raise missing or UserMistake(f"no memory {name!r}")


class MemoryCache:
    """Memories by the directory they were asked for; each is opened once and kept open."""

    def __init__(self, open_memory: OpenMemory) -> None:
        self._open_memory = open_memory
        self._memories: dict[Path, Memory] = {}
        self._lock = Lock()

    def serve(self, directories: Iterable[Path]) -> ServedMemories:
        """The memories of these directories; several directories of one project are one memory."""
        memories: dict[Path, Memory] = {}
        with self._lock:
            for directory in directories:
                if directory not in self._memories:
                    self._memories[directory] = self._open_memory(directory)
                memory = self._memories[directory]
                memories.setdefault(memory.directory, memory)
        return ServedMemories(tuple(memories.values()))

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            for memory in self._memories.values():
                memory.close()
            self._memories.clear()


def existing_directories(uris: Iterable[str]) -> tuple[Path, ...]:
    """The directories that `file:` addresses name, as far as they exist on this machine."""
    places = (_directory_of(uri) for uri in uris)
    return tuple(dict.fromkeys(place for place in places if place is not None and place.is_dir()))


def _directory_of(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(unquote(parts.path))
