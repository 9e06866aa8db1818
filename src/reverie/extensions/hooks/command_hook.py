"""Runs a command hook in its own process group, passes its input, and kills it on time-out.

Input and output are files without a name instead of pipes: a child that the program leaves running in the background
keeps nobody waiting, and a program that does not read its input is not disturbed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from reverie.errors import Unavailable
from reverie.files.programs import start_program
from reverie.values import value

MAX_OUTPUT_BYTES = 32 * 1024 * 1024
_READ_BYTES = 4 * 1024 * 1024
_LOOK_SECONDS = 0.25
_GRACE_SECONDS = 0.5


@value
class Program:
    """What to run."""

    words: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str] = field(repr=False)
    given: bytes


@value
class Ended:
    """How it ended."""

    code: int
    stdout: str
    stderr: str


async def run_program(program: Program) -> Ended:
    """Run it to its end; being cancelled ends it and all its children. Raises `OSError` when it cannot be started."""
    with TemporaryFile() as stdin, TemporaryFile() as out, TemporaryFile() as err:
        stdin.write(program.given)
        stdin.seek(0)
        process = await start_program(
            *program.words,
            stdin=stdin,
            stdout=out,
            stderr=err,
            cwd=program.directory,
            env=dict(program.environment),
        )
        try:
            await _wait_for_end(process, (out, err))
        except BaseException:
            # Being cancelled once more must not leave a program that ignores the polite signal.
            await asyncio.shield(asyncio.ensure_future(_end(process)))
            raise
        assert process.returncode is not None
        return Ended(process.returncode, _text(out), _text(err))


async def _wait_for_end(process: asyncio.subprocess.Process, outputs: Sequence[IO[bytes]]) -> None:
    waiting = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait({waiting}, timeout=_LOOK_SECONDS))[0]:
            if any(os.fstat(output.fileno()).st_size > MAX_OUTPUT_BYTES for output in outputs):
                raise Unavailable(f"it printed more than {MAX_OUTPUT_BYTES:,} bytes and was stopped")
    finally:
        waiting.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask the whole group to end, then make it."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_SECONDS)


def _text(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read(_READ_BYTES).decode("utf-8", "replace")
