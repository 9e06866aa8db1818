"""Finds the topic that a person means by a path, file name, name, or the beginning of a file name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from reverie.errors import UserMistake
from reverie.memory.topics.filenames import path_key

key_of = lru_cache(maxsize=200_000)(path_key)
"""`path_key`, remembered: a large directory asks for the same names at every save."""


def find_topic(name: str, paths: Iterable[str], names: Callable[[], Mapping[str, str]]) -> str | None:
    """The one path that is meant; None when nothing fits. `names` (path → name) is asked for only when needed.

    Raises:
        UserMistake: more than one fits equally well.
    """
    paths = list(paths)
    wanted = key_of(name)
    spellings = {wanted, f"{wanted}.md"}
    if name in paths:
        return name
    return (
        _only([path for path in paths if key_of(path) in spellings], name)
        or _only([path for path in paths if key_of(path.rpartition("/")[2]) in spellings], name)
        or _only([path for path, title in names().items() if key_of(title) == wanted], name)
        or (
            _only([path for path in paths if key_of(path.rpartition("/")[2]).startswith(wanted)], name)
            if wanted
            else None
        )
    )


def _only(matches: list[str], name: str) -> str | None:
    if len(matches) > 1:
        raise UserMistake(f"{name!r} is ambiguous: it matches {', '.join(sorted(matches)[:10])}")
    return matches[0] if matches else None
