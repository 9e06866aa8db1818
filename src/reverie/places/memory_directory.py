"""Which directory holds the memories (spec 2 §2.1), which directory may (§2.3), and where its history lies.

Settings come as values; the system's own default comes from `identity.open_project`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files import is_encodable
from reverie.places.checkout import find_checkout
from reverie.places.paths import MemoryFolder, Places
from reverie.values import value


class Source(StrEnum):
    """Who may name a memory directory, the strongest first."""

    ENVIRONMENT = "environment"
    MANAGED = "managed settings"
    FLAG = "flag"
    LOCAL = "local settings"
    PROJECT = "project settings"
    """Never believed: a hostile repository could send the writes anywhere."""
    USER = "user settings"
    DEFAULT = "default"


@value
class Candidate:
    """A directory that somebody named."""

    source: Source
    value: str
    file: Path | None = None
    """The settings file it stands in."""


@value
class MemoryDirectory:
    """The directory that won."""

    directory: Path
    source: Source
    warnings: tuple[str, ...] = ()
    """Why stronger candidates were passed over."""


def resolve_memory_directory(
    candidates: Iterable[Candidate], *, default: Path, user_home: Path, is_committed: Callable[[Path], bool]
) -> MemoryDirectory:
    """Take the strongest candidate that may be believed and is valid, else the default.

    `is_committed` says whether a settings file came with the repository: a committed "local" file is not believed.
    """
    warnings: list[str] = []
    order = list(Source)
    for candidate in sorted(candidates, key=lambda each: order.index(each.source)):
        where = f" in {candidate.file}" if candidate.file else ""
        ignored = f"the memory directory {candidate.value!r} from the {candidate.source}{where} is ignored"
        if candidate.source is Source.PROJECT:
            warnings.append(f"{ignored}: a repository may not choose it; set it in your user settings")
        elif candidate.source is Source.LOCAL and candidate.file is not None and is_committed(candidate.file):
            warnings.append(f"{ignored}: that file came with the repository; set it in your user settings")
        else:
            try:
                directory = validate_memory_directory(candidate.value, user_home=user_home)
            except UserMistake as mistake:
                warnings.append(f"{ignored}: {mistake}")
            else:
                return MemoryDirectory(directory, candidate.source, tuple(warnings))
    return MemoryDirectory(default, Source.DEFAULT, tuple(warnings))


def validate_memory_directory(value: str, *, user_home: Path) -> Path:
    """Return the directory that the value names, `~/` expanded and `..` taken out.

    Raises:
        UserMistake: it is relative, at or near the root, a home directory, a drive or network root, or holds a NUL.
    """
    if not is_encodable(value):
        raise UserMistake(f"{value!r} holds a NUL byte or another character that no path can have")
    if value.startswith(("\\\\", "//")):
        raise UserMistake(f"{value!r} is a network path; name a directory on this machine")
    if re.match(r"[A-Za-z]:", value):
        raise UserMistake(f"{value!r} is a path on a Windows drive; name a directory of this system")
    path = Path(os.path.normpath(user_home / value[2:] if value.startswith("~/") else value))
    if not path.is_absolute():
        raise UserMistake(f"{value!r} is relative; name the full path or begin with ~/")
    for seen in (path, Path(os.path.realpath(path))):
        if len(seen.parts) < 3:
            raise UserMistake(f"{value!r} is at or near the root; name a directory at least two levels deep")
        if seen in (user_home, Path(os.path.realpath(user_home))):
            raise UserMistake(f"{value!r} is the home directory itself; name a directory in it")
    return path


def memory_folder(places: Places, directory: Path) -> MemoryFolder:
    """The memory directory with the place of its history: aside when it lies inside somebody's work tree."""
    in_work_tree = find_checkout(directory.parent) is not None
    return MemoryFolder(directory, aside=places.aside(directory) if in_work_tree else directory)
