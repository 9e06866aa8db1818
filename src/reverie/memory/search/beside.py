"""Runs a function in a worker thread while the caller does something else.

Whoever comes first does it: on a busy machine nobody waits for a thread that does not get its turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from typing import Generic, TypeVar

Result = TypeVar("Result")


def offer(work: Callable[[], Result]) -> Callable[[], Result]:
    """Let another thread do this work; the function that comes back gives its result, doing it where nobody has yet.

    It must be called: until then the work may be under way.
    """
    offered = _Offered(work)
    _queue().put(offered.do)
    return offered.result


class _Offered(Generic[Result]):
    """Work that is done once."""

    __slots__ = ("_done", "_error", "_found", "_taken", "_work")

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._taken = threading.Lock()
        self._done = threading.Lock()
        self._done.acquire()
        self._found: Result
        self._error: BaseException | None = None

    def do(self) -> None:
        """Do it, unless another thread does already."""
        if not self._taken.acquire(blocking=False):
            return
        try:
            self._found = self._work()
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            self._error = error
        self._done.release()

    def result(self) -> Result:
        self.do()
        with self._done:
            if self._error is not None:
                raise self._error
            return self._found


@cache
def _queue() -> SimpleQueue[Callable[[], None]]:
    queue: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def work() -> None:
        while True:
            queue.get()()

    threading.Thread(target=work, name="reverie-beside", daemon=True).start()
    return queue
