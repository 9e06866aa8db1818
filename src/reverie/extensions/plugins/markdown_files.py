"""Lists the Markdown files of a folder of commands or agents; safe against link cycles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_MAX_DEPTH = 8
_MAX_FOLDERS = 1_000


def list_markdown(folder: Path) -> Iterator[Path]:
    """All Markdown files below a folder, links followed and no folder twice; subfolders only put them in order."""
    return _below(folder, _MAX_DEPTH, set())


def _below(folder: Path, depth: int, seen: set[str]) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in seen or len(seen) >= _MAX_FOLDERS:
        return
    seen.add(real)
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return
    for path in entries:
        if path.is_dir():
            if depth:
                yield from _below(path, depth - 1, seen)
        elif path.suffix == ".md":
            yield path
