"""inotify watcher: which names in the watched folders were touched since the last call.

Linux only (inotify), and only on file systems of this machine, where whoever writes does so through this kernel.
It knows folders and names; which of them are tracked is `listing.py`'s matter.
"""

from __future__ import annotations

import os
import struct
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol, TypeAlias

_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _ONLY_FOLDERS = 0x400, 0x800, 0x01000000
_WATCHED = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
_IS_FOLDER = 0x40000000
_LOST = 0x2000 | 0x4000 | 0x8000 | _DELETE_SELF | _MOVE_SELF
"""Unmounted, too many to tell, no longer watched, or the folder itself is gone: what happened is not known."""
_LOCAL = {"ext2", "ext3", "ext4", "xfs", "f2fs", "tmpfs"}

Touched: TypeAlias = set[tuple[str, str]]
"""Folder and name, each as it was watched or told."""


class _Inotify(Protocol):
    def inotify_init1(self, flags: int, /) -> int: ...

    def inotify_add_watch(self, handle: int, path: bytes, mask: int, /) -> int: ...


class InotifyWatch:
    """Watches folders until it is closed. A child process learns nothing: it would take what its parent is told."""

    def __init__(self, system: _Inotify, handle: int) -> None:
        self._system = system
        self._handle = handle
        self._owner = os.getpid()
        self._folders: dict[int, str] = {}
        self._watched: dict[tuple[int, int], int] = {}
        self._is_lost = False

    @property
    def is_mine(self) -> bool:
        """Whether this process opened it."""
        return self._handle >= 0 and self._owner == os.getpid()

    @classmethod
    def open(cls) -> InotifyWatch | None:
        """A new one that watches nothing yet; None where the system tells nothing."""
        system = _system()
        handle = -1 if system is None else system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        return None if system is None or handle < 0 else cls(system, handle)

    def close(self) -> None:
        """Watch nothing any more."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    __del__ = close

    def watch(self, opened: int, folder: str) -> bool:
        """Watch an open folder under a name of the caller's; False where the system would not tell everything."""
        found = os.fstat(opened)
        known = found.st_dev, found.st_ino
        if known not in self._watched:
            if self._handle < 0 or not _is_local(found.st_dev):
                return False
            # A folder with thousands of files takes milliseconds to be watched, even when it is already.
            number = self._system.inotify_add_watch(self._handle, f"/proc/self/fd/{opened}".encode(), _WATCHED)
            if number < 0:
                return False
            self._watched[known] = number
        self._folders[self._watched[known]] = folder
        return True

    def forget(self) -> None:
        """Forget what was told so far; folders are watched again under the names that are given from now on."""
        self.touched()
        self._folders.clear()
        if self._is_lost:
            self._watched.clear()
            self._is_lost = False

    def touched(self) -> Touched | None:
        """What was touched since the last question; None when nobody can say, or whole folders came, went or moved."""
        if not self.is_mine:
            return None
        found: Touched | None = set()
        with suppress(BlockingIOError):
            while told := os.read(self._handle, _READ_BYTES):
                found = self._parsed(told, found)
        return found

    def _parsed(self, told: bytes, found: Touched | None) -> Touched | None:
        at = 0
        while at < len(told):
            number, mask, _, length = _EVENT.unpack_from(told, at)
            at += _EVENT.size + length
            name = os.fsdecode(told[at - length : at].rstrip(b"\0"))
            folder = self._folders.get(number)
            self._is_lost |= bool(mask & _LOST)
            if self._is_lost or (mask & _IS_FOLDER and folder is not None and not name.startswith(".")):
                found = None
            elif found is not None and folder is not None:
                found.add((folder, name))
        return found


@cache
def _system() -> _Inotify | None:
    if sys.platform != "linux":
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "inotify_init1"):
        return None
    library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    return library


def _is_local(device: int) -> bool:
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    # proc(5): device is field 3; the file system stands behind a lone dash, as the fields before it may be many.
    fields = [line.partition(" - ") for line in mounts]
    return any(head.split(" ", 3)[2] == wanted and rest.split(" ", 1)[0] in _LOCAL for head, _, rest in fields)
