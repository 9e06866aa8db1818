"""Read trees and blobs through the git program, which knows packs and deltas."""

from __future__ import annotations

import os
from collections.abc import Iterable

from reverie.errors import Unavailable
from reverie.memory.store.git.program import Git


def read_tree(git: Git, commit: str | None) -> dict[str, bytes]:
    """Path → content id of every ordinary file a commit holds; no commit holds nothing."""
    if commit is None:
        return {}
    rows = (row.split(b"\t", 1) for row in git.run("ls-tree", "-r", "-z", commit).split(b"\0") if row)
    return {os.fsdecode(path): bytes.fromhex(head[12:].decode()) for head, path in rows if head.startswith(b"100")}


def read_blob(git: Git, oid: bytes) -> bytes:
    """The content with this id."""
    return read_blobs(git, (oid,))[oid]


def read_blobs(git: Git, oids: Iterable[bytes]) -> dict[bytes, bytes]:
    """The contents of many blobs, by one call of git."""
    wanted = list(dict.fromkeys(oids))
    if not wanted:
        return {}
    answer = git.run("cat-file", "--batch", stdin=b"".join(b"%s\n" % oid.hex().encode() for oid in wanted))
    contents: dict[bytes, bytes] = {}
    at = 0
    for oid in wanted:
        end = answer.index(b"\n", at)
        head = answer[at:end].split(b" ")
        if len(head) < 3:
            raise Unavailable(f"{oid.hex()} is missing in {git.directory}; restore the history from a copy or a bundle")
        size = int(head[2])
        contents[oid] = answer[end + 1 : end + 1 + size]
        at = end + size + 2
    return contents
