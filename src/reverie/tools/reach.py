"""File access for tools: a path must still lead to the file that was judged when the call runs.

`paths_to_judge` belongs into `Tool.need`, everything else into `Tool.run`. Files are opened by the real path that was
judged, folder by folder, so a link put into it at any later moment is not followed. Whether a place may be touched at
all is for `permissions` to say.
"""

from __future__ import annotations

import difflib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from reverie.errors import Error
from reverie.files import is_encodable, open_folder, open_real, write_at
from reverie.tools.desk import Desk
from reverie.tools.tool import ToolMistake
from reverie.values import value

MAX_BYTES = 64 * 1024 * 1024
"""What is read into memory at most; nobody reads more through a window of a million tokens."""


@value
class FileContent:
    """A file as it was at one moment."""

    path: Path
    """Its real path."""
    data: bytes


def paths_to_judge(path: str, desk: Desk) -> tuple[Path, ...]:
    """The absolute path of a call that is about to be judged, and where it leads when that is elsewhere.

    Both are judged, and only there may it lead later: a link that changes back and forth gains nothing.
    """
    whole = _whole(path, desk)
    real = desk.leads[whole] = _real(whole)
    return (whole,) if real == Path(os.path.normpath(whole)) else (whole, real)


def resolve_judged(path: str, desk: Desk) -> Path:
    """The real path, which must be the one that was judged."""
    whole = _whole(path, desk)
    real = _real(whole)
    if desk.leads.get(whole, real) != real:
        raise ToolMistake(
            f"{whole} leads to another place than when this call was allowed (a link was changed meanwhile); "
            "nothing was done. Look at the path and call again."
        )
    return real


def read_content(path: str, desk: Desk, *, limit_bytes: int = MAX_BYTES) -> FileContent:
    """The file at a path. Raises `ToolMistake` for what is no plain file, too large, or not there."""
    real = resolve_judged(path, desk)
    try:
        handle = open_real(real)
    except OSError as error:
        raise mistake_from_os_error(error, real, "read") from error
    try:
        _check_kind(real, os.fstat(handle), limit_bytes)
        with os.fdopen(os.dup(handle), "rb") as file:
            # What the system makes up on the way has no size, and a log may grow while it is read.
            return FileContent(real, file.read(limit_bytes))
    finally:
        os.close(handle)


def write_content(path: str, desk: Desk, data: bytes, *, is_new: bool) -> Path:
    """Replace or make the file as a whole; a new one and its folders get the modes the user's programs would give."""
    real = resolve_judged(path, desk)
    stored = _keep_memory(real, desk, data)
    if stored is not None:
        desk.seen.note(real, stored)
        return real
    mode = 0o666 & ~_umask() if is_new else None
    try:
        with open_folder(real.parent, make=True) as folder:
            desk.changing(real, data)
            write_at(folder, real, data, mode=mode)
    except OSError as error:
        raise mistake_from_os_error(error, real.parent, "open the folder") from error
    except Error as error:
        raise ToolMistake(str(error)) from error
    desk.seen.note(real, data)
    return real


def _keep_memory(real: Path, desk: Desk, data: bytes) -> bytes | None:
    """What a file of a memory directory holds after the write, which its store makes; None for other files."""
    if desk.memories is None:
        return None
    try:
        stored = desk.memories.write(real, data.decode("utf-8", "surrogateescape"))
    except Error as error:
        raise ToolMistake(f"Not written: {error}") from error
    return None if stored is None else stored.encode("utf-8", "surrogateescape")


def mistake_from_os_error(error: OSError, path: Path, doing: str) -> ToolMistake:
    """An error of the operating system as a sentence for the model."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        near = _near(path)
        hint = f" Did you mean {' or '.join(map(str, near))}?" if near else " Glob finds files by name."
        return ToolMistake(f"There is no file {path}.{hint}")
    if error.errno == errno.ELOOP:
        return ToolMistake(f"{path} leads through a link that was put there meanwhile; it was not followed.")
    return ToolMistake(f"Cannot {doing} {path}: {error.strerror or error}.")


def shorten_path(path: Path, desk: Desk) -> str:
    """A path for a line that people read."""
    return str(path.relative_to(desk.directory)) if path.is_relative_to(desk.directory) else str(path)


def _check_kind(real: Path, status: os.stat_result, limit_bytes: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ToolMistake(f"{real} is a directory. List it with Glob (pattern `*`) or with `ls` in Bash.")
    if not stat.S_ISREG(status.st_mode):
        raise ToolMistake(f"{real} is not a plain file but a device, pipe or socket; it cannot be read.")
    if status.st_size > limit_bytes:
        raise ToolMistake(
            f"{real} has {status.st_size:,} bytes, more than can be read at once ({limit_bytes:,}). "
            "Search it with Grep, or take a part with `sed -n` or `head` in Bash."
        )


def _near(path: Path) -> tuple[Path, ...]:
    """Files of the same folder whose name is like this one."""
    try:
        names: Iterable[str] = sorted(os.listdir(path.parent))  # noqa: PTH208 - names, not paths, are compared
    except OSError:
        return ()
    by_case = {name.lower(): name for name in names}
    close = difflib.get_close_matches(path.name.lower(), by_case, n=2, cutoff=0.75)
    return tuple(path.parent / by_case[name] for name in close)


def _whole(path: str, desk: Desk) -> Path:
    if not path or not is_encodable(path):
        raise ToolMistake(f"{path!r} is not a path; give the absolute path of a file.")
    return desk.resolve(path)


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError as error:  # a link that was changed between two looks of it
        raise mistake_from_os_error(error, path, "resolve") from error


def _umask() -> int:
    # It can only be asked for by setting it; for that moment a stricter one holds than any user has.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
