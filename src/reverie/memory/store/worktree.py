"""Compares the files of a memory directory with its last commit, and writes new contents.

A file is written as a draft and exchanged with what stands there; what stood there is then compared with what was
expected, so that an edit made at the same moment is found and not lost. When to flush is `writer.py`'s to say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from reverie.files.durable import PRIVATE_FILE_MODE, write_folder, write_new
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.atomic_rename import write_exchanged, write_renamed
from reverie.memory.store.history import History, blob_id
from reverie.memory.store.stat_cache import UNSEEN, Entries
from reverie.memory.store.tracked import Seen, list_tracked, place_of, read_tracked, seen_from_stat
from reverie.values import value

DRAFT_PREFIX = ".reverie-"
_CLOCK_STEP_NS = 20_000_000
"""File times come from a clock that ticks every 4-10 ms; two edits within one tick look the same."""


@value
class Edits:
    """What somebody changed on disk since the last commit."""

    changed: Mapping[str, bytes]
    removed: tuple[str, ...]
    seen: Mapping[str, tuple[Seen, bytes]]
    """How the changed files looked when they were read, and their content id."""
    same: Mapping[str, tuple[Seen, bytes]]
    """Files that look different and hold the same: only the stat cache is to be renewed."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


@value
class Displaced:
    """An edit that came between our looking and our writing; ours stands in the file."""

    path: str
    expected: bytes | None
    """The content id that was to be replaced."""
    found: bytes
    """What stood there instead."""
    written: bytes | None


class TopicFiles:
    """The directory itself."""

    def __init__(self, folder: MemoryFolder, history: History) -> None:
        self._folder = folder
        self._history = history
        self._last: dict[str, Seen] = {}
        self._suspect: set[str] = set()
        self._entries: Entries | None = None

    def look(self, disk_now_ns: int) -> Edits:
        """Compare the directory with the last commit, reading only files that look different."""
        entries = self._history.entries
        if entries is not self._entries:
            self._entries, self._last, self._suspect = entries, {}, set()
        doubtful_from = self._history.entries_ns - _CLOCK_STEP_NS
        last, suspect = self._last, self._suspect
        found = list_tracked(self._folder)
        changed: dict[str, bytes] = {}
        seen: dict[str, tuple[Seen, bytes]] = {}
        same: dict[str, tuple[Seen, bytes]] = {}
        self._suspect = set()
        # Most often nothing changed, and comparing the whole is far cheaper than comparing one by one.
        unsure = found.keys() & suspect if found == last else found
        for path in unsure:
            looks = found[path]
            entry = entries.get(path)
            if last.get(path) == looks and path not in suspect and entry is not None:
                continue
            if entry is not None and entry.seen == looks:
                if looks[0] < doubtful_from:
                    continue
                self._suspect.add(path)
            read = self._read(path)
            if read is None:
                continue
            looks, content = read
            oid = blob_id(content)
            if looks[0] >= disk_now_ns - _CLOCK_STEP_NS:
                looks = UNSEEN
                self._suspect.add(path)
            if entry is not None and entry.oid == oid:
                same[path] = (looks, oid)
            else:
                changed[path] = content
                seen[path] = (looks, oid)
        self._last = found
        removed = tuple(path for path in entries if path not in found) if len(found) != len(entries) or changed else ()
        return Edits(changed, removed, seen, same)

    def read(self, path: str) -> bytes | None:
        """A file's bytes as they are now."""
        return read_tracked(self._folder, path)

    def write_drafts(self, files: Mapping[str, bytes | None]) -> tuple[Path, ...]:
        """Write new contents beside their places, so that a full disk changes nothing; return what is to be flushed."""
        drafts: list[Path] = []
        folders: set[Path] = set()
        try:
            for path, content in files.items():
                if content is None:
                    continue
                draft, mode = self.draft(path), _mode(place_of(self._folder, path))
                drafts.append(draft)
                if draft.parent not in folders:
                    write_folder(draft.parent)
                    folders.add(draft.parent)
                try:
                    write_new(draft, content, mode=mode, durable=False)
                except FileExistsError:
                    draft.unlink()
                    write_new(draft, content, mode=mode, durable=False)
        except BaseException:
            self.remove_drafts(files)
            raise
        return tuple(drafts)

    def remove_drafts(self, files: Iterable[str]) -> None:
        """Remove contents that are not to take their places; only before `write_in_place`."""
        for path in files:
            with suppress(FileNotFoundError, NotADirectoryError):
                self.draft(path).unlink()

    def folders(self, files: Iterable[str]) -> set[Path]:
        """The folders in which these files lie, to be flushed when they are in place."""
        inside = {path.rpartition("/")[0] for path in files}
        return {place_of(self._folder, f"{folder}/" if folder else "") for folder in inside}

    def write_in_place(self, files: Mapping[str, bytes | None]) -> dict[str, tuple[Seen, bytes] | None]:
        """Exchange each draft with what stands in its place (None removes); return how the files look now.

        What stood there waits in the draft for `settle`.
        """
        now: dict[str, tuple[Seen, bytes] | None] = {}
        for path, content in files.items():
            target, draft = place_of(self._folder, path), self.draft(path)
            if content is None:
                with suppress(FileNotFoundError, NotADirectoryError):
                    target.replace(draft)
                now[path] = None
                self._last.pop(path, None)
                continue
            if not write_renamed(draft, target):
                write_exchanged(draft, target)
            looks = self._last[path] = seen_from_stat(target.lstat())
            self._suspect.add(path)
            now[path] = (looks, blob_id(content))
        return now

    def settle(self, path: str, expected: bytes | None, written: bytes | None) -> Displaced | None:
        """Look at what a write replaced; what was expected is removed, anything else is told and waits there."""
        draft = self.draft(path)
        try:
            found = draft.read_bytes()
        except FileNotFoundError:
            return None
        if blob_id(found) == expected or found == written:
            draft.unlink()
            return None
        return Displaced(path, expected, found, written)

    def put_back(self, path: str) -> None:
        """Put what a write replaced into its place again."""
        self.draft(path).replace(place_of(self._folder, path))

    def remove(self, path: str) -> None:
        """Remove a file that no commit holds."""
        place_of(self._folder, path).unlink(missing_ok=True)

    def draft(self, path: str) -> Path:
        """Where a new content waits before it is moved into place, and the old one after."""
        folder, slash, _ = path.rpartition("/")
        name = f"{DRAFT_PREFIX}{sha256(os.fsencode(path)).hexdigest()[:16]}"
        return place_of(self._folder, f"{folder}{slash}{name}")

    def _read(self, path: str) -> tuple[Seen, bytes] | None:
        try:
            handle = os.open(place_of(self._folder, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            looks = seen_from_stat(os.fstat(handle))
            return looks, file.read()


def find_known_content_ids(listed: Mapping[str, Seen], history: History) -> dict[str, bytes | None]:
    """The content id of each listed file where the stat cache knows it; needs no lock, reads no other file."""
    entries, written_ns = history.read_entries()
    doubtful_from = written_ns - _CLOCK_STEP_NS
    ids: dict[str, bytes | None] = {}
    for path, looks in listed.items():
        entry = entries.get(path)
        is_known = entry is not None and entry.seen == looks and looks[0] < doubtful_from
        ids[path] = entry.oid if entry is not None and is_known else None
    return ids


def _mode(target: Path) -> int:
    try:
        return target.lstat().st_mode & 0o777
    except (FileNotFoundError, NotADirectoryError):
        return PRIVATE_FILE_MODE
