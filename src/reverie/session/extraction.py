"""After a turn, what it taught: extraction in a running session, by a fork, a question to a model, or by rules.

The schedule is a pure state machine of `memory.extraction`; here it is told what happened and its answers are carried
out. Nobody waits for it, except the end of the session, for a bounded time. Its cursor lies in the transcript.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from reverie.amounts import format_count
from reverie.context.conversation import Conversation
from reverie.context.pipeline import BREAKAGES
from reverie.context.spans import chain
from reverie.errors import Error, Unavailable, UserMistake
from reverie.memory.extraction import cursor as cursors
from reverie.memory.extraction import schedule
from reverie.memory.extraction.candidate import UserMessage
from reverie.memory.extraction.fork import LABEL, WriteGate, extraction_fork, manifest
from reverie.memory.extraction.keep import Keeper, keep_new, read_written
from reverie.memory.extraction.model_extraction import estimate_questions, extract_with_model
from reverie.memory.extraction.model_question import pieces
from reverie.memory.extraction.nothing_here import holds_nothing
from reverie.memory.extraction.refusals import append_refusals
from reverie.memory.extraction.session import SessionWords, words_of
from reverie.memory.memory import Memory
from reverie.memory.topics.draft import complete_topic
from reverie.messages.entries import AssistantEntry, Entry, MarkEntry, envelope_of
from reverie.models.ledger import Governor
from reverie.models.offline import OFFLINE
from reverie.models.ports import Ending, ForkResult
from reverie.session.background_work import Chore
from reverie.session.events import Attached, Notice, Remembered, Replied, ToolStarted, TurnEvent
from reverie.session.loop import Loop
from reverie.session.memory_writes import MemoryWrites
from reverie.session.subagents.fork import ForkModel, run_fork
from reverie.settings import Settings
from reverie.values import value

REMEMBERED = "remembered"
"""The name of the mark that keeps what a turn taught."""
_LINE_CHARS = 200
_FILTERED_ENTRIES = 400
_FILTERED_MESSAGES = 8
"""Of more messages, as of a long session of another agent, something will be worth a look, which takes place beside."""


@dataclass(slots=True)
class SessionExtraction:
    """Learns from one session while it runs."""

    loop: Loop
    log: Conversation
    memory: Memory
    writes: MemoryWrites
    settings: Settings
    governor: Governor
    now: Callable[[], datetime]
    emit: Callable[[TurnEvent], None]
    gates: schedule.ExtractionGates
    model_name: str
    chore: Chore
    open_memory_model: Callable[[], ForkModel] | None = None
    """The model for memory work (`model.memory`), where the session has none of its own."""
    _state: schedule.ScheduleState = field(default_factory=schedule.ScheduleState)
    _task: asyncio.Task[None] | None = None
    _marks_read: int = 0
    _last_mark: cursors.ExtractionCursor = field(default_factory=cursors.ExtractionCursor)

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def after_turn(self, ending: Ending) -> None:
        """Look at a turn that has ended; starts a run where one is due."""
        if ending is Ending.BLOCKED or self.gates.find_skip_reason() is not None:
            return
        turn = self._turn()
        if turn is None:
            return
        self._state, step = schedule.turn_ended(
            self._resume_state(), turn, self.gates, every_n_turns=self.settings.extraction.every_n_turns
        )
        self._do(step)

    async def drain(self) -> None:
        """Before the process ends: one last run over whatever is left, and a bounded wait."""
        turn, running = self._turn(), self._state.running
        if running is None or turn is None or turn.newest != running.newest:
            self._state, step = schedule.leaving(self._resume_state(), turn, self.gates)
            self._do(step)
        while (task := self._task) is not None and not task.done():
            try:
                await asyncio.wait_for(asyncio.shield(task), self.settings.extraction.drain_seconds)
            except TimeoutError:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                self.emit(
                    Notice("extraction did not finish in time; some memories of this session were not saved", "warning")
                )
                return

    def _do(self, step: schedule.Step) -> None:
        match step:
            case schedule.Run(turn):
                self._task = asyncio.create_task(self._run(turn))
            case schedule.Rest():
                pass

    async def _run(self, turn: schedule.TurnEnd) -> None:
        succeeded, is_empty = True, False
        try:
            is_empty = await self._holds_nothing()
            if not is_empty:
                async with self.chore.run():
                    await self._extract(turn)
            if not is_empty and self.chore.is_stopped:
                succeeded = False
                self.emit(Notice("extraction stopped; its messages are processed after the next turn"))
        except (Error, OSError, sqlite3.Error, *BREAKAGES) as problem:
            succeeded = False
            self.emit(Notice(f"extraction failed: {type(problem).__name__}: {problem}", "info"))
        self._state, ended, trailing = schedule.run_ended(
            self._state, succeeded=succeeded, max_retries=self.settings.extraction.max_retries
        )
        match ended:
            case schedule.RunFinished(covers):
                self._mark(cursors.ExtractionCursor(covers), "nothing here" if is_empty else "done")
            case schedule.Failed(failures):
                self._mark(cursors.ExtractionCursor(self._cursor().covers, failures), "failed")
            case schedule.GivenUp(covers):
                self._mark(cursors.ExtractionCursor(covers), "given up")
                self.emit(Notice("extraction failed repeatedly; skipping these messages", "warning"))
        if trailing is not None:
            # The cursor has moved since that turn was counted.
            self._state, step = schedule.start_trailing_run(self._state, self._turn())
            self._do(step)

    async def _extract(self, turn: schedule.TurnEnd) -> None:
        if self.model_name == OFFLINE:
            await (self._by_rules(turn) if self.open_memory_model is None else self._by_question(turn))
            return
        if refused := self.governor.refuses(self.loop.fork_estimate_usd()):
            await self._without_model(turn, refused)
            return
        try:
            await self._by_fork(turn)
        except Unavailable:
            await self._by_rules(turn)

    async def _without_model(self, turn: schedule.TurnEnd, reason: str) -> None:
        self.emit(Notice(f"extraction runs without the model: {reason}", "warning"))
        await self._by_rules(turn)

    async def _by_question(self, turn: schedule.TurnEnd) -> None:
        """Ask the model for memory work what the user's messages teach; nobody else answers in this session."""
        assert self.open_memory_model is not None
        until, covers = self._until(turn.newest), self._cursor().covers
        talk = await asyncio.to_thread(_chain, until)
        words = await asyncio.to_thread(self._words, talk)
        keeper = await asyncio.to_thread(self._keeper)
        asked = tuple(pieces([message.said for message in words.after(covers)]))
        listed = manifest(keeper.topics.values(), self.memory.directory)
        try:
            model = self.open_memory_model().model
            if refused := self.governor.refuses(estimate_questions(model.name, asked, listed).cost_usd or 0.0):
                await self._without_model(turn, refused)
                return
            extracted, problems = await extract_with_model(model, words, asked, keeper.scene, listed)
        except (Unavailable, UserMistake) as problem:
            await self._without_model(turn, str(problem))
            return
        for reason in problems:
            self._say(f"a reply could not be used, the rules read its messages: {reason}")
        written = await asyncio.to_thread(keeper.keep, extracted)
        self._tell([topic.name for topic in (*written.saved, *written.updated)])

    async def _by_rules(self, turn: schedule.TurnEnd) -> None:
        # The conversation grows while the thread works; what it looks at is taken here.
        until, covers = self._until(turn.newest), self._cursor().covers
        self._tell(await asyncio.to_thread(self._extract_by_rules, until, covers))

    def _extract_by_rules(self, until: Until, covers: str | None) -> list[str]:
        """Extract by rules; the names of what was kept. Runs in a thread, so it tells nobody itself."""
        zone = self.now().tzinfo
        written = keep_new(self._keeper(), _chain(until), after=covers, session=self.log.session, zone=zone)
        return [topic.name for topic in (*written.saved, *written.updated)]

    async def _by_fork(self, turn: schedule.TurnEnd) -> None:
        talk = await asyncio.to_thread(_chain, self._until(turn.newest))
        words = await asyncio.to_thread(self._words, talk)
        keeper = await asyncio.to_thread(self._keeper)
        store = self.memory.store
        own = cursors.find_agent_writes(cursors.new_entries(talk, self._cursor().covers), self.memory.directory)
        spec = await asyncio.to_thread(
            extraction_fork,
            self.memory.directory,
            keeper.topics.values(),
            messages=turn.messages,
            written=own,
            max_rounds=self.settings.extraction.max_rounds,
        )
        gate = WriteGate(
            self.memory.directory,
            words,
            keeper.scene,
            lambda refusal: append_refusals(store.folder, [refusal], self.now()),
        )
        names: list[str] = []
        loop = self.loop
        writes = replace(self.writes, author="extraction", written=names.append)
        result = await run_fork(
            spec, loop, emit=self._hear, may=lambda need, arguments: gate.refuse(need.tool, arguments), memories=writes
        )
        if result.ending is Ending.FAILED:
            raise Unavailable(result.text)
        self._report(result)
        if not names and {"Write", "Edit"}.intersection(result.calls):
            # The same gate judges what the rules find: only what the model put badly is kept after all.
            self._say("nothing that the model wrote could be kept; continued by rules")
            await self._by_rules(turn)
            return
        self._tell(names)
        if result.ending is Ending.BUDGET:
            self.emit(Notice(f"extraction continues without the model: {result.text}", "warning"))
            await self._by_rules(turn)

    def _hear(self, event: TurnEvent) -> None:
        """Let the task tell how far the fork is."""
        match event:
            case ToolStarted(name=name, given=given):
                self._say(f"{name} {Path(str(given.get('file_path', ''))).name}".strip())
            case Replied(message=message):
                self._say(message.text or "…")
            case _:
                pass

    def _say(self, line: str) -> None:
        self.chore.log_line(line[:_LINE_CHARS], self.governor.spent_on(LABEL))

    def _report(self, result: ForkResult) -> None:
        share = f"{result.cache_share:.0%} of its input from the cache"
        self.emit(
            Attached(
                LABEL, f"extraction: {format_count(result.rounds, 'round')}, {share}", {"cost_usd": result.cost_usd}
            )
        )

    def _tell(self, names: list[str]) -> None:
        self._say(f"remembered: {', '.join(dict.fromkeys(names))}" if names else "nothing new to save")
        if names:
            remembered = Remembered(tuple(dict.fromkeys(names)))
            # On disk too, so that a resumed session tells it again.
            self.log.append(
                MarkEntry(self.log.envelope(), REMEMBERED, {"names": [*remembered.names], "content": remembered.text})
            )
            self.emit(remembered)

    def _words(self, talk: Sequence[Entry]) -> SessionWords:
        """What was said, made ready for the gate; takes long in long sessions: to be called in a thread."""
        words = words_of(talk, self.log.session, self.now().tzinfo)
        for heard in (*words.injected, *words.foreign):
            _ = heard.words
        return words

    def _keeper(self) -> Keeper:
        """What is known and how to add to it; takes long with many memories: to be called in a thread."""
        complete = partial(complete_topic, now=self.now(), root=self.memory.root)
        written = tuple(read_written(self.memory.root))
        return Keeper(self.memory.store, self.memory.index, complete, now=self.now(), written=written)

    def _turn(self) -> schedule.TurnEnd | None:
        """What lies after the cursor. Asked after every turn, so nothing before the cursor is looked at."""
        covers = self._cursor().covers
        new = cursors.new_entries(chain(self._after(covers)[1], self.log.leaf), covers)
        newest = cursors.newest(new)
        return None if newest is None else schedule.TurnEnd(newest, len(new))

    async def _holds_nothing(self) -> bool:
        """Whether the local filter finds nothing to keep in what lies after the cursor."""
        covers = self._cursor().covers
        covered, after = self._after(covers)
        new = cursors.new_entries(chain(after, self.log.leaf), covers)
        if not self.settings.extraction.prefilter or len(new) > _FILTERED_ENTRIES:
            return False
        return await asyncio.to_thread(self._is_filtered, [*covered, *new])

    def _is_filtered(self, entries: Sequence[Entry]) -> bool:
        messages = self._list_user_messages(entries)
        return len(messages) <= _FILTERED_MESSAGES and holds_nothing(messages)

    def _after(self, covers: str | None) -> tuple[list[Entry], list[Entry]]:
        """The reply at the cursor, and the entries that were written after it; all where it is unset or gone."""
        entries = self.log.entries
        for place in range(len(entries) - 1, -1, -1) if covers is not None else ():
            envelope = envelope_of(entries[place])
            if envelope is not None and envelope.uuid == covers:
                covered = entries[place : place + 1] if isinstance(entries[place], AssistantEntry) else []
                return covered, entries[place + 1 :]
        return [], list(entries)

    def _list_user_messages(self, entries: Sequence[Entry]) -> list[UserMessage]:
        """The user's own messages among these."""
        return [each.said for each in words_of(entries, self.log.session, self.now().tzinfo).messages]

    def _cursor(self) -> cursors.ExtractionCursor:
        """The last word of the marks; only what was written since it was last asked is looked at."""
        entries = self.log.entries
        fresh = entries[self._marks_read :]
        self._marks_read = len(entries)
        if any(isinstance(entry, MarkEntry) and entry.name == cursors.MARK for entry in fresh):
            self._last_mark = cursors.cursor(fresh)
        return self._last_mark

    def _resume_state(self) -> schedule.ScheduleState:
        """The state, with the failures that an earlier process has left in the transcript."""
        if self._state.failures == 0 and self._state.running is None:
            return replace(self._state, failures=self._cursor().failures)
        return self._state

    def _until(self, newest: str) -> Until:
        return Until(tuple(self.log.entries), self.log.leaf, newest)

    def _mark(self, state: cursors.ExtractionCursor, outcome: str) -> None:
        self.log.append(cursors.mark(self.log.envelope(), state, outcome))


@value
class Until:
    """A conversation as it was when a turn ended."""

    entries: Sequence[Entry]
    leaf: str | None
    newest: str
    """The last message that counts."""


def _chain(until: Until) -> list[Entry]:
    """The conversation across compactions, up to a message. Takes long in long sessions: to be called in a thread."""
    whole = [entry for entry in chain(until.entries, until.leaf) if envelope_of(entry) is not None]
    ids = [envelope.uuid for entry in whole if (envelope := envelope_of(entry)) is not None]
    return whole[: ids.index(until.newest) + 1] if until.newest in ids else whole
