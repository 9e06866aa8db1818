"""A command that the user runs from the prompt with `!`. It goes to the user's shell and the model never sees it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from reverie.apps.tui.pieces import Call, Progress

SECONDS = 120.0
MOST_BYTES = 400_000


async def run_command(command: str, directory: Path) -> Call:
    """Run it to its end, or until it has taken too long; what it printed is the output of the piece."""
    started = time.monotonic()
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=directory,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        printed, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except (TimeoutError, asyncio.CancelledError) as problem:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if isinstance(problem, asyncio.CancelledError):
            raise
        return Call("!", command, Progress.FAILED, output=f"stopped after {SECONDS:.0f} s")
    output = printed[:MOST_BYTES].decode("utf-8", errors="replace")
    failed = bool(process.returncode)
    if failed:
        output = f"exit code {process.returncode}\n{output}"
    progress = Progress.FAILED if failed else Progress.DONE
    return Call("!", command, progress, output=output, seconds=time.monotonic() - started)
