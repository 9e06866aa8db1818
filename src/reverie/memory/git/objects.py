"""Blobs, trees and commits as bytes, written as git's loose objects.

A save writes a handful of objects; doing so here costs less than one start of the git program. Many at once go through
`write_pack`, which lets git index them. Reading is left to git. Only SHA-1 repositories, which ours always are.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from reverie.files.durable import write_new
from reverie.memory.git.program import Git

PACK_FROM = 60
"""With more new objects than this, one pack is cheaper than as many files."""
_PACK_KIND = {"commit": 1, "tree": 2, "blob": 3}
_DISK_BLOCK_BYTES = 4096
"""What even the smallest file takes on disk."""
_EXTRA_PACK_BYTES = 250_000
"""One more pack slows every reading a little; some fifty of them are worth a packing."""
_FLUSH_THREADS = 4
_DRAFT = "tmp_obj_"
"""As git names its own, so that git removes what we may leave."""


class Objects:
    """The objects one change needs, collected first and written together."""

    def __init__(self) -> None:
        self._new: dict[bytes, tuple[str, bytes]] = {}

    def add(self, kind: str, content: bytes) -> bytes:
        """Remember an object and return its id."""
        name = object_id(kind, content)
        self._new[name] = (kind, content)
        return name

    def write(self, git: Git) -> int:
        """Bring every object to disk, durably, before anything may point at it; return what a packing could save."""
        new, self._new = self._new, {}
        if len(new) > PACK_FROM:
            write_pack(git, new.values())
            return _EXTRA_PACK_BYTES
        return _write_loose(git.directory / "objects", new)


def object_id(kind: str, content: bytes) -> bytes:
    """The name git gives to this content."""
    return hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(content), content)).digest()


def add_tree(objects: Objects, files: Mapping[str, bytes]) -> bytes:
    """Add the tree of these paths (with their blob ids) and all folders below it; return the root's id."""
    # Git sorts a folder as if its name ended in a slash, so the sort key is the name with it.
    rows = {
        (name := path.encode("utf-8", "surrogateescape")): b"100644 %s\0%s" % (name, oid)
        for path, oid in files.items()
        if "/" not in path
    }
    below: dict[str, dict[str, bytes]] = {}
    if len(rows) < len(files):
        for path, oid in files.items():
            folder, slash, rest = path.partition("/")
            if slash:
                below.setdefault(folder, {})[rest] = oid
    for folder, inside in below.items():
        name = folder.encode("utf-8", "surrogateescape")
        rows[name + b"/"] = b"40000 %s\0%s" % (name, add_tree(objects, inside))
    return objects.add("tree", b"".join([rows[name] for name in sorted(rows)]))


def _write_loose(folder: Path, new: Mapping[bytes, tuple[str, bytes]]) -> int:
    waiting: dict[Path, bytes] = {}
    for name, (kind, content) in new.items():
        target = folder / name.hex()[:2] / name.hex()[2:]
        if not target.exists():
            waiting[target] = zlib.compress(b"%s %d\0%s" % (kind.encode(), len(content), content), 1)
    # Flushes that overlap share one turn of the disk's journal.
    with ThreadPoolExecutor(_FLUSH_THREADS) as pool:
        drafts = list(pool.map(_write_draft, waiting.items()))
    for draft, target in zip(drafts, waiting, strict=True):
        draft.replace(target)
    return sum(max(_DISK_BLOCK_BYTES, len(content)) for content in waiting.values())


def _write_draft(waiting: tuple[Path, bytes]) -> Path:
    target, content = waiting
    draft = target.with_name(f"{_DRAFT}{target.name}")
    draft.unlink(missing_ok=True)
    while True:
        target.parent.mkdir(exist_ok=True)
        # A packing beside us removes folders that it has emptied.
        with suppress(FileNotFoundError):
            write_new(draft, content, mode=0o444)
            return draft


def write_pack(git: Git, objects: Iterable[tuple[str, bytes]]) -> None:
    """Write many objects as one pack; git checks and indexes it."""
    body = bytearray()
    count = 0
    for kind, content in objects:
        body += _pack_header(_PACK_KIND[kind], len(content)) + zlib.compress(content, 1)
        count += 1
    pack = b"PACK" + (2).to_bytes(4, "big") + count.to_bytes(4, "big") + bytes(body)
    git.run("index-pack", "--stdin", stdin=pack + hashlib.sha1(pack).digest())


def _pack_header(kind: int, size: int) -> bytes:
    first = (kind << 4) | (size & 15)
    size >>= 4
    out = bytearray()
    while size:
        out.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    out.append(first)
    return bytes(out)


def remove_drafts(git_directory: Path) -> None:
    """Remove half-written objects that a killed writer left; call it only under the writer's lock."""
    for draft in (git_directory / "objects").glob(f"??/{_DRAFT}*"):
        with suppress(OSError):
            draft.unlink()
