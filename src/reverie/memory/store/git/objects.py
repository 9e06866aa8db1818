"""Blobs, trees and commits as bytes, written as git's loose objects.

A save writes a handful of objects; doing so here costs less than one start of the git program. Many at once go through
`write_pack`, which lets git index them. Reading is left to git. Only SHA-1 repositories, which ours always are.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from reverie.files.durable import flush, write_new
from reverie.memory.store.git.program import Git
from reverie.memory.store.git.sorted_rows import zipped
from reverie.values import value

PACK_FROM = 60
"""With more new objects than this, one pack is cheaper than as many files."""
_PACK_KIND = {"commit": 1, "tree": 2, "blob": 3}
_DISK_BLOCK_BYTES = 4096
"""What even the smallest file takes on disk."""
_EXTRA_PACK_BYTES = 250_000
"""One more pack slows every reading a little; some fifty of them are worth a packing."""
_DRAFT = "tmp_obj_"
"""As git names its own, so that git removes what we may leave."""
_Object: TypeAlias = tuple[str, bytes, bytes | None]
"""Kind, content, and the content as a part of a zlib stream where somebody keeps it."""


class Objects:
    """The objects one change needs, collected first and written together."""

    def __init__(self) -> None:
        self._new: dict[bytes, _Object] = {}

    def add(self, kind: str, content: bytes, deflated: bytes | None = None) -> bytes:
        """Remember an object and return its id; `deflated` is the content as a part of a zlib stream, where known."""
        name = object_id(kind, content)
        self._new[name] = kind, content, deflated
        return name

    def write_drafts(self, git: Git) -> UnpublishedObjects:
        """Write every object beside its place, not flushed; many at once become one pack, which git flushes."""
        new, self._new = self._new, {}
        if len(new) > PACK_FROM:
            write_pack(git, new.values())
            return UnpublishedObjects({}, _EXTRA_PACK_BYTES)
        return _write_drafts(git.directory / "objects", new)

    def write(self, git: Git) -> None:
        """Bring every object to its place, durably."""
        drafts = self.write_drafts(git)
        flush(drafts.places)
        drafts.place()


@value
class UnpublishedObjects:
    """Objects on disk that git does not see yet."""

    places: Mapping[Path, Path]
    """Draft → where it belongs, what others point at first."""
    loose_bytes: int
    """What a packing could save."""

    def place(self) -> None:
        """Move each to its place."""
        for draft, target in self.places.items():
            draft.replace(target)

    def drop(self) -> None:
        for draft in self.places:
            draft.unlink(missing_ok=True)


def object_id(kind: str, content: bytes) -> bytes:
    """The name git gives to this content."""
    name = hashlib.sha1(_head(kind, content))
    name.update(content)
    return name.digest()


def _head(kind: str, content: bytes) -> bytes:
    return b"%s %d\0" % (kind.encode(), len(content))


def _zipped(head: bytes, content: bytes, deflated: bytes | None) -> bytes:
    return zlib.compress(head + content, 1) if deflated is None else zipped(head, content, deflated)


def _write_drafts(folder: Path, new: Mapping[bytes, _Object]) -> UnpublishedObjects:
    places: dict[Path, Path] = {}
    size = 0
    try:
        for name, (kind, content, deflated) in new.items():
            target = folder / name.hex()[:2] / name.hex()[2:]
            if target.exists():
                continue
            packed = _zipped(_head(kind, content), content, deflated)
            draft = target.with_name(f"{_DRAFT}{target.name}")
            places[draft] = target
            _write_draft(draft, packed)
            size += max(_DISK_BLOCK_BYTES, len(packed))
    except BaseException:
        UnpublishedObjects(places, 0).drop()
        raise
    return UnpublishedObjects(places, size)


def _write_draft(draft: Path, content: bytes) -> None:
    while True:
        try:
            write_new(draft, content, mode=0o444, durable=False)
        except FileNotFoundError:
            # A packing beside us removes folders that it has emptied.
            draft.parent.mkdir(exist_ok=True)
        except FileExistsError:
            draft.unlink(missing_ok=True)
        else:
            return


def write_pack(git: Git, objects: Iterable[_Object]) -> None:
    """Write many objects as one pack; git checks and indexes it."""
    body = bytearray()
    count = 0
    for kind, content, deflated in objects:
        body += _pack_header(_PACK_KIND[kind], len(content)) + _zipped(b"", content, deflated)
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
