"""`SessionParts`: everything that a session consists of, and the order in which things begin and end.

To the loop it is the `LoopHost`. `build` makes the parts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reverie.amounts import format_count
from reverie.context.conversation import Conversation
from reverie.context.restore import RestoreContext
from reverie.context.session_notes import NotesFile
from reverie.extensions.hooks import Hooks
from reverie.memory.memory import Memory
from reverie.messages.blocks import ToolResult
from reverie.messages.entries import Entry, UserEntry
from reverie.messages.message import user
from reverie.messages.reminder import reminder
from reverie.models.ledger import Governor
from reverie.models.ports import Ending
from reverie.models.tokens.window import unknown_model
from reverie.session.disk_changes import DiskChanges
from reverie.session.dream import SessionDream
from reverie.session.events import Notice, TurnEvent
from reverie.session.extensions import Extensions
from reverie.session.extraction import SessionExtraction
from reverie.session.file_history import FileHistory
from reverie.session.lifecycle_hooks import IdleHooks, LifecycleHooks
from reverie.session.loop import JoinedAttachment, Loop, LoopHost, Opening
from reverie.session.mentions import attach_mentions
from reverie.session.notes import NotesWriter
from reverie.session.opening_prompt import OpeningPrompt
from reverie.session.options import SessionOptions
from reverie.session.recall import SessionRecall
from reverie.session.retention import RetentionSweep
from reverie.session.subagents.subagents import Subagents
from reverie.session.team_memory import TeamMemory
from reverie.session.tool_calls import FinishedCall, Permits, answer_interrupted
from reverie.settings.features import features
from reverie.tools.desk import Desk
from reverie.tools.registry import Registry
from reverie.tools.shells import Shells


@dataclass(slots=True)
class SessionParts(LoopHost):
    """Everything that a session consists of, and what it offers its loop and its compactor."""

    options: SessionOptions
    log: Conversation
    loop: Loop
    memory: Memory
    hooks: Hooks
    desk: Desk
    permits: Permits
    opening_prompt: OpeningPrompt
    session_recall: SessionRecall
    notes_writer: NotesWriter
    session_extraction: SessionExtraction
    session_dream: SessionDream
    retention_sweep: RetentionSweep
    governor: Governor
    shells: Shells
    emit: Callable[[TurnEvent], None]
    extensions: Extensions
    subagents: Subagents
    lifecycle_hooks: LifecycleHooks
    disk_changes: DiskChanges
    idle_hooks: IdleHooks
    files: FileHistory
    team_memory: TeamMemory

    @property
    def tools(self) -> Registry:
        """The tools that may be called now; those of servers join behind the others."""
        return self.loop.parts.calls.tools

    async def begin(self, source: str) -> None:
        """Before the first turn: what was interrupted is closed, hooks hear that the session starts."""
        self.disk_changes.begin()
        self.extensions.begin()
        await self.subagents.begin()
        await asyncio.gather(self.opening_prompt.prepare(), self.team_memory.begin())
        self._close_open_calls()
        self.loop.open()
        if len(self.log.entries) > 2:
            self.loop.measure()
        preparer = self.loop.parts.preparer
        assumed = unknown_model(preparer.facts, preparer.budget)
        for problem in (*self.hooks.problems, *self.opening_prompt.warnings, *([assumed] if assumed else ())):
            self.emit(Notice(problem, "warning"))
        await self.lifecycle_hooks.started(source)
        await self.opening_prompt.announce_loaded()

    def render_opening(self) -> Opening:
        """System text, tools and first messages."""
        return self.opening_prompt.opening()

    async def expand(self, text: str) -> Sequence[JoinedAttachment] | str:
        """What a command of a skill or a server stands for."""
        return await self.extensions.expand(text)

    async def attach_mentions(self, text: str) -> Sequence[JoinedAttachment]:
        """Files that the user's words name."""
        room = self.loop.parts.preparer.budget.effective_tokens
        return await attach_mentions(text, self.desk, self.permits.policy, room_tokens=room)

    async def recall(self, text: str) -> Sequence[JoinedAttachment]:
        """The memories that matter to the user's words."""
        return await self.session_recall.recall(text)

    def before_prompt(self) -> Sequence[JoinedAttachment]:
        """What changed since the last turn."""
        return self.opening_prompt.before_prompt()

    def at_boundary(self) -> Sequence[JoinedAttachment]:
        """Late memories, tools of servers, what agents and hooks say."""
        return (*self.session_recall.late(), *self.extensions.at_boundary(), *self.subagents.at_boundary())

    async def after_calls(self, done: Sequence[FinishedCall]) -> Sequence[JoinedAttachment]:
        """Instructions and skills that hold where the calls went."""
        joined = (*self.opening_prompt.collect_attachments(done), *self.extensions.collect_attachments(done))
        await self.opening_prompt.announce_loaded()
        return joined

    def after_reply(self) -> None:
        """Write notes where they are due."""
        self.notes_writer.after_reply()

    def after_turn(self, ending: Ending) -> None:
        """Start extraction, a dream and the removal of expired files where they are due."""
        self.session_extraction.after_turn(ending)
        self.session_dream.after_turn(ending)
        self.retention_sweep.after_turn()

    def restore_context(self) -> RestoreContext:
        """What returns after a compaction."""
        around = self.opening_prompt.surroundings()
        return replace(around, returning=(*around.returning, *self.subagents.returning()))

    def read_notes(self) -> NotesFile | None:
        """The session notes, where a compaction may use them."""
        enabled = features(self.options.settings, interactive=self.options.is_interactive)
        return self.notes_writer.file() if enabled.notes_compaction else None

    async def reopen(self) -> None:
        """Render the cached parts of the prompt anew."""
        await self.opening_prompt.reopen()

    def attach(self, kind: str, text: str) -> None:
        """Add words for the model that nobody typed."""
        self.loop.join([JoinedAttachment(kind, reminder(text))])

    def set_mode(self, mode: str) -> None:
        """Change the permission mode."""
        self.permits.policy = self.permits.policy.with_mode(mode)

    def forget(self) -> None:
        """Nothing was read or said any more."""
        self.desk.seen.forget()
        self.session_recall.forget()
        self.opening_prompt.forget()
        self.extensions.forget()

    @property
    def chore_rows(self) -> tuple[tuple[str, str], ...]:
        """Notes, extraction, the dream and commands in the background with state and last words, for people."""
        shells = ((shell.id, f"command, running: {shell.command}") for shell in self.shells.running)
        return (*self.notes_writer.chore.row, *self.session_extraction.chore.row, *self.memory.dreams.rows, *shells)

    async def stop_chore(self, name: str) -> bool:
        """Stop notes, extraction, a dream or a command in the background, by kind or id; whether it runs."""
        shell = next((each for each in self.shells.running if each.id == name), None)
        if shell is not None:
            await self.shells.end(shell)
            return True
        chores = (self.notes_writer.chore, self.session_extraction.chore)
        asked = any(chore.stop() for chore in chores if name in (chore.kind, chore.id))
        return asked or await self.memory.dreams.stop(name)

    @property
    def background(self) -> tuple[str, ...]:
        """A line for each thing that runs while nobody waits, agents first."""
        beside = {
            "notes": self.notes_writer.is_running,
            "extraction": self.session_extraction.is_running,
            "dream": self.session_dream.is_dreaming,
        }
        lines = [name for name, is_running in beside.items() if is_running]
        lines += [f"{shell.id}: {shell.command}" for shell in self.shells.running]
        return (*self.subagents.lines, *lines)

    async def close(self, reason: str, *, has_begun: bool) -> None:
        """End in order: background work within its time, then the hooks' last word, then files."""
        self.idle_hooks.end()
        self.team_memory.close()
        await self.subagents.close()
        try:
            await asyncio.wait_for(self.notes_writer.settle(), self.options.settings.extraction.drain_seconds)
        except TimeoutError:
            await self.notes_writer.settle(cancel=True)
        if has_begun:
            await self.session_extraction.drain()
            await self.session_dream.settle()
            await self.retention_sweep.settle()
            await self.lifecycle_hooks.ended(reason)
        await self.hooks.close(grace_seconds=self.options.settings.hook.session_end_timeout_seconds)
        await self.extensions.close()
        await self.shells.close()
        await self.session_recall.close()
        self.memory.close()

    def _close_open_calls(self) -> None:
        """A session that was killed in the middle of a call goes on with an answer to it."""
        items = self.log.view.items
        answered = {result.tool_use_id for item in items for result in item.message.tool_results}
        waiting = [call for item in items for call in item.message.tool_uses if call.id not in answered]
        entries: list[Entry] = []
        for call in waiting:
            result = ToolResult(call.id, str(answer_interrupted(call).answer.content), is_error=True)
            entries.append(UserEntry(self.log.envelope(), user(result), source="system"))
        if entries:
            self.log.append(*entries)
            self.emit(
                Notice(
                    f"{format_count(len(entries), 'tool call')} had no result when this session "
                    "stopped; marked as interrupted"
                )
            )
