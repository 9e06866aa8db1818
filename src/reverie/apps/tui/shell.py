"""Runs `!command` from the prompt: streams the output and adds it to the conversation.

They run in the user's shell with the user's rights: nobody is asked, since the user typed them. They may run beside a
turn. Stopping one does what Ctrl-C does in a shell, and insists when that is not enough.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reverie.apps.tui.log import Log
from reverie.apps.tui.pieces import Call, Progress
from reverie.files.programs import start_program
from reverie.tools.process import end_group
from reverie.tools.shell_output import plain

MOST_BYTES = 400_000
"""Of more, the beginning and the end are kept, half of this each."""
LIVE_LINES = 20
"""How much of a command at work is shown."""
_SHOW_SECONDS = 0.1
_POLITE_SECONDS = 2.0
_CHUNK_BYTES = 65_536

Tell = Callable[[str, str, str], object]
"""Takes a command, what it printed, and how it ended when that was not well."""


@dataclass(slots=True)
class _Printed:
    """What a command has printed so far, within bounds."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total_bytes: int = 0

    def add(self, data: bytes) -> None:
        half = MOST_BYTES // 2
        room = max(0, half - len(self.head))
        self.head += data[:room]
        self.tail += data[room:]
        del self.tail[:-half]
        self.total_bytes += len(data)

    @property
    def text(self) -> str:
        left_out = self.total_bytes - len(self.head) - len(self.tail)
        if not left_out:
            return plain(bytes(self.head + self.tail))
        gap = f"\n[… {left_out:,} bytes left out …]\n".encode()
        return plain(bytes(self.head + gap + self.tail))

    @property
    def newest(self) -> str:
        """The last lines."""
        return "\n".join(plain(bytes((self.head + self.tail)[-20_000:])).rstrip().split("\n")[-LIVE_LINES:])


@dataclass(slots=True)
class ShellRuns:
    """The commands that run now."""

    log: Log
    directory: Path
    shell: str
    running: dict[asyncio.Task[None], str] = field(default_factory=dict)

    @property
    def doing(self) -> str:
        """The newest that runs, for the line that says what goes on."""
        return f"! {list(self.running.values())[-1]}" if self.running else ""

    def start(self, command: str, tell: Tell) -> None:
        """Begin a command."""
        task = asyncio.create_task(self._run(command, tell))
        self.running[task] = command
        task.add_done_callback(lambda done: self.running.pop(done, None))

    def stop(self) -> bool:
        """Stop all that run; whether there were any."""
        for task in self.running:
            task.cancel()
        return bool(self.running)

    async def close(self) -> None:
        """Stop them and wait until they are gone."""
        self.stop()
        await asyncio.gather(*self.running, return_exceptions=True)

    async def _run(self, command: str, tell: Tell) -> None:
        number = self.log.add(Call("!", command, Progress.RUNNING))
        started = time.monotonic()
        printed = _Printed()

        def show(call: Call) -> None:
            self.log.put(number, call)
            if call.folds and not self.log.is_open(number):
                self.log.toggle(number)

        def live() -> None:
            show(Call("!", command, Progress.RUNNING, output=printed.newest))

        ending = await _ran(self.shell, command, self.directory, printed, live)
        output = printed.text
        shown = "\n".join(part for part in (ending, output) if part)
        progress = Progress.FAILED if ending else Progress.DONE
        show(Call("!", command, progress, output=shown, seconds=time.monotonic() - started))
        tell(command, output, ending)


async def _ran(shell: str, command: str, directory: Path, printed: _Printed, live: Callable[[], None]) -> str:
    """Run it to its end; how it ended, when that was not well."""
    try:
        process = await start_program(
            shell,
            "-c",
            command,
            cwd=directory,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as problem:
        return f"{shell}: {problem.strerror or problem}"
    reading = asyncio.create_task(_read(process, printed, live))
    try:
        await process.wait()
        # Whatever it left running may hold the pipe; that is not waited for.
        await asyncio.wait({reading}, timeout=_SHOW_SECONDS)
    except asyncio.CancelledError:
        await _interrupt(process)
        await asyncio.wait({reading}, timeout=_SHOW_SECONDS)
        return "stopped by the user"
    finally:
        reading.cancel()
    return f"exit code {process.returncode}" if process.returncode else ""


async def _read(process: Process, printed: _Printed, live: Callable[[], None]) -> None:
    assert process.stdout is not None
    shown_at = 0.0
    while data := await process.stdout.read(_CHUNK_BYTES):
        printed.add(data)
        if time.monotonic() - shown_at >= _SHOW_SECONDS:
            live()
            shown_at = time.monotonic()


async def _interrupt(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _POLITE_SECONDS)
    await end_group(process)
