"""Subprocesses of tools: each leads its own process group, so that killing it kills its children."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from reverie.files.programs import kill_group, start_program

GRACE_SECONDS = 1.0
"""How long a process may take to end when asked to."""
_LOOK_AGAIN_SECONDS = 0.02


async def start(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    output: int,
    errors: int | None = None,
) -> Process:
    """Start a program without input; what it prints goes to the given handle."""
    return await start_program(
        *command,
        cwd=directory,
        env=dict(environment),
        stdin=DEVNULL,
        stdout=output,
        stderr=output if errors is None else errors,
    )


async def end_group(process: Process) -> None:
    """End a process and all of its group: asked first, then made to. Returns when none is left."""
    try:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        for _ in range(round(GRACE_SECONDS / _LOOK_AGAIN_SECONDS)):
            if not _has_group(process.pid):
                break
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    finally:
        # Also when this wait is itself cancelled: nothing may stay behind.
        kill_group(process.pid)
    await process.wait()


def _has_group(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
