"""How the tools of a session write memories: through the store of the directory, with session and message.

Whatever tool an agent uses (SaveMemory, Write, Edit, the provider's memory tool), what it puts into a memory directory
is checked, completed and committed in the same call, or refused before there is a file. What a command of the shell did
to the directory is committed right after it, as the agent's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.errors import Damaged, Error, Refused
from reverie.memory.contradiction import find_contradicted
from reverie.memory.extraction.session import is_by_hand
from reverie.memory.memory import Memory
from reverie.memory.store.change import Author, Change
from reverie.memory.store.erased_sentences import normal
from reverie.memory.store.worktree import INDEX_FILE, Seen, is_safe_path, list_tracked, read_tracked
from reverie.memory.store.writer import FoundEdit
from reverie.memory.topics.draft import draft_topic
from reverie.memory.topics.topic import Source, Topic, parse_topic, render_topic, strip_code_fence
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import AssistantEntry, ToolSpec, UserEntry
from reverie.permissions.need import Need
from reverie.session.events import Notice, TurnEvent
from reverie.session.file_history import FileHistory
from reverie.tools.desk import Desk
from reverie.tools.tool import Tool, ToolAnswer
from reverie.values import value

SHELL = "Bash"


@value
class MemoryWrites:
    """Writes memories for one agent of a session."""

    memory: Memory
    log: Conversation
    files: FileHistory
    author: Author = "agent"
    written: Callable[[str], None] = lambda _name: None
    """Is told the name of every memory that was written."""

    def save(
        self,
        *,
        name: str,
        description: str,
        type: str,  # noqa: A002 - the name that callers use
        body: str,
        when: Sequence[str] = (),
        asks: Sequence[str] = (),
    ) -> Topic:
        """Keep a memory, under its own name or in the place of the one that has it."""
        source = self.source
        topic = draft_topic(name, description, type, body, trust="inferred", source=source, when=when, asks=asks)
        self._refuse_contradiction(topic)
        path = self.memory.index.find_path_by_name(name)
        before = _read(self.memory, (path,) if path is not None else ())
        saved = self.memory.keep(topic, session=source.session, author=self.author)
        if saved.commit is not None or saved.is_new:
            self._note(self.memory, {saved.path: before.get(saved.path)})
            self.written(saved.topic.name)
        return saved.topic

    def write(self, path: Path, text: str) -> str | None:
        """Write a file that lies in a memory directory; None for every other file."""
        memory_file = self.memory.holding(path)
        if memory_file is None:
            return None
        memory, inside = memory_file
        if not is_safe_path(inside) or (inside != INDEX_FILE and Path(inside).name == INDEX_FILE):
            raise Refused(f"{path} cannot be a memory: name a `.md` file, and leave the index alone", by="memory")
        if inside != INDEX_FILE:
            text = strip_code_fence(text)
            topic = parse_topic(inside, text)
            if not _says_the_same(topic, _read(memory, [inside])[inside]):
                self._refuse_contradiction(topic)
            text = render_topic(replace(topic, sources=tuple(map(self._locate_source, topic.sources))), text)
        before = _read(memory, [inside])
        memory.write_files({inside: text}, author=self.author, reason=f"write {inside}", source=self.source)
        self._note(memory, before)
        if inside != INDEX_FILE:
            self.written(Path(inside).stem)
        return (_read(memory, [inside])[inside] or b"").decode("utf-8", "surrogateescape")

    def write_files(self, files: Mapping[str, str | None], reason: str) -> None:
        """Write files of the project's memory exactly so, or remove them."""
        for path, text in files.items():
            if text is not None:
                self._refuse_contradiction(parse_topic(path, text))
        before = _read(self.memory, files)
        self.memory.write_files(files, author=self.author, reason=reason, source=self.source, as_given=True)
        self._note(self.memory, before)
        for path, text in files.items():
            if text is not None:
                self.written(Path(path).stem)

    @property
    def source(self) -> Source:
        """The message that asks for the write."""
        entries = reversed(self.log.entries)
        asking = next((entry for entry in entries if isinstance(entry, AssistantEntry)), None)
        return Source(self.log.session, asking.envelope.uuid if asking is not None else None)

    def _note(self, memory: Memory, before: Mapping[str, bytes | None]) -> None:
        """Let `/rewind` know what files of a memory held."""
        for path, content in before.items():
            self.files.note_done(Path(os.path.realpath(memory.directory)) / path, content)

    def _locate_source(self, source: Source) -> Source:
        """A source with the message in which its quote was typed."""
        if source.session or not source.quote:
            return source
        typed_entry = next((entry for entry in self._typed if normal(source.quote) in normal(entry.message.text)), None)
        return replace(
            source, session=self.log.session, message=typed_entry.envelope.uuid if typed_entry is not None else None
        )

    @property
    def _typed(self) -> list[UserEntry]:
        return [entry for entry in self.log.entries if isinstance(entry, UserEntry) and is_by_hand(entry)]

    def _refuse_contradiction(self, topic: Topic) -> None:
        """Refuse what says otherwise than the user did in this conversation."""
        contradiction = find_contradicted(topic, [entry.message.text for entry in self._typed])
        if contradiction is not None:
            sentence, mismatch = contradiction
            raise Refused(
                f"{topic.name!r} was not saved: it has {mismatch}. The user said: {sentence!r}; keep that sentence",
                by="polarity",
            )


def _says_the_same(topic: Topic, before: bytes | None) -> bool:
    """Whether a file says already what a topic says, so that only its front matter changes."""
    with suppress(Damaged, UnicodeDecodeError):
        old = None if before is None else parse_topic(topic.path, before.decode())
        return old is not None and (old.name, old.description, old.body) == (topic.name, topic.description, topic.body)
    return False


def _read(memory: Memory, paths: Iterable[str]) -> dict[str, bytes | None]:
    return {path: read_tracked(memory.scope.folder, path) for path in paths}


@value
class WatchedShell:
    """The shell; what a command does to a memory directory is committed as the agent's, and secrets are told."""

    tool: Tool
    writes: MemoryWrites
    emit: Callable[[TurnEvent], None]

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        return self.tool.need(arguments, desk)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:
        return self.tool.is_concurrent(arguments, desk)

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        if self.tool.is_concurrent(arguments, desk) or self.writes.memory.off is not None:
            return await self.tool.run(arguments, desk)
        before = await asyncio.to_thread(self._list, desk.project)
        try:
            return await self.tool.run(arguments, desk)
        finally:
            after = await asyncio.to_thread(self._list, desk.project)
            for memory, files in after.items():
                old = before.get(memory, {})
                touched = {path for path in {**old, **files} if old.get(path) != files.get(path)}
                if touched:
                    self._commit(memory, touched)

    def _list(self, project: Path) -> dict[Memory, dict[str, Seen]]:
        return {memory: list_tracked(memory.scope.folder) for memory in self.writes.memory.reachable(project)}

    def _commit(self, memory: Memory, touched: set[str]) -> None:
        source = self.writes.source
        change = Change("agent", "written by a command", source.session, (source,))

        def attribute(edit: FoundEdit) -> Change | None:
            return change if edit.path in touched else None

        try:
            memory.sync(attribute)
        except (Error, OSError) as problem:
            self.emit(Notice(f"changes by a command in {memory.directory} are not committed yet: {problem}", "warning"))
        for caution in memory.cautions():
            self.emit(Notice(caution, "warning"))


def watch_tools(tools: Iterable[Tool], writes: MemoryWrites, emit: Callable[[TurnEvent], None]) -> tuple[Tool, ...]:
    """The tools, the shell watched."""
    return tuple(WatchedShell(tool, writes, emit) if tool.spec.name == SHELL else tool for tool in tools)
