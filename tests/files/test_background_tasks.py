from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.errors import Refused, UserMistake
from reverie.files.background_tasks import (
    Stop,
    cancel_on_stop_request,
    has_stop_request,
    list_tasks,
    read_task,
    remove_old_tasks,
    start_task,
    write_stop_request,
    write_task,
)
from tests.requirements import requirement

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)

RUNS = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.files.background_tasks import start_task, write_task
write_task(Path(sys.argv[1]), start_task("dream-1", "dream", "a dream", datetime(2026, 3, 10, tzinfo=UTC)))
print("runs", flush=True)
sys.stdin.read()
"""


@requirement("tasks:list")
def test_a_task_is_listed_as_it_was_written_the_newest_first(tmp_path: Path) -> None:
    old = start_task("a-1", "extraction", "after a turn", NOW).with_line("looked  at\n3 messages")
    new = replace(start_task("b-2", "dream", "Träume", NOW + timedelta(hours=1)), cost_usd=0.25)
    done = new.finished("completed", NOW + timedelta(hours=2))
    write_task(tmp_path, old)
    write_task(tmp_path, new)
    write_task(tmp_path, done)
    (tmp_path / "torn.json").write_text("{", encoding="utf-8")
    assert list_tasks(tmp_path, now=NOW) == (done, old)
    assert old.log == ("looked at 3 messages",)


@requirement("tasks:list")
def test_a_running_task_whose_process_is_gone_is_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUNS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "runs\n"
        assert [task.state for task in list_tasks(tmp_path, now=NOW)] == ["running"]
        process.kill()
    assert [task.state for task in list_tasks(tmp_path, now=NOW)] == ["lost"]


@requirement("tasks:list")
def test_a_log_keeps_its_last_lines() -> None:
    task = start_task("a", "dream", "x", NOW)
    for number in range(100):
        task = task.with_line(f"line {number}")
    assert (len(task.log), task.log[-1]) == (30, "line 99")


@requirement("tasks:list")
def test_old_tasks_are_removed_and_running_ones_stay(tmp_path: Path) -> None:
    write_task(tmp_path, start_task("run", "dream", "x", NOW - timedelta(days=40)))
    write_task(tmp_path, start_task("old", "dream", "x", NOW).finished("failed", NOW - timedelta(days=15)))
    write_task(tmp_path, start_task("new", "dream", "x", NOW).finished("failed", NOW - timedelta(days=13)))
    assert remove_old_tasks(tmp_path, now=NOW) == 1
    assert {task.id for task in list_tasks(tmp_path, now=NOW)} == {"run", "new"}


@requirement("tasks:stop")
async def test_a_block_ends_when_a_stop_is_requested_and_the_request_is_used_up(tmp_path: Path) -> None:
    seen: list[Stop] = []

    async def work() -> None:
        async with cancel_on_stop_request(tmp_path, "dream-1") as stop:
            seen.append(stop)
            write_stop_request(tmp_path, "dream-1")
            await asyncio.sleep(5)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())
    assert seen[0].is_asked
    assert not has_stop_request(tmp_path, "dream-1")
    async with cancel_on_stop_request(tmp_path, "dream-1") as again:
        await asyncio.sleep(0)
    assert not again.is_asked


@requirement("tasks:list")
def test_a_task_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    for name in ("dream-1a", "dream-2b"):
        write_task(tmp_path, start_task(name, "dream", "x", NOW))
    assert read_task(tmp_path, "dream-2", now=NOW).id == "dream-2b"
    for bad in ("dream", "nothing"):
        with pytest.raises(UserMistake, match="reverie tasks"):
            read_task(tmp_path, bad, now=NOW)
    with pytest.raises(Refused):
        write_stop_request(tmp_path, "../evil")
