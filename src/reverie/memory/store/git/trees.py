"""The tree objects of a directory, kept sorted as git requires and changed path by path.

With thousands of files in one folder, making its tree anew for every commit would cost more than all else in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from reverie.memory.store.git.objects import Objects
from reverie.memory.store.git.sorted_rows import SortedRows


class GitTree:
    """One folder: its files, and the folders below it."""

    def __init__(self, files: Iterable[tuple[str, bytes]] = ()) -> None:
        """Start with these paths and their blob ids; nothing is taken to be in the repository yet."""
        self._folders: dict[str, GitTree] = {}
        self._oid: bytes | None = None
        rows: dict[bytes, bytes] = {}
        below: dict[str, list[tuple[str, bytes]]] = {}
        for path, oid in files:
            if "/" in path:
                folder, _, rest = path.partition("/")
                below.setdefault(folder, []).append((rest, oid))
            else:
                name = path.encode("utf-8", "surrogateescape")
                rows[name] = b"100644 %s\0%s" % (name, oid)
        for folder, inside in below.items():
            self._folders[folder] = GitTree(inside)
            rows[_folder_key(folder)] = b""
        # Git sorts a folder as if its name ended in a slash, so the key is the name with it.
        self._rows = SortedRows(rows)

    def put(self, path: str, oid: bytes | None) -> None:
        """Set the blob of a path; None removes it, and with the last file its folder."""
        self._oid = None
        name, slash, rest = path.partition("/")
        if not slash:
            key = name.encode("utf-8", "surrogateescape")
            self._rows.put(key, None if oid is None else b"100644 %s\0%s" % (key, oid))
            return
        folder = self._folders.setdefault(name, GitTree())
        folder.put(rest, oid)
        if not folder._rows:
            del self._folders[name]
        self._rows.put(_folder_key(name), b"" if folder._rows else None)

    def add_to(self, objects: Objects) -> bytes:
        """Add every tree that changed since the last call, and return the id of this one."""
        if self._oid is None:
            for name, folder in self._folders.items():
                key = _folder_key(name)
                self._rows.put(key, b"40000 %s\0%s" % (key[:-1], folder.add_to(objects)))
            self._oid = objects.add("tree", self._rows.joined(), self._rows.deflated())
        return self._oid


def _folder_key(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape") + b"/"
