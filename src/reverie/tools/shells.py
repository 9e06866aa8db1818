"""Shell commands of one session: start, wait, move to the background, stop.

A command runs in real `bash` as the leader of its own process group, without input. Where it stood at its end is noted
in a file. What may run is the matter of `permissions`; what the model reads of it, of `bash`.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import Process
from dataclasses import dataclass, field
from pathlib import Path

from reverie.tools.desk import Desk
from reverie.tools.process import end_group, start
from reverie.tools.shell_output import ShellOutput

# The trap runs whatever the command does short of `exec`; the exit code stays the command's. What hooks left for the
# commands of a session is read first.
_WRAPPER = """__command=$1 __noted=$2
if [ -r "$3" ]; then . "$3"; fi
shift 3; trap 'pwd -P >"$__noted" 2>/dev/null' EXIT; eval "$__command" """
_DRAIN_SECONDS = 0.2
"""How long output is waited for after the end; only a process left in the background makes it last."""


@dataclass(slots=True)
class Shell:
    """One command under way or done."""

    id: str
    command: str
    process: Process
    output: ShellOutput
    noted: Path
    """Where it writes the directory in which it ended."""
    was_ended: bool = False
    """Ended by us, not by itself."""
    told_bytes: int = 0
    """How much of its output the model has seen."""

    @property
    def is_running(self) -> bool:
        return self.process.returncode is None

    @property
    def exit_code(self) -> int | None:
        return self.process.returncode

    def read_directory(self) -> Path | None:
        """The directory in which it ended; None when that is not known."""
        try:
            directory = self.noted.read_text(encoding="utf-8", errors="surrogateescape").removesuffix("\n")
        except OSError:
            return None
        finally:
            with contextlib.suppress(OSError):
                self.noted.unlink()
        return Path(directory) if directory else None


@dataclass(slots=True)
class Shells:
    """All commands of a session. `program` is the shell to run them in."""

    program: str = "bash"
    env_file: Path | None = None
    """A file of variables that hooks wrote, read before each command."""
    _background: dict[str, Shell] = field(default_factory=dict)
    _lingering: list[Shell] = field(default_factory=list)
    """Done, but something they started still holds their output."""
    _count: int = 0

    @property
    def background(self) -> tuple[Shell, ...]:
        """Those that were left to run, the oldest first; also the ones that are done."""
        return tuple(self._background.values())

    @property
    def running(self) -> tuple[Shell, ...]:
        """Those of them that still run."""
        return tuple(shell for shell in self._background.values() if shell.is_running)

    def find(self, name: str) -> Shell | None:
        """A background command by its id."""
        return self._background.get(name)

    async def start(self, command: str, desk: Desk, *, background: bool = False) -> Shell:
        """Start a command where the agent stands."""
        self._count += 1
        name = f"bash_{self._count}"
        stem = _free_stem(desk.scratch, name)
        output = ShellOutput(stem.with_suffix(".txt"), _unheard if background else desk.progress, desk.keys)
        noted = stem.with_suffix(".cwd")
        try:
            process = await start(
                (self.program, "-c", _WRAPPER, self.program, command, str(noted), str(self.env_file or "")),
                directory=desk.directory,
                environment=desk.environment,
                output=output.sending,
            )
        except BaseException:
            output.close_sending_end()
            output.close()
            output.path.unlink(missing_ok=True)
            raise
        output.close_sending_end()
        shell = Shell(name, command, process, output, noted)
        if background:
            self._background[name] = shell
        return shell

    async def wait(self, shell: Shell, timeout_seconds: float) -> bool:
        """Wait for the end; a command that takes longer is ended. Says whether it ended by itself.

        Cancelling ends the command with everything it started.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                await shell.process.wait()
        except TimeoutError:
            await self.end(shell)
            return False
        except BaseException:
            await self.end(shell)
            shell.output.path.unlink(missing_ok=True)
            shell.noted.unlink(missing_ok=True)
            raise
        await self._drain(shell)
        return True

    async def end(self, shell: Shell) -> None:
        """End a command and its whole group."""
        shell.was_ended = shell.is_running
        try:
            await end_group(shell.process)
        finally:
            shell.output.mute()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await shell.output.is_closed.wait()
        shell.output.close()

    async def close(self) -> None:
        """End everything that still runs, with what commands left behind; for the end of a session."""
        for shell in (*self._background.values(), *self._lingering):
            if shell.is_running or not shell.output.is_closed.is_set():
                await self.end(shell)
        self._lingering.clear()

    async def _drain(self, shell: Shell) -> None:
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                await shell.output.is_closed.wait()
        except TimeoutError:
            self._lingering.append(shell)
        shell.output.mute()


def _free_stem(folder: Path, name: str) -> Path:
    """A name in the folder that no earlier run of the session has used."""
    tries = (folder / name if not more else folder / f"{name}-{more}" for more in range(10_000))
    return next(stem for stem in tries if not stem.with_suffix(".txt").exists())


def _unheard(_: str) -> None:
    return
