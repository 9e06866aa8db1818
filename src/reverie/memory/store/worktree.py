"""The files of a memory directory: which are tracked, what changed since the last commit, and how they are written.

Tracked: Markdown outside hidden folders, the archive and the conflict copies. Not tracked: daily logs, lock files, the
derived index, and folders that are repositories of their own. Comparing `stat` results with those that `StatCache`
keeps of the last commit tells which files changed without reading them, and without starting git.

A file is written as a draft and exchanged with what stands there; what stood there is then compared with what was
expected, so that an edit made at the same moment is found and not lost. When to flush is `writer.py`'s to say.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from reverie.errors import Damaged
from reverie.files import append_lines, write_atomic
from reverie.files.durable import PRIVATE_FILE_MODE, write_folder, write_new
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.atomic_rename import write_exchanged, write_renamed
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.topics.value import Topic

TEAM = "team/"
"""The folder of team memory, which has an index of its own."""

Seen: TypeAlias = tuple[int, int, int, int, int]
"""Of a file on disk: time of modification and of change in nanoseconds, size, inode, device."""
INDEX_FILE = "MEMORY.md"
ARCHIVE = ".archive"
CONFLICTS = ".conflicts"
ARCHIVED_SUFFIX = ".archived"
"""Archived files do not end in `.md`, so that a host which lists `*.md` recursively never meets them."""
CONFLICT_SUFFIX = ".conflict"
_KIND = 0o170000
"""The bits of a mode that tell a file from a folder."""
_WORKING_FOLDERS = {"logs"}
UNSEEN: Seen = (0, 0, 0, 0, 0)
"""Stands for a file that must be read to know what is in it."""
_NO_COMMIT = "0" * 40
_LINES_AT_MOST = 200
_LARGEST_SHARE = 0.25
"""A change of more files than this share of all is no longer cheaper to append than to write everything."""
DRAFT_PREFIX = ".reverie-"
_CLOCK_STEP_NS = 20_000_000
"""File times come from a clock that ticks every 4-10 ms; two edits within one tick look the same."""


def is_topic_path(path: str) -> bool:
    """Whether a tracked path is a topic: Markdown, and not an index at any depth."""
    return path.endswith(".md") and path != INDEX_FILE and not path.endswith(f"/{INDEX_FILE}")


def is_safe_path(path: str) -> bool:
    """Whether a path names a place inside the directory that may be tracked."""
    parts = path.split("/")
    if not path or "\0" in path or path.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        return False
    if parts[0] in {ARCHIVE, CONFLICTS}:
        return len(parts) > 1
    return parts[0] not in _WORKING_FOLDERS and not any(part.startswith(".") for part in parts) and path.endswith(".md")


def place_of(folder: MemoryFolder, path: str) -> Path:
    """Where a tracked path lies: archive and conflict copies keep out of somebody else's work tree."""
    return _root_of(folder, path) / path


def _root_of(folder: MemoryFolder, path: str) -> Path:
    return folder.aside if path.partition("/")[0] in {ARCHIVE, CONFLICTS} else folder.directory


def list_tracked(folder: MemoryFolder) -> dict[str, Seen]:
    """Every tracked file as the disk shows it now; links are not followed."""
    tracked: dict[str, Seen] = {}
    for inside in ("", ARCHIVE, CONFLICTS):
        _list_folder(os.fspath(_root_of(folder, inside)), inside, tracked)
    return tracked


def seen_from_stat(status: os.stat_result) -> Seen:
    """What is compared of a file."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def fingerprint(listed: Mapping[str, Seen]) -> bytes:
    """How the whole directory looks, in a few bytes: comparing them spares a new process ten thousand rows.

    The hash of numbers is the same in every process, unlike that of text; another version of Python looks once more.
    """
    names = "\0".join(listed).encode("utf-8", "surrogateescape")
    looks = hash(tuple(listed.values())).to_bytes(8, "big", signed=True)
    return looks + zlib.crc32(names).to_bytes(4, "big")


def _list_folder(root: str, folder: str, tracked: dict[str, Seen]) -> None:
    # By handle: the kernel then looks up one name per file instead of a whole path, which halves the time.
    try:
        handle = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        names = os.listdir(handle)  # noqa: PTH208 - a handle, not a path
        below = [] if folder and ".git" in names else _list_names(handle, names, folder, tracked)
    finally:
        os.close(handle)
    for inside in below:
        _list_folder(root, inside, tracked)


def _list_names(handle: int, names: list[str], folder: str, tracked: dict[str, Seen]) -> list[str]:
    # The hot loop of every save: ten thousand turns in a large memory.
    prefix = f"{folder}/" if folder else ""
    everything = folder.startswith(".")
    below: list[str] = []
    look = os.stat
    for name in names:
        if name[0] == "." or (not folder and name in _WORKING_FOLDERS):
            continue
        try:
            seen = look(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            continue
        kind = seen.st_mode & _KIND
        if kind == stat.S_IFREG:
            if name[-3:] == ".md" or everything:
                tracked[prefix + name] = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_dev)
        elif kind == stat.S_IFDIR:
            below.append(prefix + name)
    return below


def read_tracked(folder: MemoryFolder, path: str) -> bytes | None:
    """The bytes of a tracked file, or None where there is none; a link is never followed."""
    try:
        handle = os.open(place_of(folder, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read()


def read_topic(folder: MemoryFolder, path: str) -> Topic | None:
    """The topic of a tracked file, or None where there is none.

    Raises:
        Damaged: the file cannot be read as a topic.
    """
    from reverie.memory.topics.topic import parse_topic

    content = read_tracked(folder, path)
    try:
        return None if content is None else parse_topic(path, content.decode())
    except UnicodeDecodeError as error:
        raise Damaged(f"{path} is not UTF-8 text: {error.reason}", path=folder.directory / path) from error


class TrackedFile(NamedTuple):
    """One file of the last commit."""

    oid: bytes
    """Its content id."""
    seen: Seen


Entries: TypeAlias = dict[str, TrackedFile]
"""Path → the file there."""


class StatCache:
    """What the last commit holds, and how each file looked on disk when it was last known to be the same.

    One file beside the history: a line for all files, then one for each write since with what it changed, until it is
    written anew. One that is lost, damaged or of another commit costs one reading of all files. Written only under the
    writer's lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self._size = 0
        """Of the file as this object last read or wrote it: only to that may something be appended."""

    def modified_ns(self) -> int:
        """When it was last written."""
        try:
            return self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def read_noted_commit(self) -> str:
        """The commit to which the cache belongs; nothing where it is missing, damaged or belongs to none."""
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(-len(_NO_COMMIT) - 2, os.SEEK_END)
            ending = file.read()
            if ending[:1] == b" " and ending[-1:] == b"\n" and ending[1:-1] != _NO_COMMIT.encode():
                return ending[1:-1].decode("ascii", "replace")
        return ""

    def read(self) -> Entries | None:
        """The files; None where the cache is missing or damaged."""
        rows: dict[str, Any] = {}
        self._size = 0
        try:
            content = self._path.read_bytes()
            lines = content.splitlines()
            for line in lines:
                rows.update(json.loads(line[: -len(_NO_COMMIT) - 1]))
            entries = {
                name: TrackedFile(bytes.fromhex(row[0]), (*row[1:6],)) for name, row in rows.items() if row is not None
            }
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None
        self._lines, self._size = len(lines), len(content)
        return entries if lines else None

    def write(self, commit: str | None, entries: Entries, changed: Collection[str]) -> None:
        """Note a commit and its files, of which only some changed since the last time; never waits for the disk."""
        is_small = len(changed) <= _LARGEST_SHARE * len(entries) and self._lines < _LINES_AT_MOST
        is_whole = not (is_small and self._size and self._read_size() == self._size)
        rows: dict[str, tuple[str, *Seen] | None] = {}
        for name in entries if is_whole else changed:
            file = entries.get(name)
            rows[name] = (file.oid.hex(), *file.seen) if file is not None else None
        line = f"{json.dumps(rows, separators=(',', ':'))} {commit or _NO_COMMIT}"
        if is_whole:
            write_atomic(self._path, f"{line}\n", durable=False)
        else:
            append_lines(self._path, [line], durable=False)
        self._lines, self._size = 1 if is_whole else self._lines + 1, self._read_size()

    def _read_size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0


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


def blob_id(content: bytes) -> bytes:
    """The name that git gives to the content of a file."""
    from hashlib import sha1

    return sha1(b"blob %d\0%b" % (len(content), content)).digest()


class TopicFiles:
    """The directory itself."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder = folder
        self._last: dict[str, Seen] = {}
        self._suspect: set[str] = set()
        self._entries: Entries | None = None

    def look(self, entries: Entries, written_ns: int, disk_now_ns: int) -> Edits:
        """Compare the directory with what the last commit holds, reading only files that look different.

        `written_ns` says when these entries were noted.
        """
        if entries is not self._entries:
            self._entries, self._last, self._suspect = entries, {}, set()
        doubtful_from = written_ns - _CLOCK_STEP_NS
        last, suspect = self._last, self._suspect
        tracked = list_tracked(self._folder)
        changed: dict[str, bytes] = {}
        seen: dict[str, tuple[Seen, bytes]] = {}
        same: dict[str, tuple[Seen, bytes]] = {}
        self._suspect = set()
        # Most often nothing changed, and comparing the whole is far cheaper than comparing one by one.
        unsure = tracked.keys() & suspect if tracked == last else tracked
        for path in unsure:
            looks = tracked[path]
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
        self._last = tracked
        removed = (
            tuple(path for path in entries if path not in tracked) if len(tracked) != len(entries) or changed else ()
        )
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
            content = draft.read_bytes()
        except FileNotFoundError:
            return None
        if blob_id(content) == expected or content == written:
            draft.unlink()
            return None
        return Displaced(path, expected, content, written)

    def put_back(self, path: str) -> None:
        """Put what a write replaced into its place again."""
        self.draft(path).replace(place_of(self._folder, path))

    def remove(self, path: str) -> None:
        """Remove a file that no commit holds."""
        place_of(self._folder, path).unlink(missing_ok=True)

    def draft(self, path: str) -> Path:
        """Where a new content waits before it is moved into place, and the old one after."""
        folder, slash, _ = path.rpartition("/")
        from hashlib import sha256

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


def find_known_content_ids(listed: Mapping[str, Seen], entries: Entries, written_ns: int) -> dict[str, bytes | None]:
    """The content id of each listed file where the stat cache knows it; needs no lock, reads no other file."""
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
