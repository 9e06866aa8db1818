"""Paths that stay below a root: joining names from outside, asking, and opening without following links."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reverie.errors import Refused, UserMistake
from reverie.files.durable import PRIVATE_FILE_MODE, explained

_NAME_BYTES = 128
_CHECK = "path check"


def safe_join(root: Path, *parts: str) -> Path:
    """Join names from outside below the root and return the real path, free of links.

    Raises:
        Refused: a part is absolute or holds a NUL byte, or the path leaves the root, directly or through a link.
    """
    for part in parts:
        if not is_encodable(part):
            raise Refused(f"the path {part!r} holds a NUL byte or another character that no path can have", by=_CHECK)
        if part.startswith(("/", "\\")):
            raise Refused(f"the path {part!r} is absolute; name it relative to {root}", by=_CHECK)
    real = Path(os.path.realpath(Path(root, *parts)))
    if not real.is_relative_to(os.path.realpath(root)):
        raise Refused(f"the path {str(Path(*parts))!r} leads out of {root}", by=_CHECK)
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


def checked_name(name: str, *, what: str) -> str:
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


def open_inside(root: Path, *parts: str, flags: int = os.O_RDONLY) -> int:
    """Open a plain file below the root, folder by folder, so that a link put there after the check is not followed.

    Returns a file descriptor that the caller closes.
    """
    path = safe_join(root, *parts)
    real_root = Path(os.path.realpath(root))
    *folders, name = path.relative_to(real_root).parts or (".",)
    with explained("open", path):
        folder = os.open(real_root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in folders:
                below = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                os.close(folder)
                folder = below
            return _open_plain(name, flags, path, folder=folder)
        finally:
            os.close(folder)


def read_small(path: Path, *, limit_bytes: int = 1 << 20) -> bytes | None:
    """Read a plain file of at most this size; None when there is none, it is something else, or it is larger.

    For files that others control: a pipe does not block, a device is not read.
    """
    try:
        descriptor = _open_plain(str(path), os.O_RDONLY, path, follow=True)
    except (OSError, UserMistake, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limit_bytes + 1)
    return content if len(content) <= limit_bytes else None


def _open_plain(name: str, flags: int, path: Path, *, folder: int | None = None, follow: bool = False) -> int:
    # Without O_NONBLOCK, opening a pipe waits for its other end, perhaps for ever.
    no_follow = 0 if follow else os.O_NOFOLLOW
    descriptor = os.open(name, flags | no_follow | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE_FILE_MODE, dir_fd=folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise UserMistake(f"{path} is not a plain file")
