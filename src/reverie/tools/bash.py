"""Bash, BashOutput, KillShell: shell commands, also in the background.

The working directory is kept from one command to the next as long as it stays inside the agent's folders.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from pathlib import Path

from reverie.errors import Error
from reverie.files import is_inside
from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import flag, number, text
from reverie.tools.shell_output import LONGEST_CHARACTER_BYTES, plain
from reverie.tools.shells import Shell, Shells
from reverie.tools.tool import ToolAnswer, ToolMistake

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000

ReadOnly = Callable[[str, Path], bool]
"""Whether a command only reads, judged by its parse."""

_MOVES = re.compile(r"\b(?:cd|pushd|popd)\b")


def never_concurrent(_command: str, _directory: Path) -> bool:
    """Takes no command for one that only reads."""
    return False


class Bash:
    """Runs commands. `is_read_only` says which of them may run beside others."""

    def __init__(self, shells: Shells, is_read_only: ReadOnly = never_concurrent) -> None:
        self._shells = shells
        self._is_read_only = is_read_only
        self.spec = make_tool_spec(
            "Bash",
            "bash",
            {
                "command": field("string", "The command to run.", minLength=1),
                "description": field("string", "What it does, in five to ten words, for the person who watches."),
                "timeout": field(
                    "integer",
                    f"Milliseconds after which it is ended; {DEFAULT_TIMEOUT_MS:,} when left out.",
                    minimum=1,
                    maximum=MAX_TIMEOUT_MS,
                ),
                "run_in_background": field("boolean", "Do not wait for it; BashOutput shows what it prints."),
            },
            required=("command",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        command = text(arguments, "command")
        if not command.strip() or "\0" in command:
            raise ToolMistake("The field 'command' holds no command.")
        first_line = command.strip().split("\n")[0]
        return Need(
            "Bash",
            Act.RUN,
            command=command,
            directory=desk.directory,
            summary=text(arguments, "description") or first_line[:120],
            preview=command,
        )

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:
        command = text(arguments, "command")
        if flag(arguments, "run_in_background") or _MOVES.search(command):
            return False
        return self._is_read_only(command, desk.directory)

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        command = text(arguments, "command")
        notes = []
        if not desk.directory.is_dir():
            notes.append(f"({desk.directory} is gone; the command ran in {desk.project})")
            desk.directory = desk.project
        in_background = flag(arguments, "run_in_background")
        try:
            shell = await self._shells.start(command, desk, background=in_background)
        except (OSError, ValueError) as error:
            raise ToolMistake(f"The command could not be started: {error}") from error
        if in_background:
            return _answer_for_background(shell)
        timeout_seconds = number(arguments, "timeout", DEFAULT_TIMEOUT_MS) / 1000
        if not await self._shells.wait(shell, timeout_seconds):
            notes.append(
                f"(ended after {timeout_seconds:g} seconds with everything it had started; for a longer one set "
                "`timeout`, or `run_in_background`)"
            )
        notes += _follow_directory(shell, desk)
        return await asyncio.to_thread(_answer, shell, notes, desk)


class BashOutput:
    """Shows what a background command has printed since it was last asked."""

    def __init__(self, shells: Shells) -> None:
        self._shells = shells
        self.spec = make_tool_spec(
            "BashOutput",
            "bash_output",
            {"bash_id": field("string", "The id that Bash gave.", minLength=1)},
            required=("bash_id",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        shell = _get_shell(self._shells, text(arguments, "bash_id"))
        return Need("BashOutput", Act.NONE, summary=f"Output of {shell.id}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        shell = _get_shell(self._shells, text(arguments, "bash_id"))
        data, shell.told_bytes = shell.output.read_from(shell.told_bytes)
        printed = plain(data).rstrip("\n")
        unread_bytes = shell.output.kept_bytes - shell.told_bytes
        parts = [_state(shell), printed or "(nothing new)"]
        limit = longest_chars(desk)
        if len(printed) > limit:
            parts[1] = f"{printed[:limit]}\n[… cut here; {shell.output.path} has all of it …]"
        if unread_bytes >= LONGEST_CHARACTER_BYTES:
            parts.append(f"({unread_bytes:,} more bytes wait; ask again, or read {shell.output.path})")
        return ToolAnswer("\n\n".join(parts), details={"status": _state(shell), "exitCode": shell.exit_code})


class KillShell:
    """Ends a background command."""

    def __init__(self, shells: Shells) -> None:
        self._shells = shells
        self.spec = make_tool_spec(
            "KillShell",
            "kill_shell",
            {"shell_id": field("string", "The id that Bash gave.", minLength=1)},
            required=("shell_id",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        shell = _get_shell(self._shells, text(arguments, "shell_id"))
        return Need("KillShell", Act.NONE, summary=f"End {shell.id}: {shell.command[:80]}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        shell = _get_shell(self._shells, text(arguments, "shell_id"))
        if not shell.is_running:
            return ToolAnswer(f"{shell.id} had already ended ({_state(shell)}).")
        await self._shells.end(shell)
        return ToolAnswer(f"Ended {shell.id} ({shell.command}). Its output is in {shell.output.path}.")


def _get_shell(shells: Shells, name: str) -> Shell:
    shell = shells.find(name)
    if shell is None:
        ids = ", ".join(each.id for each in shells.background) or "none"
        raise ToolMistake(f"There is no background command {name!r}; there are: {ids}.")
    return shell


def _answer_for_background(shell: Shell) -> ToolAnswer:
    return ToolAnswer(
        f"Running in the background as {shell.id}. BashOutput shows what it prints, KillShell ends it. "
        f"All output goes to {shell.output.path}.",
        details={"backgroundTaskId": shell.id, "outputFile": str(shell.output.path)},
    )


def _state(shell: Shell) -> str:
    if shell.is_running:
        return f"{shell.id} is running"
    if shell.was_ended:
        return f"{shell.id} was ended"
    return f"{shell.id} has ended with exit code {shell.exit_code}"


def _follow_directory(shell: Shell, desk: Desk) -> list[str]:
    """Follow the command to where it went, unless that is outside; says so when the agent is set back."""
    there = shell.read_directory()
    if there is None or _same(there, desk.directory):
        return []
    if there.is_dir() and any(is_inside(root, there) for root in desk.roots):
        desk.directory = there
        return []
    desk.directory = desk.project
    return [f"(the working directory is {desk.project} again: {there} is outside the folders of this session)"]


def _same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def longest_chars(desk: Desk) -> int:
    """The longest output that is shown whole: what the spill stage would leave as it is."""
    spill = desk.settings.spill
    return spill.limit_chars("Bash") or spill.result_chars


def _answer(shell: Shell, notes: list[str], desk: Desk) -> ToolAnswer:
    failed = shell.exit_code != 0
    printed = shell.output.whole(longest_chars(desk))
    is_cut = printed is None
    if printed is None:
        # The result is spilled here and not by the stage, which would have to be given all of it first.
        with contextlib.suppress(Error, OSError):
            if desk.spill_path is not None and desk.call_id:
                shell.output.move(desk.spill_path(desk.call_id))
        printed = shell.output.preview(desk.settings.spill.preview_bytes)
    elif shell.output.is_closed.is_set():
        shell.output.path.unlink(missing_ok=True)
    parts = [f"Exit code {shell.exit_code}"] if failed and not shell.was_ended else []
    parts += [part for part in (printed.strip("\n"), *notes) if part.strip()]
    details: JsonObject = {
        "exit_code": shell.exit_code,
        "interrupted": shell.was_ended,
        **({"outputFile": str(shell.output.path)} if is_cut else {}),
    }
    return ToolAnswer("\n".join(parts) or "(no output)", is_error=failed, details=details)
