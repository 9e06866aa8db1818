"""Lists the tracked files of a directory repeatedly; with inotify only touched files are looked at again.

The first listings cost one `stat` per file, as every listing does where inotify is not available. Later ones look only
at files that were touched. The result is always the same as that of `list_tracked`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.git.entries import Seen
from reverie.memory.store.inotify import InotifyWatch
from reverie.memory.store.tracked import (
    ARCHIVE,
    CONFLICTS,
    WHOLE,
    FolderId,
    is_safe_path,
    list_tracked,
    place_of,
    read_folder_id,
    read_seen,
)

TRUSTED_SECONDS = 60.0
"""A file that has a second name elsewhere may be edited by that name, and the system does not tell."""
_MOST_FOLDERS = 50
"""Each is looked at every time, lest another was put in its place."""
_REPOSITORY = ".git"


class TrackedListing:
    """The tracked files of one directory. Used under the writer's lock."""

    def __init__(
        self, folder: MemoryFolder, *, open_told: Callable[[], InotifyWatch | None] = InotifyWatch.open
    ) -> None:
        self._folder = folder
        self._open_told = open_told
        self._told: InotifyWatch | None = None
        self._folders: dict[str, FolderId | None] = {}
        self._listed: dict[str, Seen] | None = None
        self._whole_at: float | None = None

    def read(self, *, whole: bool = False) -> dict[str, Seen]:
        """The files as they are now; `whole` looks at every one."""
        # Should looking fail, what was told is lost, and the next look begins anew.
        listed, self._listed = self._listed, None
        touched = None if whole else self._touched()
        if listed is None or touched is None:
            listed = self._list_all()
        else:
            for path in touched:
                seen = read_seen(self._folder, path)
                if seen is None:
                    listed.pop(path, None)
                else:
                    listed[path] = seen
        self._listed = listed
        return dict(listed)

    def _touched(self) -> Iterable[str] | None:
        """The paths that may differ; None when all must be looked at."""
        if self._told is None or self._whole_at is None or time.monotonic() - self._whole_at > TRUSTED_SECONDS:
            return None
        told = self._told.touched()
        if told is None or any(read_folder_id(self._folder, each) != known for each, known in self._folders.items()):
            return None
        if any(folder and (name == _REPOSITORY or self._is_repository(folder)) for folder, name in told):
            return None
        paths = (f"{folder}/{name}" if folder else name for folder, name in told if not name.startswith("."))
        return filter(is_safe_path, paths)

    def _is_repository(self, folder: str) -> bool:
        """Whether a folder below the directory is somebody's own, and so not tracked."""
        return os.path.lexists(place_of(self._folder, f"{folder}/{_REPOSITORY}"))

    def _list_all(self) -> dict[str, Seen]:
        if self._told is not None and self._told.is_mine:
            self._told.forget()
        else:
            # Most commands look once; whoever looks twice will look again.
            self._told = self._open_told() if self._whole_at is not None else None
        self._whole_at = time.monotonic()
        self._folders = dict.fromkeys((WHOLE, ARCHIVE, CONFLICTS))
        return list_tracked(self._folder, self._enter)

    def _enter(self, opened: int, folder: str) -> None:
        if self._told is None:
            return
        found = os.fstat(opened)
        self._folders[folder] = found.st_dev, found.st_ino
        if len(self._folders) > _MOST_FOLDERS or not self._told.watch(opened, folder):
            self._told = None
