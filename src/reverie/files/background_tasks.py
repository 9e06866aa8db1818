"""Background tasks as files: one JSON file per task, which any process can list.

A running task names its process, so that one whose process is gone is shown as `lost`. Nobody ends another process:
stopping is a request beside the file, which the runner looks for (`cancel_on_stop_request`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from reverie.errors import UserMistake
from reverie.files import Holder, check_name, is_gone, present_holder, remove_file, write_atomic
from reverie.values import value

State: TypeAlias = Literal["running", "completed", "failed", "killed", "lost"]
STATES: tuple[State, ...] = get_args(State)
KEEP_DAYS = 14
"""A finished task is listed for so long."""
POLL_SECONDS = 0.2
_LOG_LINES = 30


@value
class BackgroundTask:
    """One piece of work that nobody waits for."""

    id: str
    kind: str
    """`dream`, `extraction`, `notes`, `agent`, …"""
    title: str
    state: State
    started: datetime
    ended: datetime | None = None
    cost_usd: float = 0.0
    log: tuple[str, ...] = ()
    """Its last words, the newest last."""
    process: Holder | None = None
    """Who runs it."""

    def with_line(self, line: str) -> BackgroundTask:
        """The task with one more line of its log."""
        return replace(self, log=(*self.log, " ".join(line.split()))[-_LOG_LINES:])

    def finished(self, state: State, now: datetime) -> BackgroundTask:
        """The task at its end."""
        return replace(self, state=state, ended=now)


def start_task(task_id: str, kind: str, title: str, now: datetime) -> BackgroundTask:
    """A task that this process begins."""
    return BackgroundTask(task_id, kind, title, "running", now, process=present_holder(kind, now))


def write_task(folder: Path, task: BackgroundTask) -> None:
    """Write a task, whole or not at all."""
    row = asdict(task) | {"started": task.started.isoformat(), "ended": task.ended and task.ended.isoformat()}
    if task.process is not None:
        row["process"] = asdict(task.process) | {"since": task.process.since.isoformat()}
    write_atomic(_place(folder, task.id), json.dumps(row, ensure_ascii=False), durable=False)


def read_task(folder: Path, task_id: str, *, now: datetime) -> BackgroundTask:
    """One task, by its id or the beginning of it.

    Raises:
        UserMistake: there is none, or more than one.
    """
    tasks = [task for task in list_tasks(folder, now=now) if task.id.startswith(task_id)]
    exact = [task for task in tasks if task.id == task_id] or tasks
    if len(exact) != 1:
        raise UserMistake(f"{task_id!r} matches {len(exact) or 'no'} tasks; run `reverie tasks` for a list")
    return exact[0]


def list_tasks(folder: Path, *, now: datetime) -> tuple[BackgroundTask, ...]:
    """All tasks, the newest first; a running one whose process is gone is `lost`. What cannot be read is left out."""
    tasks = (_read(path, now) for path in folder.glob("*.json"))
    return tuple(sorted((task for task in tasks if task), key=lambda task: (task.started, task.id), reverse=True))


def remove_old_tasks(folder: Path, *, now: datetime, keep_days: float = KEEP_DAYS) -> int:
    """Remove tasks that ended, or were lost, long ago; say how many."""
    old = [
        task
        for task in list_tasks(folder, now=now)
        if task.state != "running" and now - (task.ended or task.started) > timedelta(days=keep_days)
    ]
    for task in old:
        remove_file(_place(folder, task.id), durable=False)
        remove_stop_request(folder, task.id)
    return len(old)


def write_stop_request(folder: Path, task_id: str) -> None:
    """Ask whoever runs a task to stop it."""
    write_atomic(_request(folder, task_id), b"", durable=False)


def has_stop_request(folder: Path, task_id: str) -> bool:
    """Whether somebody asked for the end of a task."""
    return _request(folder, task_id).exists()


def remove_stop_request(folder: Path, task_id: str) -> bool:
    """Take back such a request; whether there was one."""
    return remove_file(_request(folder, task_id), durable=False)


@dataclass(slots=True)
class Stop:
    """Whether a block was ended because somebody asked for it."""

    is_asked: bool = False


@asynccontextmanager
async def cancel_on_stop_request(folder: Path, task_id: str) -> AsyncIterator[Stop]:
    """Cancel the block as soon as a stop is requested; the value tells this cancel from others."""
    running = asyncio.current_task()
    assert running is not None
    stop = Stop()

    async def look() -> None:
        while not has_stop_request(folder, task_id):  # noqa: ASYNC110 - the request is a file of another process
            await asyncio.sleep(POLL_SECONDS)
        stop.is_asked = True
        running.cancel("a stop was requested")

    looking = asyncio.create_task(look())
    try:
        yield stop
    finally:
        looking.cancel()
        remove_stop_request(folder, task_id)


def _read(path: Path, now: datetime) -> BackgroundTask | None:
    try:
        row: dict[str, Any] = json.loads(path.read_bytes())
        process = row.get("process")
        task = BackgroundTask(
            id=str(row["id"]),
            kind=str(row["kind"]),
            title=str(row["title"]),
            state=row["state"] if row["state"] in STATES else "lost",
            started=datetime.fromisoformat(row["started"]),
            ended=datetime.fromisoformat(row["ended"]) if row.get("ended") else None,
            cost_usd=float(row.get("cost_usd") or 0.0),
            log=tuple(map(str, row.get("log") or ())),
            process=Holder(**process | {"since": datetime.fromisoformat(process["since"])}) if process else None,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_lost = task.state == "running" and (task.process is None or is_gone(task.process, now))
    return replace(task, state="lost") if is_lost else task


def _place(folder: Path, task_id: str) -> Path:
    return folder / f"{check_name(task_id, what='task id')}.json"


def _request(folder: Path, task_id: str) -> Path:
    return folder / f"{check_name(task_id, what='task id')}.stop"
