"""What the last commit holds, and how each file looked on disk when it was last known to be the same.

Comparing `stat` results tells which files changed without reading them, and without starting git. The cache is one
JSON file beside the history; one that is lost, damaged or of another commit costs one reading of all files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from reverie.files import write_atomic
from reverie.memory.store.tracked import Seen

UNSEEN: Seen = (0, 0, 0, 0, 0)
"""Stands for a file that must be read to know what is in it."""


class TrackedFile(NamedTuple):
    """One file of the last commit."""

    oid: bytes
    """Its content id."""
    seen: Seen


Entries: TypeAlias = dict[str, TrackedFile]
"""Path → the file there."""


def read_noted_commit(path: Path) -> str:
    """The commit to which a cache belongs, whatever else is in the file."""
    try:
        with path.open("rb") as file:
            return file.readline(96).decode("ascii", "replace").partition(" ")[0].strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def read_stat_cache(path: Path) -> Entries | None:
    """The files of a cache; None where it is missing or damaged."""
    try:
        rows = json.loads(path.read_bytes().partition(b"\n")[2])
        return {name: TrackedFile(bytes.fromhex(row[0]), (*row[1:6],)) for name, row in rows.items()}
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, LookupError, AttributeError):
        return None


def write_stat_cache(path: Path, commit: str | None, entries: Mapping[str, TrackedFile]) -> None:
    """Replace a cache, without waiting for the disk."""
    rows = json.dumps({name: (file.oid.hex(), *file.seen) for name, file in entries.items()}, separators=(",", ":"))
    write_atomic(path, f"{commit or ''}\n{rows}", durable=False)
