from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import Unavailable
from reverie.files.background_tasks import list_tasks, write_stop_request
from reverie.session.background_work import Chore
from tests.requirements import requirement

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def chore(folder: Path) -> Chore:
    return Chore(folder, "notes-1f2e3d4c", "notes", "notes on a session", lambda: NOW)


@requirement("tasks:session")
async def test_every_run_brings_the_one_task_up_to_date(tmp_path: Path) -> None:
    made = chore(tmp_path)
    assert not made.row
    for number, cost in enumerate((0.01, 0.03), 1):
        async with made.run():
            assert made.is_running
            assert [task.state for task in list_tasks(tmp_path, now=NOW)] == ["running"]
            made.log_line(f"run {number}", cost)
    (task,) = list_tasks(tmp_path, now=NOW)
    assert (task.state, task.cost_usd, task.log) == ("completed", 0.03, ("run 1", "run 2"))
    assert made.row == (("notes-1f2e3d4c", "notes, completed, $0.0300: run 2"),)


@requirement("tasks:session")
async def test_what_fails_is_told_and_passed_on(tmp_path: Path) -> None:
    made = chore(tmp_path)
    with pytest.raises(Unavailable):
        async with made.run():
            raise Unavailable("nobody answers")
    (task,) = list_tasks(tmp_path, now=NOW)
    assert (task.state, task.log) == ("failed", ("Unavailable: nobody answers",))


@requirement("tasks:session", "tasks:stop")
async def test_a_stop_ends_the_block_quietly_and_not_the_next_run(tmp_path: Path) -> None:
    made = chore(tmp_path)
    assert not made.stop()
    async with made.run():
        assert made.stop()
        await asyncio.sleep(20)
    stopped = [made.is_stopped]
    assert [task.state for task in list_tasks(tmp_path, now=NOW)] == ["killed"]

    write_stop_request(tmp_path, made.id)
    async with made.run():
        await asyncio.sleep(0.3)
    stopped.append(made.is_stopped)
    assert stopped == [True, False]
    assert [task.state for task in list_tasks(tmp_path, now=NOW)] == ["completed"]


@requirement("tasks:session")
async def test_another_cancel_is_passed_on(tmp_path: Path) -> None:
    made = chore(tmp_path)

    runs = asyncio.Event()

    async def work() -> None:
        async with made.run():
            runs.set()
            await asyncio.sleep(20)

    task = asyncio.create_task(work())
    await runs.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [each.state for each in list_tasks(tmp_path, now=NOW)] == ["killed"]
