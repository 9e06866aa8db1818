"""Reads and writes git's index file (versions 2 and 3): content id and `stat` of every tracked path.

For git it makes `git status` clean after our commits; for us it is the stat cache that tells, without reading a file,
which files changed since the last commit. An index we cannot read counts as empty: all files are then read once.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reverie.memory.store.git.refs import is_stale
from reverie.memory.store.git.sorted_rows import SortedRows

STAT_BYTES = 40
_SHAPE = struct.Struct(">10I")
_LOOKS = struct.Struct(">6I12xI")
"""The same without mode and owner."""
_HEADER = struct.Struct(">4sII")
_REGULAR = 0o100644
_FIXED_BYTES = 62
"""Stat (40), content id (20) and flags (2), before the path."""
_WORD = 0xFFFFFFFF
_SECOND = 1_000_000_000

Seen = tuple[int, int, int, int, int]
"""Of a file on disk: time of modification and of change in nanoseconds, size, inode, device."""

Entries = dict[str, bytes]
"""Path → the entry as git writes it, padding included."""


def pack_seen(seen: Seen) -> bytes:
    """What the disk said of a file, as the index stores it; git is told to ignore mode and owner."""
    modified_ns, changed_ns, size, inode, device = seen
    return _SHAPE.pack(
        changed_ns // _SECOND & _WORD,
        changed_ns % _SECOND,
        modified_ns // _SECOND & _WORD,
        modified_ns % _SECOND,
        device & _WORD,
        inode & _WORD,
        _REGULAR,
        os.getuid(),
        os.getgid(),
        size & _WORD,
    )


def pack_entry(path: str, seen: Seen, oid: bytes) -> bytes:
    """One entry; the path is padded with 1-8 zero bytes to a multiple of eight."""
    name = _encoded(path)
    length = _FIXED_BYTES + len(name)
    return b"%s%s%s%s%s" % (
        pack_seen(seen),
        oid,
        min(len(name), 0xFFF).to_bytes(2, "big"),
        name,
        b"\0" * (8 - length % 8),
    )


def entry_oid(entry: bytes) -> bytes:
    """The content id of an entry."""
    return entry[STAT_BYTES : STAT_BYTES + 20]


def is_as_seen(entry: bytes, seen: Seen) -> bool:
    """Whether the file still looks as it did when the entry was made."""
    modified_ns, changed_ns, size, inode, device = seen
    return _LOOKS.unpack_from(entry) == (
        changed_ns // _SECOND & _WORD,
        changed_ns % _SECOND,
        modified_ns // _SECOND & _WORD,
        modified_ns % _SECOND,
        device & _WORD,
        inode & _WORD,
        size & _WORD,
    )


def modified_at(entry: bytes) -> bytes:
    """Modification time of an entry as eight bytes that sort like the time."""
    return entry[8:16]


def time_key(time_ns: int) -> bytes:
    """A time in the form of `modified_at`."""
    seconds, rest = divmod(max(0, time_ns), 1_000_000_000)
    return (seconds & _WORD).to_bytes(4, "big") + rest.to_bytes(4, "big")


def read_entries(path: Path) -> tuple[Entries, bytes]:
    """All entries of an index file and its checksum; both empty when there is none or it is of an unknown kind."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}, b""
    with suppress(struct.error, ValueError, IndexError):
        magic, version, count = _HEADER.unpack_from(data)
        if magic == b"DIRC" and version in (2, 3) and _checksum(data[:-20]) == data[-20:]:
            return _parse(data, count), data[-20:]
    return {}, b""


def _parse(data: bytes, count: int) -> Entries:
    entries: Entries = {}
    at = _HEADER.size
    for _ in range(count):
        if data[at + 60] & 0x70:
            raise ValueError("an entry in the middle of a merge, or with flags of version 3")
        end = data.index(b"\0", at + _FIXED_BYTES)
        after = at + ((end - at) // 8 + 1) * 8
        entries[data[at + _FIXED_BYTES : end].decode("utf-8", "surrogateescape")] = data[at:after]
        at = after
    return entries


def _checksum(body: bytes) -> bytes:
    # Looking at files needs this module and no hash, whose import takes longer than a query.
    import hashlib

    return hashlib.sha1(body).digest()


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def sorted_entries(entries: Mapping[str, bytes]) -> SortedRows:
    """Entries in the order of the index file."""
    return SortedRows({_encoded(path): entry for path, entry in entries.items()})


def put_entry(rows: SortedRows, path: str, entry: bytes | None) -> None:
    """Set an entry; None removes it."""
    rows.put(_encoded(path), entry)


def write_entries(path: Path, rows: SortedRows) -> bytes:
    """Replace an index file unless another git holds it; return its checksum (empty when it was held)."""
    body = _HEADER.pack(b"DIRC", 2, len(rows)) + rows.joined()
    checksum = _checksum(body)
    lock = path.with_name(path.name + ".lock")
    if lock.exists() and is_stale(lock):
        lock.unlink(missing_ok=True)
    try:
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return b""
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.write(checksum)
        lock.replace(path)
    except BaseException:
        lock.unlink(missing_ok=True)
        raise
    return checksum
