"""A copy of the topics outside the memory directory, in which a dream works unseen.

The copy belongs to whoever holds the lock; what a killed dream left is removed by the next one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from reverie.files import write_folder
from reverie.files.durable import translate_os_errors, write_new

LARGEST_BYTES = 1_000_000
"""A topic of this size is no memory; a fork that writes one is broken."""


def write_staging(place: Path, texts: Mapping[str, str]) -> None:
    """Make a fresh copy."""
    remove_staging(place)
    with translate_os_errors("write", place):
        write_folder(place)
        for path, text in texts.items():
            write_folder((place / path).parent)
            write_new(place / path, text.encode("utf-8", "surrogateescape"), durable=False)


def read_staging(place: Path) -> dict[str, str]:
    """Every plain file of the copy; what is no UTF-8, a link, or too large comes as an empty text."""
    files: dict[str, str] = {}
    for folder, below, names in os.walk(place):
        below.sort()
        for name in sorted(names):
            path = Path(folder, name)
            inside = path.relative_to(place).as_posix()
            files[inside] = "" if path.is_symlink() else _read_text(path)
    return files


def remove_staging(place: Path) -> None:
    """Remove the copy and all that is in it."""
    if place.is_symlink():
        place.unlink()
    shutil.rmtree(place, ignore_errors=True)


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return ""
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return ""


def inside(path: Path, staging: Path) -> str | None:
    """A path as part of the copy; None when it leads elsewhere."""
    try:
        return path.resolve().relative_to(staging.resolve()).as_posix()
    except (ValueError, OSError):
        return None
