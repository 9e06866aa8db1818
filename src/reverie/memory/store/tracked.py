"""Which files of a memory directory are tracked in its history, and their present state on disk.

Tracked: Markdown outside hidden folders, the archive and the conflict copies. Not tracked: daily logs, lock files, the
derived index, and folders that are repositories of their own.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from reverie.errors import Damaged
from reverie.files.places.paths import MemoryFolder

if TYPE_CHECKING:
    from reverie.memory.topics.value import Topic

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
    found: dict[str, Seen] = {}
    for inside in ("", ARCHIVE, CONFLICTS):
        _list_folder(os.fspath(_root_of(folder, inside)), inside, found)
    return found


def seen_from_stat(found: os.stat_result) -> Seen:
    """What is compared of a file."""
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


def fingerprint(listed: Mapping[str, Seen]) -> bytes:
    """How the whole directory looks, in a few bytes: comparing them spares a new process ten thousand rows.

    The hash of numbers is the same in every process, unlike that of text; another version of Python looks once more.
    """
    names = "\0".join(listed).encode("utf-8", "surrogateescape")
    looks = hash(tuple(listed.values())).to_bytes(8, "big", signed=True)
    return looks + zlib.crc32(names).to_bytes(4, "big")


def _list_folder(root: str, folder: str, found: dict[str, Seen]) -> None:
    # By handle: the kernel then looks up one name per file instead of a whole path, which halves the time.
    try:
        handle = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        names = os.listdir(handle)  # noqa: PTH208 - a handle, not a path
        below = [] if folder and ".git" in names else _list_names(handle, names, folder, found)
    finally:
        os.close(handle)
    for inside in below:
        _list_folder(root, inside, found)


def _list_names(handle: int, names: list[str], folder: str, found: dict[str, Seen]) -> list[str]:
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
                found[prefix + name] = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_dev)
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
