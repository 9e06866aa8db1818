"""Letters of one session: who is reached how, and what has come.

A name is looked for among the agents of this process, then in the team, then abroad: `uds:PATH` and `bridge:SESSION`.
What came by mailbox is kept in the conversation first; only then the cursor moves, so a kill loses and doubles nothing.

Another session on this machine is reached by its Unix socket: one line of JSON there, one word back.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.errors import Unavailable
from reverie.files import write_folder
from reverie.files.places import Places, ProjectFolder
from reverie.messages.entries import AttachmentEntry
from reverie.session.events import Notice, TurnEvent
from reverie.session.loop import JoinedAttachment
from reverie.session.subagents.children import Children, attachment_from_letter
from reverie.session.subagents.mailbox import (
    MAX_LETTER_CHARS,
    AgentMessage,
    append_letter,
    has_mail,
    letter_line,
    parse_letter,
    read_mail,
    write_cursor,
)
from reverie.session.subagents.team import LEADER, list_members
from reverie.tools.send_message import Outgoing
from reverie.tools.tool import ToolMistake

EVERYBODY = "*"
BRIDGE = "bridge"
"""The name of the folder with the mailboxes of sessions."""


@dataclass(slots=True)
class Messaging:
    """Sends and takes letters for one session and the agents in it."""

    places: Places
    folder: ProjectFolder
    log: Conversation
    children: Children
    team: str
    name: str
    """How the main agent is called in its team."""
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    emit: Callable[[TurnEvent], None]
    heed: Callable[[AgentMessage], None] = lambda _letter: None
    """Hears each letter for the main agent before the model reads it."""
    inbox: deque[AgentMessage] = field(default_factory=deque)
    """Letters for the main agent that came without a file."""
    mailbox: Path = field(init=False)
    """Where the team writes to the main agent."""
    session_mailbox: Path = field(init=False)
    """Where other sessions write to it."""
    _known: set[str] | None = None
    _read: dict[Path, int] = field(default_factory=dict)
    _told: bool = False
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    def __post_init__(self) -> None:
        self.mailbox = self.folder.mailbox(self.team, self.name)
        self.session_mailbox = self.folder.mailbox(BRIDGE, self.log.session)

    @property
    def team_folder(self) -> Path:
        return self.mailbox.parent

    @property
    def socket(self) -> Path:
        """Where other sessions of this user reach this one."""
        return self.places.home / "sockets" / f"{self.log.session[:8]}.sock"

    async def listen(self) -> None:
        """Take letters at the socket until `close`, where its path is short enough for one."""
        if len(str(self.socket).encode()) > MAX_PATH_BYTES:
            return
        try:
            await self._open.enter_async_context(listening(self.socket, self._heard))
        except OSError as problem:
            self.emit(Notice(f"other sessions cannot reach this one: {problem}", "warning"))

    def keep(self) -> None:
        """What was returned before is in the conversation by now; nobody reads it again."""
        for mailbox, cursor in self._read.items():
            write_cursor(mailbox, self.name, cursor)
        self._read.clear()

    def peek(self) -> tuple[AgentMessage, ...]:
        """What has come by the team's mailbox and is not read yet."""
        return read_mail(self.mailbox, self.name, known_ids=self._ids()).letters

    def write_to(self, name: str, letter: AgentMessage) -> None:
        """Put a letter into the mailbox of a member of the team."""
        append_letter(self.folder.mailbox(self.team, name), letter)

    async def close(self) -> None:
        """Stop listening; what was read counts as kept."""
        self.keep()
        await self._open.aclose()

    async def send(self, sender: str, outgoing: Outgoing) -> str:
        """Deliver a letter; says where it went. Raises `ToolMistake` when nobody is there."""
        letter = AgentMessage(
            self.new_id(),
            sender,
            outgoing.to,
            outgoing.text,
            self.now(),
            outgoing.summary,
            outgoing.kind,
            outgoing.request_id,
            outgoing.approve,
        )
        to = outgoing.to
        if to == EVERYBODY:
            return self._broadcast(sender, letter)
        if self._put(to, letter):
            return f"{to} reads it at its next step."
        if to in self._members():
            self.write_to(to, letter)
            return f"It is in the mailbox of {to}, a member of the team."
        kind, _, rest = to.partition(":")
        try:
            if kind == "uds" and rest:
                await send_letter(Path(rest).expanduser(), letter)
                return f"The session at {rest} has taken it."
            if kind == BRIDGE and rest:
                return self._send_to_session(rest, letter)
        except Unavailable as problem:
            raise ToolMistake(str(problem)) from problem
        child = self.children.find(to)
        if child is not None:
            raise ToolMistake(f"The agent {to!r} has ended ({child.state}) and reads no more messages.")
        raise ToolMistake(f"There is nobody named {to!r}; there are: {', '.join(self._names(sender)) or 'none'}.")

    def take_arrived(self) -> Sequence[JoinedAttachment]:
        """What has come for the main agent, for its next boundary."""
        if self._read:
            self.keep()
        letters = list(self.inbox)
        self.inbox.clear()
        for mailbox in (self.mailbox, self.session_mailbox):
            if has_mail(mailbox, self.name):
                mail = read_mail(mailbox, self.name, known_ids=self._ids())
                letters += mail.letters
                self._read[mailbox] = mail.cursor
        self._told = False
        if letters:
            self._ids().update(letter.id for letter in letters)
        for letter in letters:
            self.heed(letter)
        return [attachment_from_letter(letter) for letter in letters]

    def look(self) -> None:
        """Say once that something has come while nobody works."""
        if not self._told and (
            self.inbox or any(has_mail(one, self.name) for one in (self.mailbox, self.session_mailbox))
        ):
            self._told = True
            self.emit(Notice("message received from another agent; it is added to the conversation next"))

    def _heard(self, letter: AgentMessage) -> None:
        self.inbox.append(letter)
        self.look()

    def _ids(self) -> set[str]:
        if self._known is None:
            rows = (one.data.get("ids") for one in self.log.entries if isinstance(one, AttachmentEntry))
            self._known = {str(letter_id) for row in rows if isinstance(row, list) for letter_id in row}
        return self._known

    def _put(self, to: str, letter: AgentMessage) -> bool:
        """Give a letter to an agent of this process."""
        if to == self.name or (to == LEADER and not self._members().count(LEADER)):
            self.inbox.append(letter)
            return True
        child = self.children.find(to)
        if child is None or not child.is_running:
            return False
        child.inbox.append(letter)
        return True

    def _broadcast(self, sender: str, letter: AgentMessage) -> str:
        inside = [child.name for child in self.children.running if child.name != sender]
        members = [name for name in self._members() if name != sender and name != self.name]
        for child in self.children.running:
            if child.name != sender:
                child.inbox.append(letter)
        for name in members:
            self.write_to(name, letter)
        if sender != self.name:
            self.inbox.append(letter)
            inside.append(self.name)
        if not inside and not members:
            raise ToolMistake("There is nobody to send it to: no agent runs and the team has no other member.")
        return f"It goes to {', '.join([*inside, *members])}."

    def _send_to_session(self, session: str, letter: AgentMessage) -> str:
        transcripts = [path for path in self.places.projects.glob("*/*.jsonl") if path.stem.startswith(session)]
        if len(transcripts) != 1:
            raise ToolMistake(f"{len(transcripts) or 'No'} sessions here begin with {session!r}; write its whole id.")
        append_letter(ProjectFolder(transcripts[0].parent).mailbox(BRIDGE, transcripts[0].stem), letter)
        return f"It is in the mailbox of session {transcripts[0].stem}."

    def _members(self) -> tuple[str, ...]:
        living = (one.name for one in list_members(self.team_folder, now=self.now()) if one.is_alive)
        return tuple(name for name in living if name != self.name)

    def _names(self, sender: str) -> list[str]:
        inside = [child.name for child in self.children.running]
        return [name for name in (self.name, *inside, *self._members()) if name != sender]


MAX_PATH_BYTES = 100
"""What every system takes for the path of a socket."""
_TIMEOUT_SECONDS = 5.0
_TAKEN, _REFUSED = b"taken\n", b"refused\n"


async def send_letter(path: Path, letter: AgentMessage) -> None:
    """Hand a letter to the session that listens at a socket. Raises `Unavailable` when none takes it."""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(letter_line(letter).encode() + b"\n")
                await writer.drain()
                answer = await reader.readline()
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError) as problem:
        raise Unavailable(f"no session listens at {path}: {problem}") from problem
    if answer != _TAKEN:
        raise Unavailable(f"the session at {path} did not take the message")


@asynccontextmanager
async def listening(path: Path, heard: Callable[[AgentMessage], None]) -> AsyncIterator[None]:
    """Take letters at a socket that only this user can reach, for the length of the block."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                letter = parse_letter(await reader.readline())
            if letter is not None:
                heard(letter)
            writer.write(_TAKEN if letter is not None else _REFUSED)
            await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass
        finally:
            writer.close()

    write_folder(path.parent)
    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(serve, path, limit=8 * MAX_LETTER_CHARS)
    path.chmod(0o600)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)
