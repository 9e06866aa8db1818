"""Two renames that the standard library lacks: swap two files, and rename only onto a free name.

With them a file that a foreign editor replaced in the last microsecond is never overwritten unseen: what was there is
in our hands afterwards. Where the system or the file system has no such call, hard links come close.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Protocol

_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


class _Rename(Protocol):
    def __call__(self, source: bytes, target: bytes, *, swap: bool) -> int: ...


def write_exchanged(draft: Path, target: Path) -> None:
    """Put the draft in the target's place and what was there in the draft's; a target that is not there is made."""
    for _ in range(100):
        try:
            if _try_rename(draft, target, swap=True):
                return
            _swap_by_links(draft, target)
            return
        except FileNotFoundError:
            if write_renamed(draft, target):
                return
    raise FileExistsError(errno.EEXIST, "the file keeps appearing and vanishing", os.fspath(target))


def write_renamed(draft: Path, target: Path) -> bool:
    """Rename a draft onto a free name; False, and nothing done, when the name is taken."""
    try:
        if _try_rename(draft, target, swap=False):
            return True
        os.link(draft, target)
    except FileExistsError:
        return False
    draft.unlink()
    return True


def _swap_by_links(draft: Path, target: Path) -> None:
    aside = draft.with_name(draft.name + ".old")
    aside.unlink(missing_ok=True)
    os.link(target, aside)
    draft.replace(target)
    aside.replace(draft)


def _try_rename(draft: Path, target: Path, *, swap: bool) -> bool:
    """Whether the system did it; errors other than "not supported" are raised."""
    rename = _system_rename()
    if rename is None:
        return False
    failed = rename(os.fsencode(draft), os.fsencode(target), swap=swap)
    if failed in _UNSUPPORTED:
        return False
    if failed:
        raise OSError(failed, os.strerror(failed), os.fspath(target))
    return True


@cache
def _system_rename() -> _Rename | None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        call = getattr(library, "renamex_np", None)
        if call is None:
            return None

        def rename_on_macos(source: bytes, target: bytes, *, swap: bool) -> int:
            return ctypes.get_errno() if call(source, target, 2 if swap else 4) else 0

        return rename_on_macos
    call = getattr(library, "renameat2", None)
    if call is None:
        return None
    here = -100

    def rename_on_linux(source: bytes, target: bytes, *, swap: bool) -> int:
        return ctypes.get_errno() if call(here, source, here, target, 2 if swap else 1) else 0

    return rename_on_linux
