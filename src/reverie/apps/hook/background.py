"""Learning from another agent's session after its turn: in a process of its own, one at a time, within the budget.

A hook leaves a request and starts this module, detached. Whoever gets the lock works through all requests; the others
end at once, because the one at work sees their requests too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from reverie.apps.hook.state import HookFolder
from reverie.hosts.hook_events import HookEvent
from reverie.settings.load import SettingsFlags, from_process, places, system_now

_MOST_BYTES = 32_000_000
"""Of a longer transcript the end is read; earlier turns were read when they were the end."""
_INDEXING_SECONDS = 60.0
_STALE_SECONDS = 900.0
"""A process that learns for longer than this has lost its lock."""


def request_learning(folder: HookFolder, event: HookEvent, spawn: Callable[[str], None]) -> None:
    """Leave a request to learn from a session and start the process that does it; nobody waits for it."""
    from reverie.files import write_atomic

    request = {"agent": event.agent, "session": event.session, "cwd": event.cwd, "transcript": event.transcript}
    name = "".join(char if char.isalnum() or char in "-_" else "-" for char in f"{event.agent}-{event.session}")[:150]
    write_atomic(folder.pending / f"{name}.json", json.dumps(request), durable=False)
    spawn("reverie.apps.hook.background")


def request_index(folder: HookFolder, project: Path, now: datetime, spawn: Callable[..., None]) -> None:
    """Have the search index built by another process where a hook had no time for it, as after an upgrade.

    Listing the memories brings the index up to date. At most one process is started in `_INDEXING_SECONDS`.
    """
    mark = folder.directory / "indexing"
    with suppress(OSError):
        if mark.exists() and now.timestamp() - mark.stat().st_mtime < _INDEXING_SECONDS:
            return
        mark.touch(mode=0o600)
        spawn("reverie", "list", "--json", "--project", str(project))


def spawn_detached(module: str, *arguments: str) -> None:
    """Start a module of ours in a process that outlives this one and holds none of its streams."""
    subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def learn_pending(folder: HookFolder) -> int:
    """Work through the requests; return how many memories were saved or updated."""
    from reverie.errors import Conflict, Error
    from reverie.files import exclusive

    count = 0
    while any(_list_requests(folder)):
        try:
            lock = exclusive(folder.learn_lock, label="learning", now=system_now(), stale_after_seconds=_STALE_SECONDS)
            with lock:
                for path in _list_requests(folder):
                    try:
                        request = json.loads(path.read_text(encoding="utf-8"))
                        path.unlink()
                        count += _learn(folder, request)
                    except (OSError, ValueError, KeyError, Error) as problem:
                        path.unlink(missing_ok=True)
                        folder.append_log(system_now(), f"learning from {path.stem} failed: {problem}")
        except Conflict:
            return count
    return count


def _learn(folder: HookFolder, request: dict[str, str]) -> int:
    import asyncio

    from reverie.apps.hook.answers import notices_file
    from reverie.apps.hook.transcript_tail import copy_tail
    from reverie.files import append_lines
    from reverie.memory.memory import Memory

    configuration = from_process(SettingsFlags(project=Path(request["cwd"])))
    settings = configuration.settings
    with (
        Memory.at(places(configuration), settings, Path(request["cwd"])) as memory,
        tempfile.TemporaryDirectory(dir=folder.directory) as aside,
    ):
        transcript = copy_tail(Path(request["transcript"]), Path(aside), _MOST_BYTES)
        learned = asyncio.run(memory.learn([transcript], model=settings.model.memory or settings.model.background))
        names = [topic.name for topic in (*learned.saved, *learned.updated)]
        if names:
            append_lines(notices_file(memory), [json.dumps(name).encode() for name in names])
        for session, reason in learned.failed:
            folder.append_log(system_now(), f"learning from {request['agent']} session {session} failed: {reason}")
        if names or learned.stopped:
            detail = learned.stopped or "; ".join(names)
            folder.append_log(system_now(), f"learnt from {request['agent']} session {request['session']}: {detail}")
    return len(names)


def _list_requests(folder: HookFolder) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.pending.glob("*.json"))
    return []


def main() -> None:
    """Learn from what is pending, as a process that gives way to others."""
    with suppress(OSError):
        os.nice(10)
    configuration = from_process(SettingsFlags(project=Path("/")))
    learn_pending(HookFolder(configuration.home))


if __name__ == "__main__":
    main()
