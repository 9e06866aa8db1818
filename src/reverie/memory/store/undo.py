"""Undoes any change, also an old one, by a three-way merge of each topic file it touched.

Pure; `topic_store.py` reads the contents and writes the result as one commit. MEMORY.md is not merged: it is generated.
"""

from __future__ import annotations

from collections.abc import Mapping

from reverie.memory.store.writer import merge_bytes
from reverie.values import value


@value
class Reverted:
    """What undoing would make of the files."""

    files: Mapping[str, bytes | None]
    """New contents; None removes. Files that already are as they were before the change are left out."""
    conflicts: tuple[str, ...]
    """Files that were changed since, at the same place; while there is one, nothing may be written."""


def revert(
    before: Mapping[str, bytes | None], after: Mapping[str, bytes | None], now: Mapping[str, bytes | None]
) -> Reverted:
    """Bring the way back from `after` to `before` into the files as they are now."""
    files: dict[str, bytes | None] = {}
    conflicts: list[str] = []
    for path in after:
        old, new, present = before.get(path), after[path], now.get(path)
        if present == old:
            continue
        if present == new:
            files[path] = old
        elif old is None or new is None or present is None:
            conflicts.append(path)
        else:
            merged = merge_bytes(path, new, present, old)
            if merged is None:
                conflicts.append(path)
            else:
                files[path] = merged
    return Reverted(files, tuple(conflicts))
