"""Watches an open memory for edits by other programs, so that a query need not check every file first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Self

INTERVAL_SECONDS = 0.5
"""Half of the second within which an edit must become visible."""
_MOST_OF_A_CORE = 20
"""A look may take one part in so many of the time between two looks."""


class Watch:
    """A thread that looks at a directory until it is closed: told by the system, or every half second."""

    def __init__(self, directory: Path, look: Callable[[tuple[Path, ...]], None]) -> None:
        """`look` is given the files that changed; none means that nobody knows which."""
        self._directory = directory
        self._look = look
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reverie-watch", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        return self._thread.is_alive() and not self._stop.is_set()

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        if find_spec("watchfiles") is not None and self._directory.is_dir():
            self._listen()
        while not self._stop.is_set():
            started = time.monotonic()
            self._look(())
            self._stop.wait(max(INTERVAL_SECONDS, _MOST_OF_A_CORE * (time.monotonic() - started)))

    def _listen(self) -> None:
        from watchfiles import watch

        is_first = True
        for changes in watch(
            self._directory,
            stop_event=self._stop,
            debounce=100,
            step=20,
            rust_timeout=200,
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            # What was edited before the system began to tell us is found by the first look.
            changed = tuple(Path(path) for _, path in changes if path.endswith(".md"))
            if is_first or changed:
                self._look(() if is_first else changed)
            is_first = False
            if self._stop.is_set():
                return
