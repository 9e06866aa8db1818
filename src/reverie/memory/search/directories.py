"""The memory directories that recall searches, each with its index and the time of its last check."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from reverie.files.places import Places
from reverie.memory.scopes import Scope, agent_scopes, user_scope
from reverie.memory.search.topic_index import IndexedFolder

if TYPE_CHECKING:
    from reverie.memory.search.recall import SearchedDirectory
    from reverie.memory.search.vectors import Embeds
    from reverie.memory.store.watcher import Watch

FRESH_SECONDS = 1.0
"""How long a look at the directory holds: an edit is visible to recall after that at the latest. Where questions come
in quick succession, a thread looks before the time is over and no question waits."""


class MemoryDirectories:
    """The indexes of one memory: its own directory, for a project also the user's, and those of mentioned agents."""

    watch: Watch | None
    """Who keeps the index of the own directory in step while it is open."""

    def __init__(self, places: Places, scope: Scope, *, root: Path | None, is_project: bool) -> None:
        self.watch = None
        self._places = places
        self._scopes = (scope, user_scope(places)) if is_project else (scope,)
        self._root = root
        self._folders: dict[Path, IndexedFolder] = {}
        self._embedder: tuple[Embeds | None] | None = None
        self._loading = Lock()

    @property
    def own(self) -> IndexedFolder:
        """The index of the memory's own directory."""
        return self._folder(self._scopes[0])

    @property
    def standing(self) -> tuple[SearchedDirectory, ...]:
        """Those that are always searched."""
        return tuple(map(self._to_searched, self._scopes))

    def for_query(self, query: str, *, fresh: bool) -> tuple[SearchedDirectory, ...]:
        """Those to search for a query, in step with the disk as far as is due."""
        agents = agent_scopes(self._places, query, cwd=self._root) if self._root is not None else ()
        searched = (*self.standing, *map(self._to_searched, agents))
        for each in searched:
            each.folder.renew()
            age_seconds = each.folder.seconds_since_sweep
            is_kept = self.watch is not None and self.watch.is_open and each.folder is self.own
            if fresh or (not is_kept and age_seconds > FRESH_SECONDS):
                each.folder.sweep()
            elif not is_kept and age_seconds > FRESH_SECONDS / 3:
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
        """Let go of all files, and end the watch."""
        if self.watch is not None:
            self.watch.close()
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
