"""Writes that survive a kill or a power cut: whole files by rename, whole lines by append.

After any of these calls a reader sees the old content or the new, never a part. A link at the path itself is not
followed: a write replaces it, an append refuses it. Callers that accept names from outside join them with `safe_join`.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

from reverie.errors import Error, Unavailable, UserMistake

PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700

# Hidden, and not ending in `.md` or `.jsonl`: no scan for topics or transcripts takes one for content.
_TEMPORARY_PREFIX = ".reverie-"
_TEMPORARY_SUFFIX = ".tmp"

# Measured on ext4: one fsync takes 4 ms, one sync of everything after 2,000 writes 26 ms.
_SYNC_ALL_FROM_FILES = 64
_FLUSH_THREADS = 16


def write_atomic(path: Path, data: bytes | str, *, mode: int | None = None, durable: bool = True) -> None:
    """Replace the file as a whole, making missing folders; a reader sees the old content or the new.

    Without `mode` an existing file keeps its own and a new one is open to its owner only. `durable=False` leaves out
    the fsyncs: still atomic for readers and kills, not for a power cut.
    """
    write_many(((path, data),), mode=mode, durable=durable)


def write_many(contents: Sequence[tuple[Path, bytes | str]], *, mode: int | None = None, durable: bool = True) -> None:
    """Replace several files, each atomically, at the price of few flushes.

    Everything that can run out of space happens before the first file is replaced, so a full disk changes none.
    """
    prepared: list[tuple[Path, Path]] = []
    sync_all = durable and sys.platform == "linux" and len(contents) >= _SYNC_ALL_FROM_FILES
    try:
        for path, data in contents:
            content = data.encode("utf-8") if isinstance(data, str) else data
            with translate_os_errors("write", path):
                write_folder(path.parent)
                temporary = temporary_beside(path)
                prepared.append((temporary, path))
                new_mode = _mode_to_keep(path) if mode is None else mode
                write_new(temporary, content, mode=new_mode, durable=durable and not sync_all)
        if sync_all:
            os.sync()
        for temporary, path in prepared:
            with translate_os_errors("write", path):
                temporary.replace(path)
    finally:
        for temporary, _ in prepared:
            with contextlib.suppress(OSError):
                temporary.unlink()
    if durable:
        for folder in {path.parent for _, path in prepared}:
            with translate_os_errors("write", folder):
                _sync_folder(folder)


def flush(paths: Iterable[Path]) -> None:
    """Bring files and folders that were written without a flush to the disk; one that is gone is left out."""
    unique_paths = list(dict.fromkeys(paths))
    if not unique_paths:
        return
    if sys.platform == "linux" and len(unique_paths) >= _SYNC_ALL_FROM_FILES:
        os.sync()
        return
    problems: list[OSError] = []
    opened: list[int] = []
    try:
        for path in unique_paths:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                opened.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        shares = [opened[start::_FLUSH_THREADS] for start in range(min(_FLUSH_THREADS, len(opened)))]
        begun = [_begun(share, problems) for share in shares[1:]]
        for share in shares[:1]:
            _flush_in_turn(share, problems)
        for ended in begun:
            ended.acquire()
    finally:
        for handle in opened:
            os.close(handle)
    for problem in problems:
        raise problem


def append_lines(path: Path, lines: Iterable[bytes | str], *, durable: bool = True) -> None:
    """Append whole lines in one write, making the file and its folders if missing.

    A torn last line, left by a writer that was killed, is closed off first, so it costs only itself. Appenders of one
    file wait for one another, and for `hold_appenders`; when the disk is full the file gets back its length.
    """
    content = b"".join(_as_line(line) for line in lines)
    if not content:
        return
    with translate_os_errors("append to", path):
        write_folder(path.parent, durable=durable)
        with _open_for_append(path) as descriptor:
            size_before = _append(descriptor, content)
            # The next appender need not wait for the disk.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            if durable:
                _sync(descriptor)
                if size_before == 0:
                    _sync_folder(path.parent)


@contextlib.contextmanager
def hold_appenders(file: IO[bytes]) -> Iterator[None]:
    """Let `append_lines` wait while an open file is replaced; afterwards it appends to the file in its place."""
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def write_folder(path: Path, *, durable: bool = True) -> None:
    """Make the folder and its missing parents, each open to its owner only."""
    if path.is_dir():
        return
    with translate_os_errors("make the folder", path):
        write_folder(path.parent, durable=durable)
        with contextlib.suppress(FileExistsError):
            path.mkdir(PRIVATE_FOLDER_MODE)
            if durable:
                _sync_folder(path.parent)


def remove_file(path: Path, *, durable: bool = True) -> bool:
    """Remove the file and say whether it was there."""
    with translate_os_errors("remove", path):
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        if durable:
            _sync_folder(path.parent)
        return True


def remove_temporaries(folder: Path, *, now: datetime, older_than_seconds: float = 3600) -> int:
    """Remove what killed writers left in this folder and say how many; younger ones may belong to a running writer."""
    removed = 0
    for leftover in folder.glob(f"{_TEMPORARY_PREFIX}*{_TEMPORARY_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if now.timestamp() - leftover.lstat().st_mtime > older_than_seconds:
                leftover.unlink()
                removed += 1
    return removed


@contextlib.contextmanager
def translate_os_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an error of the operating system into one of ours that names the path and the next step."""
    try:
        yield
    except OSError as error:
        raise _as_ours(error, doing, path) from error


def temporary_beside(path: Path) -> Path:
    """A fresh name in the same folder, short enough even when the file's own name is as long as names may be."""
    return path.with_name(f"{_TEMPORARY_PREFIX}{os.urandom(8).hex()}{_TEMPORARY_SUFFIX}")


def write_at(folder: int, path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Replace a file as a whole, like `write_atomic`, in a folder that is open already; follows no link of `path`."""
    name, temporary = path.name, temporary_beside(path).name
    with translate_os_errors("write", path):
        new_mode = _mode_to_keep(name, folder=folder) if mode is None else mode
        try:
            write_new(temporary, content, mode=new_mode, folder=folder)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        _sync_folder(".", folder=folder)


def write_new(
    path: Path | str,
    content: bytes,
    *,
    mode: int = PRIVATE_FILE_MODE,
    durable: bool = True,
    folder: int | None = None,
) -> None:
    """Write a file that must not exist yet; a relative path is one in the open `folder`."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(path, flags, PRIVATE_FILE_MODE, dir_fd=folder)
    try:
        _write_all(descriptor, content)
        os.fchmod(descriptor, mode)
        if durable:
            _sync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _open_for_append(path: Path) -> Iterator[int]:
    """The file of this path, open and locked; one that was replaced while we waited for its lock is opened anew."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        descriptor = os.open(path, flags, PRIVATE_FILE_MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if is_at(path, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file is still the one of this path, neither removed nor replaced."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _append(descriptor: int, content: bytes) -> int:
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    try:
        _write_all(descriptor, b"\n" + content if torn else content)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise
    return size


def _write_all(descriptor: int, content: bytes) -> None:
    unwritten = memoryview(content)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten) :]


def _as_line(line: bytes | str) -> bytes:
    encoded = line.encode("utf-8") if isinstance(line, str) else line
    if b"\n" in encoded:
        raise ValueError(f"a line to append contains a line break: {encoded[:80]!r}")
    return encoded + b"\n"


def _mode_to_keep(path: Path | str, *, folder: int | None = None) -> int:
    try:
        mode = os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return PRIVATE_FILE_MODE
    return stat.S_IMODE(mode) & 0o777 if stat.S_ISREG(mode) else PRIVATE_FILE_MODE


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":
        # There fsync leaves the bytes in the drive's own cache; network drives know only fsync.
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def _sync_folder(path: Path | str, *, folder: int | None = None) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        _sync_opened_folder(descriptor)
    finally:
        os.close(descriptor)


def _sync_opened_folder(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # file systems that keep their folders in order themselves
            raise


def _begun(share: Sequence[int], problems: list[OSError]) -> _thread.LockType:
    """Begin to flush in a thread of its own; the lock is free when that has ended.

    Flushes that overlap share one turn of the file system's journal. `threading` would wait for each thread to run
    before it starts the next, by which time the first may have had a turn for itself.
    """
    ended = _thread.allocate_lock()
    ended.acquire()

    def run() -> None:
        try:
            _flush_in_turn(share, problems)
        finally:
            ended.release()

    _thread.start_new_thread(run, ())
    return ended


def _flush_in_turn(share: Sequence[int], problems: list[OSError]) -> None:
    try:
        for handle in share:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                _sync_opened_folder(handle)
            else:
                _sync(handle)
    except OSError as error:
        problems.append(error)


def _as_ours(error: OSError, doing: str, path: Path) -> Error:
    reason = os.strerror(error.errno) if error.errno else str(error)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return Unavailable(f"cannot {doing} {path}: {reason}; nothing was changed; free disk space and try again")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return Unavailable(f"cannot {doing} {path}: {reason}; check the permissions of {path.parent}")
        case errno.EISDIR | errno.ENOTDIR | errno.ENAMETOOLONG | errno.ELOOP:
            return UserMistake(f"cannot {doing} {path}: {reason}; name a regular file in an existing directory")
        case _:
            return Unavailable(f"cannot {doing} {path}: {reason}")
