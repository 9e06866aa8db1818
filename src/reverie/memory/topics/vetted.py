"""Cache of topics that this process has already scanned for secrets, so that they are not scanned again.

Whoever is about to write adds them; the derived indexes ask by path and exact content, so what somebody else wrote in
between is never taken for what was looked at.
"""

from __future__ import annotations

from reverie.memory.topics.value import Topic


class Vetted:
    """The topics of a change that is under way."""

    def __init__(self) -> None:
        self._topics: dict[str, tuple[bytes, Topic]] = {}

    def add(self, content: bytes, topic: Topic) -> None:
        """Note that a content at the topic's path is this topic and holds no secret."""
        self._topics[topic.path] = content, topic

    def get(self, path: str, content: bytes) -> Topic | None:
        """The topic of a content that was looked at; None where nobody has."""
        known = self._topics.get(path)
        return known[1] if known is not None and known[0] == content else None

    def clear(self) -> None:
        """Forget them: the change is done."""
        self._topics.clear()
