"""Runs the user's `statusLine` command: it gets the session as JSON and prints one line.

It runs when figures change, one at a time, never more often than a few times a second. When it fails or takes too long
the line stays empty and `/status` says why.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text
from textual.widgets import Static

from reverie.apps.tui.diff import balance
from reverie.apps.tui.pieces import Call
from reverie.files.programs import kill_group, start_program
from reverie.messages.entries import AssistantEntry
from reverie.models.tokens.usage import totals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.apps.tui.conversation import TerminalContext, TerminalSession
    from reverie.apps.tui.pieces import Piece
    from reverie.messages.blocks import Json
    from reverie.messages.message import Usage

SECONDS = 5.0
PAUSE_SECONDS = 0.3
MOST_BYTES = 10_000
_LARGE_TOKENS = 200_000


def build_status_input(
    conversation: TerminalSession, surroundings: TerminalContext, pieces: Sequence[Piece], *, seconds: float
) -> dict[str, Json]:
    """What the command reads: the fields of the public format that have a meaning here."""
    status = conversation.status
    usage = totals(conversation.entries).usage
    window = surroundings.budget(status.model).window_tokens
    used = 100 * status.used_tokens / window if window else 0.0
    changed = [balance(piece.diff) for piece in pieces if isinstance(piece, Call) and piece.diff]
    where: Json = str(surroundings.directory)
    return {
        "session_id": conversation.id,
        "transcript_path": str(conversation.path),
        "cwd": where,
        "version": surroundings.version,
        "model": {"id": status.model, "display_name": status.model},
        "workspace": {"current_dir": where, "project_dir": where, "added_dirs": []},
        "output_style": {"name": surroundings.output_style or "default"},
        "cost": {
            "total_cost_usd": status.cost_usd,
            "total_duration_ms": round(seconds * 1000),
            "total_lines_added": sum(added for added, _ in changed),
            "total_lines_removed": sum(removed for _, removed in changed),
        },
        "context_window": {
            "total_input_tokens": usage.context_tokens,
            "total_output_tokens": usage.output_tokens,
            "context_window_size": window,
            "used_percentage": round(used, 1),
            "remaining_percentage": round(100 - used, 1),
            "current_usage": _newest_usage(conversation),
        },
        "exceeds_200k_tokens": status.used_tokens > _LARGE_TOKENS,
        "permission_mode": status.mode,
    }


def _newest_usage(conversation: TerminalSession) -> Json:
    for entry in reversed(conversation.entries):
        if isinstance(entry, AssistantEntry) and entry.usage is not None:
            return _figures(entry.usage)
    return None


def _figures(usage: Usage) -> dict[str, Json]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    }


async def run_status_command(command: str, facts: Mapping[str, Json], directory: Path) -> tuple[str, str]:
    """The first line that the command prints, and what went wrong."""
    process = await start_program(
        "/bin/sh",
        "-c",
        command,
        cwd=directory,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(json.dumps(facts).encode()), SECONDS)
    except (TimeoutError, asyncio.CancelledError) as problem:
        kill_group(process.pid)
        # To the end of its output, which closes the pipes.
        await process.communicate()
        if isinstance(problem, asyncio.CancelledError):
            raise
        return "", f"it took longer than {SECONDS:.0f} s"
    if process.returncode:
        why = err[:MOST_BYTES].decode("utf-8", "replace").strip().split("\n")[-1]
        return "", f"exit code {process.returncode}" + (f": {why}" if why else "")
    lines = out[:MOST_BYTES].decode("utf-8", "replace").strip("\n").split("\n")
    return lines[0], ""


class OwnLine(Static):
    """The line on the screen; away when no command is set."""

    DEFAULT_CSS = "OwnLine { height: 1; padding: 0 1; display: none; }"

    def __init__(self, command: str | None, directory: Path, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__("", id=id)
        self._command = command
        self._directory = directory
        self._job: asyncio.Task[None] | None = None
        self._again: Callable[[], Mapping[str, Json]] | None = None
        self.failure = ""
        """Why the line is empty, when it should not be."""

    @property
    def is_wanted(self) -> bool:
        """Whether there is a command."""
        return self._command is not None

    def tell(self, facts: Callable[[], Mapping[str, Json]]) -> None:
        """Figures have changed; they are asked for when the command begins, so that many changes cost one run."""
        self._again = facts
        if self._job is None or self._job.done():
            self._job = asyncio.create_task(self._keep_up())

    async def close(self) -> None:
        """End the command, if it runs."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)

    async def _keep_up(self) -> None:
        while self._again is not None and self._command is not None:
            facts, self._again = self._again, None
            line, self.failure = await run_status_command(self._command, facts(), self._directory)
            self.display = bool(line.strip())
            self.update(Group(Text.from_ansi(line, no_wrap=True, overflow="ellipsis")))
            await asyncio.sleep(PAUSE_SECONDS)
