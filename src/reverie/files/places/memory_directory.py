"""Checks whether a directory may hold memories, and where its history lies. `memory.scopes` chooses the directory."""

from __future__ import annotations

import itertools
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files import is_encodable
from reverie.files.places.checkout import Checkout, find_checkout
from reverie.files.places.identity import find_project
from reverie.files.places.paths import MemoryFolder, Places
from reverie.files.places.slug import canonical


def validate_memory_directory(value: str, *, user_home: Path) -> Path:
    """Return the directory that the value names, `~/` expanded and `..` taken out.

    Raises:
        UserMistake: it is relative, at or near the root, a home directory, a drive or network root, or holds a NUL.
    """
    if not is_encodable(value):
        raise UserMistake(f"{value!r} contains a character that is not allowed in a path")
    if value.startswith(("\\\\", "//")):
        raise UserMistake(f"{value!r} is a network path; name a directory on this machine")
    if re.match(r"[A-Za-z]:", value):
        raise UserMistake(f"{value!r} is a Windows path; name a directory of this system")
    path = Path(os.path.normpath(user_home / value[2:] if value.startswith("~/") else value))
    if not path.is_absolute():
        raise UserMistake(f"{value!r} is relative; use an absolute path or start with ~/")
    for seen in (path, Path(os.path.realpath(path))):
        if len(seen.parts) < 3:
            raise UserMistake(f"{value!r} is too close to the root; name a directory at least two levels deep")
        if seen in (user_home, Path(os.path.realpath(user_home))):
            raise UserMistake(f"{value!r} is the home directory itself; name a directory in it")
    return path


def memory_folder(places: Places, directory: Path) -> MemoryFolder:
    """The memory directory with the place of its history: aside when it lies inside somebody's work tree."""
    checkout = find_checkout(directory.parent)
    return MemoryFolder(directory, aside=directory if checkout is None else _aside(places, directory, checkout))


def _aside(places: Places, directory: Path, checkout: Checkout) -> Path:
    """Where the history lies: named by the path, or by one from which the repository has moved away since.

    Names are lossy; where another directory has the name already, this one gets a name of its own.
    """
    here, usual = canonical(directory), places.aside(directory)
    for place in itertools.chain([usual], _former(places, here, checkout)):
        owner = _work_tree(place)
        if owner is not None and (owner == here or not Path(owner).exists()):
            return place
    if _work_tree(usual) is None:
        return usual
    return usual.with_name(f"{usual.name}-{zlib.crc32(here.encode(errors='surrogatepass')):08x}")


def _former(places: Places, here: str, checkout: Checkout) -> Iterator[Path]:
    """The places of the same directory where the repository was before."""
    root = canonical(checkout.root)
    project = find_project(places, checkout.root) if Path(here).is_relative_to(root) else None
    for path in (project.identity.path, *project.identity.other_paths) if project is not None else ():
        yield places.aside(path / Path(here).relative_to(root))


def _work_tree(aside: Path) -> str | None:
    """Which directory's history lies here; its configuration says so."""
    try:
        found = re.search(
            r'^\tworktree = "(.*)"$', (aside / ".git" / "config").read_text(encoding="utf-8"), re.MULTILINE
        )
    except OSError:
        return None
    return None if found is None else re.sub(r"\\(.)", r"\1", found[1])
