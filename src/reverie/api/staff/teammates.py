"""Teammates: agents in a process of their own, which outlive a task and are reached by letters.

Started as the hidden command `reverie teammate NAME`; the first letter in its mailbox is its task. A teammate is asked
to leave by a `shutdown_request`, and leaves by itself when the session that started it is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import Process
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reverie.agent.mailbox import Letter, append_letter
from reverie.agent.team import list_members, remove_member, write_member
from reverie.api.session_setup import Setup
from reverie.places import ProjectFolder
from reverie.tools.agent import Order
from reverie.tools.tool import Answer, ToolMistake

START_SECONDS = 20.0
LEAVE_SECONDS = 5.0
_POLL_SECONDS = 0.1


@dataclass(slots=True)
class Teammates:
    """Starts and stops the teammates of one session."""

    setup: Setup
    folder: ProjectFolder
    team: str
    name: str
    """How the session itself is called in the team."""
    session: str
    mode: Callable[[], str]
    """The permission mode of the session, in which its teammates begin."""
    _processes: dict[str, Process] = field(default_factory=dict)

    @property
    def running(self) -> tuple[str, ...]:
        """The names of those whose process lives."""
        return tuple(name for name, process in self._processes.items() if process.returncode is None)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """All members of the team with their processes, for people."""
        found = list_members(self._team_folder, now=self.setup.now())
        return tuple(
            (one.name, f"teammate{f' ({one.kind})' if one.kind else ''}, process {one.process.pid}")
            for one in found
            if one.is_alive and one.name != self.name
        )

    async def start(self, order: Order) -> Answer:
        """Start a teammate with its first task. Raises `ToolMistake` when that is not possible."""
        if not order.name:
            raise ToolMistake("A teammate needs a `name`, by which messages reach it.")
        if not self.setup.program:
            raise ToolMistake("Teammates cannot be started here; start the agent without own_process.")
        if order.name == self.name or order.name in self._living():
            raise ToolMistake(f"The team has a member {order.name!r} already; write to it, or take another name.")
        write_member(self._team_folder, self.name, "", self.session, self.setup.now())
        self._write_to(order.name, Letter(self.setup.new_id(), self.name, order.name, order.prompt, self.setup.now()))
        command = [*self.setup.program, "teammate", order.name, "--team", self.team, "--leader", self.name]
        command += ["--type", order.kind] if order.kind else []
        command += ["--model", order.model or self.setup.model, "--permission-mode", self.mode()]
        log = self._team_folder / f"{order.name}.log"
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.setup.directory,
                env={**self.setup.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._processes[order.name] = process
        if not await self._appears(order.name, process):
            said = log.read_text(encoding="utf-8", errors="replace")[-500:]
            raise ToolMistake(f"The teammate {order.name!r} did not start. It said: {said.strip() or 'nothing'}")
        return Answer(
            f"The teammate {order.name!r} has started with this task. It writes to you when it has something to say; "
            "SendMessage reaches it, and a shutdown_request lets it go.",
            details={"teammate": order.name, "team": self.team, "pid": process.pid},
        )

    async def stop(self, name: str) -> bool:
        """Ask a teammate to leave, and end it when it does not; whether there was one."""
        process = self._processes.get(name)
        if process is None or process.returncode is not None:
            return False
        request = Letter(self.setup.new_id(), self.name, name, "", self.setup.now(), kind="shutdown_request")
        self._write_to(name, request)
        try:
            await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
        remove_member(self._team_folder, name)
        return True

    async def close(self) -> None:
        """Let all of them go."""
        await asyncio.gather(*(self.stop(name) for name in self.running))
        if self._processes:
            remove_member(self._team_folder, self.name)

    @property
    def _team_folder(self) -> Path:
        return self.folder.mailbox(self.team, self.name).parent

    def _living(self) -> set[str]:
        return {one.name for one in list_members(self._team_folder, now=self.setup.now()) if one.is_alive}

    def _write_to(self, name: str, letter: Letter) -> None:
        append_letter(self.folder.mailbox(self.team, name), letter)

    async def _appears(self, name: str, process: Process) -> bool:
        """Wait until the teammate says that it is there."""
        for _ in range(round(START_SECONDS / _POLL_SECONDS)):
            if name in self._living():
                return True
            if process.returncode is not None:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return False
