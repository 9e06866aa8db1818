"""Past sessions for `Memory.search`: opened on first use, checked for changes at most once a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from reverie.files.places import Places
from reverie.memory.search.passages import PastQuery, PastSearch, PastSearchResult
from reverie.memory.search.passages.listing import index_place, list_transcripts

_FRESH_SECONDS = 1.0
"""How long a look at the transcripts holds."""


class Past:
    """The past sessions of one project."""

    def __init__(self, places: Places, directory: Path) -> None:
        self._search = PastSearch(index_place(places, directory), lambda: list_transcripts(places, directory))
        self._swept = float("-inf")

    def close(self) -> None:
        """Let go of the index."""
        self._search.close()

    def sweep(self, *, anew: bool = False, progress: Callable[[int, int], None] = lambda _done, _of: None) -> None:
        """Bring the index up to the transcripts; `anew` reads them all again."""
        self._search.sweep(anew=anew, progress=progress)
        self._swept = time.monotonic()

    def search(
        self,
        query: PastQuery,
        *,
        now: datetime,
        fresh: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> PastSearchResult:
        """The passages that answer, on an index no older than a second; `fresh` reads every transcript again."""
        if fresh or time.monotonic() - self._swept > _FRESH_SECONDS:
            self.sweep(anew=fresh, progress=progress)
        return self._search.search(query, now=now)


def remove_erased(places: Places, directory: Path | None) -> None:
    """Let the index of a project, or those of all, forget what was taken out of transcripts; both are derived."""
    if directory is None:
        for file in (places.caches / "passages").glob("*.db*"):
            file.unlink(missing_ok=True)
    elif index_place(places, directory).exists():
        past = Past(places, directory)
        past.sweep()
        past.close()
