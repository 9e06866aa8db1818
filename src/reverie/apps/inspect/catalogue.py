"""Every memory of the project and of the user as a row, kept until a file changes, so that each letter of a search need
not read ten thousand of them again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from reverie.apps.inspect.page import Inspected
from reverie.apps.memory_documents import topic_documents
from reverie.memory.memory import Memory
from reverie.memory.store.worktree import fingerprint, list_tracked
from reverie.memory.topics.anchors import Anchor, AnchorState
from reverie.memory.topics.topic import Topic
from reverie.values import value

FRESH_SECONDS = 1.0
"""How long the files are not looked at again."""
_ANCHOR_SECONDS = 10.0


@value
class MemoryCatalogue:
    """The memories as they were at one moment."""

    key: object
    rows: Mapping[str, dict[str, Any]]
    """By address, pinned ones first, then the newest."""
    trusts: tuple[str, ...]


def read_catalogue(shown: Inspected, memory: Memory) -> MemoryCatalogue:
    """All memories; the files are looked at once a second at most."""
    moment = int(time.monotonic() / FRESH_SECONDS)
    key = shown.remember("state of the files", (moment, shown.changes), lambda: _look(memory))
    return shown.remember("catalogue", key, lambda: _read(memory, key))


def read_topics(shown: Inspected, memory: Memory) -> tuple[Topic, ...]:
    """The same memories whole, those of the project only."""
    key = read_catalogue(shown, memory).key
    return shown.remember("topics", key, lambda: tuple(memory.topics()))


def read_states(shown: Inspected, memory: Memory) -> AnchorStates:
    """The states of anchors, looked at again after some seconds."""
    moment = int(time.monotonic() / _ANCHOR_SECONDS)
    return shown.remember("anchors", (moment, shown.changes), lambda: AnchorStates(memory))


class AnchorStates:
    """What each anchor of the project's memories points to now; many memories share a file, which is read once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._states: dict[Anchor, AnchorState] = {}

    def of(self, topic: Topic) -> list[tuple[Anchor, AnchorState]]:
        """The anchors of a memory with their states."""
        if any(anchor not in self._states for anchor in topic.anchors):
            self._states |= {check.anchor: check.state for check in self._memory.check_anchors(topic)}
        return [(anchor, self._states.get(anchor, AnchorState.unchecked)) for anchor in topic.anchors]


def url_of(scope: str, path: str) -> str:
    """The address of a memory's page."""
    return f"/memories/{scope}/{quote(path)}"


def _look(memory: Memory) -> tuple[bytes, ...]:
    return tuple(fingerprint(list_tracked(each.scope.folder)) for each in (memory, memory.user))


def _read(memory: Memory, key: object) -> MemoryCatalogue:
    rows: list[dict[str, Any]] = []
    for each in (memory, memory.user):
        for document in topic_documents(each, each.scope.name):
            path = document["path"].removeprefix(f"{each.directory}/")
            row = {"key": path, "url": url_of(each.scope.name, path), "score": None, "why": "", "anchor_states": ()}
            rows.append(document | row)
    rows.sort(key=lambda row: (row["pinned"], row["observed"] or ""), reverse=True)
    trusts = tuple(sorted({row["trust"] for row in rows if row["trust"]}))
    return MemoryCatalogue(key, {row["url"]: row for row in rows}, trusts)
