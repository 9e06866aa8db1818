"""`Session`: an agent one can work with, for people who write Python. The terminal and `-p` only call this.

A session is a transcript and what grows it: the loop, tools, hooks, memory, the window. It writes every entry before it
acts on it, so a session that was killed is resumed where it stood. One process writes a session at a time; a second one
gets a fork of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reverie.context.compact import Direction, OneSide
from reverie.context.receipt import receipts
from reverie.context.snip import snip_to
from reverie.context.spans import list_pinned, uncompact
from reverie.errors import UserMistake
from reverie.files.places import ProjectFolder
from reverie.files.places.transcripts import list_transcript_folders
from reverie.files.trust import TrustPart
from reverie.messages.blocks import Block
from reverie.messages.entries import AttachmentEntry, Entry, MarkEntry, UserEntry, envelope_of
from reverie.messages.fork import write_fork
from reverie.messages.injection import harmless
from reverie.messages.listing import read_working_directory
from reverie.messages.message import user
from reverie.messages.shell_words import input_words, output_words
from reverie.messages.transcript import Transcript, open_or_fork
from reverie.messages.view import ItemKind
from reverie.permissions.approval import Approver
from reverie.session.build import build_session
from reverie.session.descriptions import describe_part
from reverie.session.events import Status, TurnEnded, TurnEvent
from reverie.session.file_history import RESTORED_KIND, Return, describe_restored, put_back
from reverie.session.options import SessionOptions
from reverie.session.parts import SessionParts

if TYPE_CHECKING:
    from reverie.context.receipt import Receipt
    from reverie.memory.dream.dreams import Dreamt
    from reverie.memory.memory import Memory

AnyPath = str | PathLike[str]

REWOUND = "rewound"
"""Name of the mark that a rewind leaves, so that the place is kept when the session is resumed."""
CLEARED = "cleared"


class Session:
    """One conversation with an agent. Use as an async context manager, or call `close`."""

    def __init__(self, options: SessionOptions, transcript: Transcript, *, source: str) -> None:
        """`source` says how it begins: `startup`, `resume`, `fork` or `clear`."""
        self._options = options
        self._transcript = transcript
        self._source = source
        self._events: asyncio.Queue[TurnEvent | None] | None = None
        self._heard_outside: list[Callable[[TurnEvent], None]] = []
        self._has_begun = False
        self._was_cleared = False
        self._ran_meanwhile: list[tuple[str, str, str]] = []
        self._parts: SessionParts = build_session(options, transcript, emit=self._emit)

    @classmethod
    def start(
        cls,
        project: AnyPath = ".",
        model: str | None = None,
        *,
        approver: Approver | None = None,
    ) -> Self:
        """A new session in a project, with the settings and keys of this process.

        `approver` is asked before tools do what the rules do not allow; without one the answer is no.
        """
        from reverie.session.wiring import build_process_options

        return cls.open(build_process_options(Path(project), model, approver))

    @classmethod
    def resume(
        cls,
        id: str,  # noqa: A002 - the name that callers use
        project: AnyPath = ".",
        model: str | None = None,
        *,
        approver: Approver | None = None,
        fork: bool = False,
    ) -> Self:
        """Go on with an earlier session of the project, or with a copy of it."""
        from reverie.session.wiring import build_process_options

        return cls.open(build_process_options(Path(project), model, approver), resume=id, fork=fork)

    @classmethod
    def open(cls, options: SessionOptions, *, resume: str | None = None, fork: bool = False) -> Self:
        """As `start` and `resume`, from options that the caller has built."""
        folder = options.places.project(options.directory)
        now = options.now()
        if resume is None:
            path = folder.transcript(options.new_id())
            return cls(options, Transcript.open(path, now=now, label="reverie"), source="startup")
        path = find_session(options, resume)
        is_ours = _is_ours(options, path)
        if fork or not is_ours or path.parent.resolve() != folder.directory.resolve():
            to = folder.transcript(options.new_id())
            copy = write_fork(path, now=now, new_id=options.new_id, to=to, from_host=not is_ours)
            return cls(options, Transcript.open(copy, now=now, label="reverie"), source="fork")
        taken = open_or_fork(path, now=now, new_id=options.new_id, label="reverie")
        return cls(options, taken, source="resume" if taken.path == path else "fork")

    @property
    def id(self) -> str:
        """The name of the session, by which it is resumed."""
        return self._transcript.session

    @property
    def path(self) -> Path:
        """Its transcript."""
        return self._transcript.path

    @property
    def entries(self) -> Sequence[Entry]:
        """The lines of the transcript."""
        return self._parts.log.entries

    @property
    def memory(self) -> Memory:
        """The memory of the project."""
        return self._parts.memory

    @property
    def status(self) -> Status:
        """Figures for a status line."""
        return self._parts.loop.status

    @property
    def parts(self) -> SessionParts:
        """What the session is made of."""
        return self._parts

    def __repr__(self) -> str:
        return f"<Session {self.id} with {self._options.model} in {self._options.directory}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def listen(self, heard: Callable[[TurnEvent], None]) -> None:
        """Hear of what happens while no turn runs: finished background work, notices."""
        self._heard_outside.append(heard)

    async def send(
        self, text: str, content: Sequence[Block] = (), *, source: str = "typed"
    ) -> AsyncIterator[TurnEvent]:
        """Run a turn and yield what happens; the last event is `TurnEnded`.

        While a turn runs, further words wait for its next boundary (`queue`). Leaving the iteration early cancels the
        turn.
        """
        if self._events is not None:
            raise UserMistake("a turn is running; wait for it, cancel it, or queue the message")
        events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._events = events
        turn = asyncio.create_task(self._turn(text, content, source))
        turn.add_done_callback(lambda _: events.put_nowait(None))
        has_ended = False
        try:
            while not has_ended and (event := await events.get()) is not None:
                has_ended = isinstance(event, TurnEnded)
                yield event
            await turn
        finally:
            if not turn.done():
                self._parts.loop.cancel()
                await asyncio.gather(turn, return_exceptions=True)
            self._events = None
            # What came after the end of the turn, while it was still being read, is for the listeners.
            while not events.empty():
                if (event := events.get_nowait()) is not None and has_ended:
                    self._emit(event)
                has_ended |= isinstance(event, TurnEnded)

    async def _turn(self, text: str, content: Sequence[Block], source: str) -> None:
        await self.begin()
        self._parts.idle_hooks.end()
        if self._was_cleared:
            self._was_cleared = False
            self._parts.loop.open()
            await self._parts.lifecycle_hooks.cleared()
        await self._parts.disk_changes.announce()
        try:
            await self._parts.loop.turn(text, content, source=source)
        finally:
            self._parts.extensions.skill_invoker.turn_ended()
            self._parts.idle_hooks.begin()
            self._tell_commands()

    async def begin(self) -> None:
        """What comes before the first turn: hooks and servers; `send` does it when nobody has."""
        if self._has_begun:
            return
        self._has_begun = True
        await self._parts.begin(self._source)

    @property
    def commands(self) -> tuple[tuple[str, str, str], ...]:
        """What may be sent as `/name args` beyond the commands of an interface: name, sentence, hint on arguments."""
        return self._parts.extensions.commands

    @property
    def waiting_for_trust(self) -> tuple[TrustPart, ...]:
        """What came with the project and does nothing until the user has answered; known once the session has begun."""
        return self._parts.extensions.waiting_for_trust

    def answer_trust(self, parts: Iterable[TrustPart], *, accepted: bool) -> None:
        """Keep the user's answer; what it allows holds at once. Raises `Damaged` when the answer cannot be kept."""
        self._parts.extensions.answer_trust(parts, accepted=accepted)

    def queue(self, text: str) -> None:
        """Words typed while a turn runs; they join it at its next boundary."""
        self._parts.loop.queued.append(text)

    def unqueue(self) -> tuple[str, ...]:
        """Take back the words that no boundary has taken yet."""
        waiting = tuple(self._parts.loop.queued)
        self._parts.loop.queued.clear()
        return waiting

    def tell_command(self, command: str, output: str, ending: str = "") -> None:
        """Let the model know with the user's next words that they ran a command, what it printed, how it ended.

        While a turn runs this waits for its end.
        """
        self._ran_meanwhile.append((command, output, ending))
        if self._events is None:
            self._parts.loop.open()
            self._tell_commands()

    def _tell_commands(self) -> None:
        log, keys = self._parts.log, self._parts.desk.keys
        commands, self._ran_meanwhile = self._ran_meanwhile, []
        for command, output, ending in commands:
            for key in keys:
                command, output = command.replace(key, "[key]"), output.replace(key, "[key]")
            words = output_words(harmless(output), ending)
            log.append(
                UserEntry(log.envelope(), user(input_words(command)), source="typed"),
                UserEntry(log.envelope(), user(words), source="system"),
            )
        if commands:
            self._parts.loop.measure()

    def cancel(self) -> None:
        """Stop the running turn; its stream still ends with `TurnEnded`."""
        self._parts.loop.cancel()

    async def kill(self, name: str) -> bool:
        """End a child agent, a teammate, notes, extraction, a dream or a command, by name; whether there was one.

        A dream that is stopped leaves nothing behind.
        """
        return await self._parts.subagents.kill(name) or await self._parts.stop_chore(name)

    def snip(self, share: float | None = None) -> int:
        """Leave the oldest rounds out of what is sent; the freed tokens.

        `share` says down to where, of the effective window, or of what is sent now where that is less; it is
        `snip.target_fraction` when left out. What the user typed, instructions, memories and the date stay, and
        everything can be read again.
        """
        log, preparer = self._parts.log, self._parts.loop.parts.preparer
        scene = preparer.scene(log)
        pinned = list_pinned(log.entries)
        share = self._options.settings.snip.target_fraction if share is None else share
        used, line = scene.budget.used_tokens, round(share * scene.budget.effective_tokens)
        outcome = snip_to(log.view, scene, line if used > line else round(share * used), pinned=pinned)
        preparer.add(log, outcome)
        self._parts.loop.measure()
        return sum(one.freed_tokens for one in outcome.reductions)

    async def dream(self, *, review: bool = False) -> Dreamt:
        """Put the memories in order now; with `review` the proposal is kept for the user to look at."""
        return await self._parts.session_dream.dream(review=review)

    def set_mode(self, mode: str) -> None:
        """Change the permission mode."""
        self._parts.set_mode(mode)

    async def compact(self, instructions: str = "", *, from_: str = "", up_to: str = "") -> Receipt | None:
        """Compact now; None when there was nothing to gain.

        With the id of a message, or the beginning of one, only what comes from it on (`from_`) or before it (`up_to`)
        is summed up. Raises `UserMistake` when no message in view has that id.
        """
        if from_ and up_to:
            raise UserMistake("give either the first message to compact or the last one, not both")
        part = OneSide(Direction.FROM, from_) if from_ else OneSide(Direction.UP_TO, up_to) if up_to else None
        loop = self._parts.loop
        loop.open()
        if not loop.parts.settings.compaction.enabled:
            raise UserMistake("compaction is disabled; set compaction.enabled to true to enable it")
        outcome = await loop.parts.compactor.compact(
            loop.parts.model, loop.last_request, instructions=instructions, part=part
        )
        loop.measure()
        return next(reversed(receipts(outcome.entries)), None)

    def uncompact(self) -> int:
        """Show everything again that the last compaction took away; returns the size of the view in tokens.

        What was said since stays behind it.
        """
        log = self._parts.log
        undone = uncompact(log.entries)
        log.branch_from(undone.leaf)
        log.append(*undone.again(log.envelope))
        return self._append_mark(REWOUND, "uncompact")

    def rewind(self, message_id: str) -> int:
        """Go back to before a message of the user; returns the size of the view in tokens.

        Nothing is removed: what came after stays in the transcript. Files stay as they are: see `restore_files`.
        """
        user_entry = self._find_user_entry(message_id)
        self._parts.log.branch_from(user_entry.envelope.parent)
        # What was read after that message is no longer seen, so it must be read again before it is changed.
        self._parts.desk.seen.forget()
        return self._append_mark(REWOUND, "rewind")

    def changed_files(self, message_id: str) -> tuple[Return, ...]:
        """The files that file and memory tools changed since before a message, and what going back would mean."""
        return self._parts.files.since(self._find_user_entry(message_id).envelope.uuid)

    def restore_files(self, returns: Iterable[Return], *, told: bool = False) -> tuple[Path, ...]:
        """Bring files back to what they were, those that still hold what was looked at; their paths.

        `told` lets the model know, when the conversation itself does not go back.
        """
        parts = self._parts
        done = put_back(parts.files, returns, parts.memory, self.id)
        if done and told:
            parts.attach(RESTORED_KIND, describe_restored(done))
        return done

    def _find_user_entry(self, message_id: str) -> UserEntry:
        chain = self._parts.log.chain()
        user_entry = next((one for one in chain if _id(one) == message_id or _id(one).startswith(message_id)), None)
        if not isinstance(user_entry, UserEntry):
            raise UserMistake(f"none of your messages has the id {message_id!r}; use `/rewind` for a list")
        return user_entry

    def clear(self) -> None:
        """Begin anew in the same file; everything before stays in it and is no longer seen."""
        log = self._parts.log
        log.branch_from(None)
        self._parts.forget()
        self._append_mark(CLEARED, "clear")
        self._was_cleared = self._has_begun

    def describe(self, subject: str) -> tuple[tuple[str, str], ...] | None:
        """Rows of a name and a sentence on a part of the session; None when it has no such part."""
        return describe_part(self._parts, subject)

    def _append_mark(self, name: str, why: str) -> int:
        log = self._parts.log
        log.append(MarkEntry(log.envelope(), name, {"by": why}))
        self._parts.loop.measure()
        return self._parts.loop.status.used_tokens

    async def close(self, reason: str = "other") -> None:
        """Finish what must be finished, within its time, and let go of the session."""
        try:
            await self._parts.close(reason, has_begun=self._has_begun)
        finally:
            self._transcript.close()

    def _emit(self, event: TurnEvent) -> None:
        if self._events is not None:
            self._events.put_nowait(event)
            return
        for heard in self._heard_outside:
            heard(event)

    @property
    def prompts(self) -> tuple[tuple[str, str], ...]:
        """What the user said so far, with ids, oldest first; for rewinding."""
        items = self._parts.log.view.items
        return tuple((item.uuid, item.message.text) for item in items if item.kind is ItemKind.TYPED)

    @property
    def attachments(self) -> tuple[AttachmentEntry, ...]:
        """Everything that joined the conversation without being typed."""
        return tuple(entry for entry in self._parts.log.entries if isinstance(entry, AttachmentEntry))


def find_session(options: SessionOptions, named: str) -> Path:
    """The transcript of a session by its id or the beginning of it; the host agent's are found too.

    Those of this directory go before those of other directories of the repository.
    """
    path = Path(named).expanduser()
    if path.suffix == ".jsonl" and path.is_file():
        return path
    places = options.places
    here = (places.project(options.directory), places.host_project(options.directory))
    paths = _begin_with(named, here) or _begin_with(
        named,
        list_transcript_folders(
            places, options.directory, read_cwd=lambda folder: read_working_directory(folder.directory)
        ),
    )
    exact = [each for each in paths if each.stem == named]
    if exact:
        return exact[0]
    if not paths:
        raise UserMistake(f"no session starts with {named!r}; run `reverie sessions` for a list")
    if len({each.stem for each in paths}) > 1:
        names = ", ".join(each.stem[:12] for each in paths[:5])
        raise UserMistake(f"{named!r} is ambiguous: it matches {names}; use a longer prefix")
    return paths[0]


def _begin_with(named: str, folders: Iterable[ProjectFolder]) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted(folder.directory.glob("*.jsonl"))
        if path.stem.startswith(named) and not path.stem.startswith("agent-")
    ]


def _is_ours(options: SessionOptions, path: Path) -> bool:
    """Whether we may write the file: another agent's transcript is never touched."""
    return options.places.projects in path.parents


def _id(entry: Entry) -> str:
    envelope = envelope_of(entry)
    return envelope.uuid if envelope is not None else ""
