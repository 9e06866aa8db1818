"""Resolves the name that a person gives to a topic path: a path, file name, name, or the beginning of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from reverie.errors import UserMistake
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.topics.filenames import find_topic

_SUGGESTED = 3


def inside(directory: Path, name: str) -> str:
    """A whole path as a path inside the directory; any other name as it is."""
    if not isinstance(name, str):
        raise UserMistake(f"the name of a memory must be a string, not {type(name).__name__}")
    return name.removeprefix(f"{directory}/")


def find_path(folder: IndexedFolder, name: str) -> str | None:
    """The path of the one memory that is meant; None when there is none.

    Raises:
        UserMistake: more than one fits equally well.
    """
    exact = find_topic(inside(folder.folder.directory, name), folder.list_paths(), folder.names)
    if exact is not None or not name.strip():
        return exact
    begun = [path for path, title in folder.names().items() if title.casefold().startswith(name.casefold())]
    return begun[0] if len(begun) == 1 else None


def missing(folder: IndexedFolder, name: str) -> NoReturn:
    """Say that there is no such memory, and which ones are near."""
    from difflib import get_close_matches

    names = folder.names()
    folded_name = name.casefold()
    holding = [title for title in names.values() if folded_name and folded_name in title.casefold()]
    near = dict.fromkeys([*holding, *get_close_matches(name, [*names.values(), *names], n=_SUGGESTED, cutoff=0.5)])
    hint = f"; perhaps {' or '.join(map(repr, list(near)[:_SUGGESTED]))}" if near else "; run `reverie list` for a list"
    raise UserMistake(f"no memory {name!r} in {folder.folder.directory}{hint}")


@contextmanager
def resolved_path(folder: IndexedFolder, name: str) -> Iterator[str]:
    """The path of a memory, or its name when it may be one that is gone; where even the past has none, suggest some."""
    try:
        yield find_path(folder, name) or inside(folder.folder.directory, name)
    except UserMistake:
        if find_path(folder, name) is None:
            missing(folder, name)
        raise
