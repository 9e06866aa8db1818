"""Teammates: agents in a process of their own, which outlive a task and are reached by letters.

Started as the hidden command `reverie teammate NAME`; the first letter in its mailbox is its task. A teammate is asked
to leave by a `shutdown_request`, and leaves by itself when the session that started it is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import Process
from dataclasses import dataclass, field, replace
from pathlib import Path

from reverie.files.places import ProjectFolder
from reverie.models.ledger import TEAMMATE, Governor, LedgerTail
from reverie.session.options import SessionOptions
from reverie.session.subagents.mailbox import AgentMessage, append_letter
from reverie.session.subagents.team import Member, list_members, remove_member, write_member
from reverie.session.tool_calls import Permits
from reverie.tools.agent import Order
from reverie.tools.tool import ToolAnswer, ToolMistake

START_SECONDS = 20.0
LEAVE_SECONDS = 5.0
_POLL_SECONDS = 0.1
_BOOK_SECONDS = 1.0


@dataclass(slots=True)
class Teammates:
    """Starts and stops the teammates of one session."""

    options: SessionOptions
    folder: ProjectFolder
    team: str
    name: str
    """How the session itself is called in the team."""
    session: str
    permits: Permits
    """Those of the session; its teammates begin in the same permission mode."""
    governor: Governor
    _processes: dict[str, Process] = field(default_factory=dict)
    _sessions: dict[str, str] = field(default_factory=dict)
    """Session of each teammate that there was → its name."""
    _booked: LedgerTail | None = None
    _booking: asyncio.Task[None] | None = None

    @property
    def running(self) -> tuple[str, ...]:
        """The names of those whose process lives."""
        return tuple(name for name, process in self._processes.items() if process.returncode is None)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """All members of the team with their processes, for people."""
        self.book()
        members = list_members(self._team_folder, now=self.options.now())
        return tuple(
            (one.name, f"teammate{f' ({one.kind})' if one.kind else ''}, {self._about(one)}")
            for one in members
            if one.is_alive and one.name != self.name
        )

    async def start(self, order: Order) -> ToolAnswer:
        """Start a teammate with its first task. Raises `ToolMistake` when that is not possible."""
        if not order.name:
            raise ToolMistake("A teammate needs a `name`, by which messages reach it.")
        if not self.options.program:
            raise ToolMistake("Teammates cannot be started here; start the agent without own_process.")
        if order.name == self.name or order.name in self._living():
            raise ToolMistake(f"The team has a member {order.name!r} already; write to it, or take another name.")
        if spent := self.governor.session_is_spent():
            raise ToolMistake(f"No teammate is started any more: {spent}.")
        if self._booked is None:
            self._booked = LedgerTail(self.options.places.ledger)
            self._booking = asyncio.create_task(self._book_always())
        write_member(self._team_folder, self.name, "", self.session, self.options.now())
        self._write_to(
            order.name, AgentMessage(self.options.new_id(), self.name, order.name, order.prompt, self.options.now())
        )
        command = [*self.options.program, *self._first_words(), "teammate", order.name, *self._list_inherited_flags()]
        command += ["--type", order.kind] if order.kind else []
        command += ["--model", order.model] if order.model else []
        log = self._team_folder / f"{order.name}.log"
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.options.directory,
                env={**self.options.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._processes[order.name] = process
        if not await self._appears(order.name, process):
            log_text = log.read_text(encoding="utf-8", errors="replace")[-500:]
            raise ToolMistake(f"The teammate {order.name!r} did not start. It said: {log_text.strip() or 'nothing'}")
        self.book()
        return ToolAnswer(
            f"The teammate {order.name!r} has started with this task. It writes to you when it has something to say; "
            "SendMessage reaches it, and a shutdown_request lets it go.",
            details={"teammate": order.name, "team": self.team, "pid": process.pid},
        )

    def book(self) -> None:
        """Count what teammates have spent since this was last asked as spent by this session."""
        if self._booked is None:
            return
        for member in list_members(self._team_folder, now=self.options.now()):
            if member.name != self.name:
                self._sessions[member.session] = member.name
        for booking in self._booked.read():
            name = self._sessions.get(booking.session)
            if name is not None:
                self.governor.note(replace(booking, session=self.session, purpose=TEAMMATE, agent=name))

    async def _book_always(self) -> None:
        while True:
            await asyncio.sleep(_BOOK_SECONDS)
            self.book()

    def _first_words(self) -> list[str]:
        """What is said before the command: the model of the leader, and what of its limit is left."""
        remaining_usd = self.governor.left_usd
        limit = ["--set", f"budget.session_usd={remaining_usd:.6f}"] if remaining_usd is not None else []
        return ["--model", self.options.model, *limit]

    def _list_inherited_flags(self) -> list[str]:
        """Whatever the leader was started with that holds for those who work for it."""
        options = self.options
        repeated = {
            "--allowed-tools": options.allowed_tools,
            "--disallowed-tools": options.disallowed_tools,
            "--mcp-config": tuple(str(path.absolute()) for path in options.mcp_config),
            "--plugin-dir": tuple(str(path.absolute()) for path in options.plugin_dirs),
        }
        single = {
            "--team": self.team,
            "--leader": self.name,
            "--permission-mode": str(self.permits.policy.mode),
            "--agents": options.agents,
            "--append-system-prompt": options.appended_prompt,
            "--max-tokens": options.max_output_tokens,
            "--window": options.window_tokens,
        }
        words = [word for flag, values in repeated.items() for value in values for word in (flag, value)]
        return words + [word for flag, value in single.items() if value for word in (flag, str(value))]

    def _about(self, member: Member) -> str:
        spent = sum(one.cost_usd or 0.0 for one in self.governor.bookings if one.agent == member.name)
        return f"process {member.process.pid}, ${spent:.4f}"

    async def stop(self, name: str) -> bool:
        """Ask a teammate to leave, and end it when it does not; whether there was one."""
        process = self._processes.get(name)
        if process is None or process.returncode is not None:
            return False
        request = AgentMessage(self.options.new_id(), self.name, name, "", self.options.now(), kind="shutdown_request")
        self._write_to(name, request)
        try:
            await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
        self.book()
        remove_member(self._team_folder, name)
        return True

    async def close(self) -> None:
        """Let all of them go."""
        await asyncio.gather(*(self.stop(name) for name in self.running))
        if self._booking is not None:
            self._booking.cancel()
        if self._processes:
            remove_member(self._team_folder, self.name)

    @property
    def _team_folder(self) -> Path:
        return self.folder.mailbox(self.team, self.name).parent

    def _living(self) -> set[str]:
        return {one.name for one in list_members(self._team_folder, now=self.options.now()) if one.is_alive}

    def _write_to(self, name: str, letter: AgentMessage) -> None:
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
