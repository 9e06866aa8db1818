"""Checks a memory directory for changes in a child process while this one still imports the search engine.

Looking at ten thousand files takes as long as everything else that a cold question does. Only for a process with a
single thread: a child of any other could inherit a lock that nobody releases.
"""

from __future__ import annotations

import os
import time

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.tracked import fingerprint, list_tracked


class LookAhead:
    """One look that is under way."""

    def __init__(self, folder: MemoryFolder) -> None:
        self.started_seconds = time.monotonic()
        self._answer, told = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            _tell(folder, told)
        os.close(told)

    def read_fingerprint(self) -> bytes:
        """Wait for how the directory looked; empty when the child could not tell."""
        with os.fdopen(self._answer, "rb") as answer:
            found = answer.read()
        os.waitpid(self._child, 0)
        return found


def _tell(folder: MemoryFolder, told: int) -> None:
    """Look, answer and end, whatever happens: nothing else of the parent may run twice."""
    try:
        os.write(told, fingerprint(list_tracked(folder)))
    finally:
        os._exit(0)
