"""Finds the documents whose situation is the present one: a file in play, a tool in use, a kind of task."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from reverie.files.globs import matches_like_gitignore
from reverie.memory.search.topic_table import when_from_row
from reverie.memory.topics.situations import Situation, find_asked_tasks

_MOST_EACH = 20
"""How many documents one ground may bring, the latest; ranking decides among them."""


class StandingRules:
    """The situations of all documents of an index, by what calls them up.

    Words of a request are not looked up here: the index finds them as it finds other words.
    """

    def __init__(self, situations: Iterable[tuple[int, str]]) -> None:
        """From (id, situations as JSON), the latest first."""
        self._by_glob: dict[str, list[int]] = {}
        self._by_tool: dict[str, list[int]] = {}
        self._by_task: dict[str, list[int]] = {}
        for number, row in situations:
            when = when_from_row(json.loads(row))
            for glob in when.files:
                self._by_glob.setdefault(glob, []).append(number)
            for tool in when.tools:
                self._by_tool.setdefault(tool.casefold(), []).append(number)
            for task in when.tasks:
                self._by_task.setdefault(task, []).append(number)
        self._literals = {glob: max(re.split(r"[*?\[\]!/\\]", glob), key=len) for glob in self._by_glob}

    def find(self, situation: Situation) -> list[int]:
        """The documents that hold now, the latest of each ground."""
        found: dict[int, None] = {}
        for numbers in self._grounds(situation):
            found |= dict.fromkeys(numbers[:_MOST_EACH])
        return list(found)

    def _grounds(self, situation: Situation) -> Iterator[list[int]]:
        if situation.files:
            together = "\n".join(situation.files)
            for glob, numbers in self._by_glob.items():
                # Most globs share no letters with the files; a pattern for each would take longer than the recall.
                is_possible = self._literals[glob] in together
                if is_possible and any(matches_like_gitignore(glob, file) for file in situation.files):
                    yield numbers
        for tool in situation.tools:
            yield self._by_tool.get(tool.casefold(), [])
        for task in find_asked_tasks(situation.request):
            yield self._by_task.get(task, [])
