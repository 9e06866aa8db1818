from __future__ import annotations

import threading
from functools import partial

import pytest

from reverie.memory.search.beside import offer


def test_offered_work_is_done_once_and_gives_its_result() -> None:
    done: list[int] = []

    def work(number: int) -> int:
        done.append(number)
        return number

    results = [offer(partial(work, number))() for number in range(50)]
    assert results == done == list(range(50))


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    with pytest.raises(ZeroDivisionError):
        offer(lambda: 1 / 0)()
    assert offer(lambda: "still works")() == "still works"


def test_whoever_asks_does_the_work_that_nobody_has_begun() -> None:
    begun, released = threading.Event(), threading.Event()

    def keep_the_thread_busy() -> None:
        begun.set()
        assert released.wait(20)

    busy = offer(keep_the_thread_busy)
    assert begun.wait(20)
    assert offer(threading.current_thread)() is threading.current_thread()
    released.set()
    busy()
