"""`find`: its tests and the actions that only print. Everything else it can do runs programs or removes files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reverie.permissions.shell.flags import may_become_option
from reverie.permissions.shell.script import Word

_LEADING = frozenset({"-H", "-L", "-P"})
_FOLLOWING = frozenset({"-L", "-follow"})
_ALONE = frozenset(
    {"-print", "-print0", "-ls", "-not", "!", "-o", "-or", "-a", "-and", "(", ")", ",", "-prune", "-empty", "-quit"}
    | {"-true", "-false", "-follow", "-depth", "-d", "-xdev", "-mount", "-readable", "-writable", "-executable"}
    | {"-noleaf", "-nouser", "-nogroup", "-daystart", "-ignore_readdir_race"}
)
_VALUED = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type"}
    | {"-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-perm"}
    | {"-user", "-group", "-uid", "-gid", "-links", "-inum", "-lname", "-ilname", "-printf", "-newermt", "-fstype"}
)
_VALUED_BY_PATH = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})


def find_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The starting points and files it compares with; None when it might do more than look."""
    if any(word.value is None or may_become_option(word) for word in words):
        return None
    waiting = list(words)
    paths: list[Word] = []
    follows = any(word.value in _FOLLOWING for word in words)
    while waiting and waiting[0].value in _LEADING:
        waiting.pop(0)
    while waiting and (waiting[0].value or "")[:1] not in ("-", "(", "!", ",", ")", ""):
        paths.append(waiting.pop(0))
    paths = paths or [Word(".", ".")]
    while waiting:
        word = waiting.pop(0)
        if word.value in _ALONE:
            continue
        if (word.value not in _VALUED and word.value not in _VALUED_BY_PATH) or not waiting or word.has_glob:
            return None
        value = waiting.pop(0)
        if word.value in _VALUED_BY_PATH:
            paths.append(value)
    return tuple(replace(path, follows_links=follows) for path in paths)
