"""What changed between two turns and the user's scripts hear of: settings, files that hooks name, further folders.

Nothing watches: a few files are looked at when a turn begins. Settings that changed hold from the next session on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reverie.extensions.hooks import Hooks
from reverie.files.places.paths import SettingsFiles
from reverie.session.events import Notice, TurnEvent
from reverie.session.options import SessionOptions
from reverie.tools.desk import Desk

_NAME = re.compile(r"[\w.\-]+")
_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class DiskChanges:
    """Compares what lies there with what lay there when the last turn began."""

    options: SessionOptions
    hooks: Hooks
    desk: Desk
    emit: Callable[[TurnEvent], None]
    _settings: dict[Path, tuple[str, _Stamp | None]] = field(default_factory=dict)
    """The settings files, each with whose it is."""
    _files: dict[Path, _Stamp | None] = field(default_factory=dict)
    _asked_for: tuple[Path, ...] = ()
    _folders: tuple[Path, ...] = ()

    def begin(self) -> None:
        """What lies there now is known."""
        places, project = self.options.places, self.options.project
        for files in (places.settings_files(project), places.host_settings_files(project)):
            self._settings |= {path: (source, _stamp(path)) for path, source in _by_source(files)}
        self._files = {path: _stamp(path) for path in self._list_watched_files()}
        self._folders = self.desk.additional

    def watch(self, paths: Iterable[Path]) -> None:
        """Look at these files too, as a hook asked."""
        self._asked_for = tuple(dict.fromkeys([*self._asked_for, *(self.desk.directory / path for path in paths)]))
        self._files |= {path: _stamp(path) for path in self._asked_for if path not in self._files}

    async def announce(self) -> None:
        """Let hooks hear of what changed."""
        for path, (source, before) in self._settings.items():
            if before != (stamp := _stamp(path)):
                self._settings[path] = (source, stamp)
                verdict = await self.hooks.fire("ConfigChange", {"source": source, "file_path": str(path)})
                self._tell(verdict.messages)
        for path in self._list_watched_files():
            was, stamp = self._files.get(path), _stamp(path)
            is_known = path in self._files
            self._files[path] = stamp
            if is_known and was != stamp:
                event = "add" if was is None else "unlink" if stamp is None else "change"
                verdict = await self.hooks.fire("FileChanged", {"file_path": str(path), "event": event})
                self._tell(verdict.messages)
        added = [folder for folder in self.desk.additional if folder not in self._folders]
        self._folders = self.desk.additional
        for folder in added:
            verdict = await self.hooks.fire("DirectoryAdded", {"directory": str(folder), "source": "settings"})
            self._tell(verdict.messages)

    def _tell(self, messages: tuple[str, ...]) -> None:
        for message in messages:
            self.emit(Notice(message, "warning"))

    def _list_watched_files(self) -> Iterator[Path]:
        """The files that matchers of `FileChanged` hooks name, in the folder where the agent stands, and others."""
        yield from self._asked_for
        for hook in self.hooks.hooks:
            if hook.event == "FileChanged":
                names = (name.strip().replace("\\", "").strip("^$") for name in hook.matcher.split("|"))
                yield from (self.desk.directory / name for name in names if _NAME.fullmatch(name))


def _by_source(files: SettingsFiles) -> Iterator[tuple[Path, str]]:
    yield files.managed, "policy_settings"
    yield files.user, "user_settings"
    yield files.project, "project_settings"
    yield files.local, "local_settings"


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
