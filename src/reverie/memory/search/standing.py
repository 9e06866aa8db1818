"""Finds the documents whose situation is the present one: a file in play, a tool in use, a kind of task."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.files.globs import matches_like_gitignore
from reverie.memory.search.database import Database
from reverie.memory.topics.situations import Situation, find_asked_tasks

_MOST_EACH = 20
"""How many documents one file pattern, tool or kind of task may bring, the latest; ranking decides among them."""


def find_standing(database: Database, situation: Situation) -> list[int]:
    """The ids of the documents that hold now, the latest of each file pattern, tool and kind of task.

    Words of a request are not looked up here: the index finds them as it finds other words.
    """
    found: dict[int, None] = {}
    for kind, name in _present(database, situation):
        found |= dict.fromkeys(database.holding(kind, name, _MOST_EACH))
    return list(found)


def _present(database: Database, situation: Situation) -> Iterator[tuple[str, str]]:
    if situation.files:
        together = "\n".join(situation.files)
        for glob in database.globs():
            # Most globs share no letters with the files; a pattern for each would take longer than the recall.
            is_possible = max(re.split(r"[*?\[\]!/\\]", glob), key=len) in together
            if is_possible and any(matches_like_gitignore(glob, file) for file in situation.files):
                yield "file", glob
    for tool in situation.tools:
        yield "tool", tool.casefold()
    for task in find_asked_tasks(situation.request):
        yield "task", task
