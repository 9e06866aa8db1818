"""Starts other programs from asyncio, each as the leader of a process group, so that killing it kills its children."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from typing import Any


async def start_program(*words: str | os.PathLike[str], **options: Any) -> Process:
    """`asyncio.create_subprocess_exec` that can be cancelled: what was started meanwhile is ended with its group.

    asyncio itself, cancelled before it has connected the program's pipes, waits for ever.
    """
    starting = asyncio.create_task(asyncio.create_subprocess_exec(*words, start_new_session=True, **options))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            process = await starting
            kill_group(process.pid)
            await process.wait()
        raise


def kill_group(leader: int) -> None:
    """Kill a program and all that it started; one that has ended is no mistake."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
