"""One query for many requests: what is asked while a query runs waits for the next one, which answers all of it.

An answer is never older than the question, as it would be with a cache, so a revoked token is refused at once and an
unchanged pull is unchanged on every replica. Under load the database sees a few queries instead of thousands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")

LOOKUPS_MAX = 2
"""Queries under way at once."""
_SLOW_SECONDS = 0.02
"""A second query is begun only beside one that takes longer: gathering is cheaper than asking twice."""
_GATHER_SECONDS = 0.001
"""How long a query waits for company when requests came during the one before; a lone request never waits."""
_KEYS_MAX = 500


class BatchedLookup(Generic[Key, Answer]):
    """Answers keys of many tasks with few calls of `read`, which runs in the executor."""

    def __init__(self, read: Callable[[Sequence[Key]], Mapping[Key, Answer]], executor: Executor) -> None:
        self._read = read
        self._executor = executor
        self._waiting: dict[Key, list[asyncio.Future[Answer | None]]] = {}
        self._tasks: set[asyncio.Task[None] | None] = set()
        self._asked_at = 0.0

    def _is_slow(self) -> bool:
        return asyncio.get_running_loop().time() - self._asked_at > _SLOW_SECONDS

    async def load(self, key: Key) -> Answer | None:
        """The answer for a key; None where there is none."""
        answer: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(answer)
        if not self._tasks or (len(self._tasks) < LOOKUPS_MAX and self._is_slow()):
            self._tasks.add(asyncio.create_task(self._answer_all()))
        return await answer

    async def _answer_all(self) -> None:
        try:
            await self._ask_while_wanted()
        finally:
            # At once, not by a callback: whoever asks before a callback ran would wait for nobody.
            self._tasks.discard(asyncio.current_task())

    async def _ask_while_wanted(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            keys = list(self._waiting)[:_KEYS_MAX]
            waiting = {key: self._waiting.pop(key) for key in keys}
            self._asked_at = loop.time()
            try:
                answers = await loop.run_in_executor(self._executor, self._read, keys)
            except Exception as problem:  # noqa: BLE001 - whoever asked gets it
                for future in _list_open(waiting):
                    future.set_exception(problem)
            else:
                for key, futures in waiting.items():
                    answer = answers.get(key)
                    for future in futures:
                        if not future.done():
                            future.set_result(answer)
            if self._waiting:
                await asyncio.sleep(_GATHER_SECONDS)


def _list_open(waiting: Mapping[Key, Sequence[asyncio.Future[Answer | None]]]) -> list[asyncio.Future[Answer | None]]:
    """Those that nobody cancelled."""
    return [future for futures in waiting.values() for future in futures if not future.done()]
