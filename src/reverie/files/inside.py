"""Paths that stay below a root: safe joining, checking, and opening without following links."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from reverie.errors import Refused
from reverie.files.durable import translate_os_errors, write_at

_NAME_BYTES = 128
_CHECK = "path check"

# Where there is O_PATH, a folder that may be passed but not listed is opened too.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


def safe_join(root: Path, *parts: str) -> Path:
    """Join names from outside below the root and return the real path, free of links.

    Raises:
        Refused: a part is absolute or holds a NUL byte, or the path leaves the root, directly or through a link.
    """
    for part in parts:
        if not is_encodable(part):
            raise Refused(f"the path {part!r} contains a character that is not allowed in a path", by=_CHECK)
        if part.startswith(("/", "\\")):
            raise Refused(f"the path {part!r} is absolute; name it relative to {root}", by=_CHECK)
    real = Path(os.path.realpath(Path(root, *parts)))
    if not real.is_relative_to(os.path.realpath(root)):
        raise Refused(f"the path {str(Path(*parts))!r} is outside {root}", by=_CHECK)
    return real


def is_inside(root: Path, path: Path) -> bool:
    """Whether the path is the root or lies below it, once all links are resolved."""
    if not is_encodable(str(path)):
        return False
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def is_encodable(path: str) -> bool:
    """Whether the system can take this text as a path at all."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def check_name(name: str, *, what: str) -> str:
    """Return a name that is fit to be one part of a path; `what` says in the error what it names."""
    problems = {
        "is empty": not name,
        "starts with a dot": name.startswith("."),
        "holds a path separator": "/" in name or "\\" in name,
        "holds a control character": any(ord(character) < 32 or ord(character) == 127 for character in name),
        "holds a character that no path can have": not is_encodable(name),
        f"is longer than {_NAME_BYTES} bytes": len(name.encode("utf-8", "replace")) > _NAME_BYTES,
    }
    problem = next((text for text, holds in problems.items() if holds), None)
    if problem is not None:
        raise Refused(f"the {what} {name[:_NAME_BYTES]!r} {problem}, so it cannot be part of a path", by=_CHECK)
    return name


@contextlib.contextmanager
def open_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """Open a folder by its real path, step by step from the root: no link is followed, whenever it was put there.

    Yields a descriptor that serves as `dir_fd`. `make` makes missing folders, with the modes the user's programs give.
    Raises `OSError`, for a link with `ELOOP`.
    """
    folder = os.open(path.anchor, _FOLDER)
    try:
        for name in path.parts[1:]:
            below = _open_below(folder, name, make=make)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def open_real(path: Path) -> int:
    """Open a file to read by its real path, without following a link anywhere in it; the caller closes it.

    Raises `OSError`. What was opened may be a folder, a pipe or a device: the caller looks.
    """
    with open_folder(path.parent) as folder:
        # Without O_NONBLOCK, opening a pipe waits for its other end, perhaps for ever.
        return os.open(path.name or ".", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)


def write_real(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Replace or make a file by its real path, like `write_atomic`, without following a link anywhere in it."""
    with translate_os_errors("write", path), open_folder(path.parent, make=True) as folder:
        write_at(folder, path, content, mode=mode)


def read_small(path: Path, *, limit_bytes: int = 1 << 20) -> bytes | None:
    """Read a plain file of at most this size; None when there is none, it is something else, or it is larger.

    For files that others control: a pipe does not block, a device is not read.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for its other end, perhaps for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limit_bytes + 1)
    return content if len(content) <= limit_bytes else None


def _open_below(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return _open_below(folder, name, make=False)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise
