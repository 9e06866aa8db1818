"""`HostSession`: a session of another agent as entries of our own, the one form in which all commands read it.

A reader turns what its agent wrote into entries through `SessionBuilder`: what the user typed, what a program put in
their name (`is_meta`), replies with their usage, tool results, compactions. A record of a kind that the reader does not
know is kept as it came and counted, so that a new version of an agent is noticed instead of misread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeAlias

from reverie.hosts.fields import Fields, as_input, as_timestamp, parse_object
from reverie.messages.blocks import Block, Text, Thinking, ToolResult, ToolUse
from reverie.messages.codec import encode_json
from reverie.messages.entries import (
    AssistantEntry,
    BoundaryEntry,
    Entry,
    Envelope,
    OtherEntry,
    UserEntry,
)
from reverie.messages.message import Message, Role, Usage
from reverie.values import value

BAD_LINE = "unreadable line"
"""The kind under which a line that is not JSON is counted."""


@value
class HostSession:
    """One session of another agent."""

    agent: str
    id: str
    path: Path
    """Its file. A session inside a database is named as a file below the database: `opencode.db/ses_1`."""
    entries: tuple[Entry, ...] = field(repr=False)
    title: str = ""
    """The name that the agent or the user gave it; empty when it has none."""
    cwd: str = ""
    git_branch: str = ""
    version: str = ""
    """Of the agent."""
    is_subagent: bool = False
    """Started by another session, so that nobody typed in it."""
    parent: str = ""
    """The session that started it, where the agent says so."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Records of kinds that the reader does not know, by kind."""


@value
class SessionStamp:
    """What changes when a session changes."""

    size_bytes: int
    changed_ns: int
    inode: int = 0


ListedSession: TypeAlias = tuple[Path, SessionStamp]
JsonLine: TypeAlias = tuple[int, bytes, Fields | None]
"""A line of a file with its number, and the record that it holds."""


class SessionBuilder:
    """Collects the entries of one session in order; the attributes may be set whenever the file tells them."""

    def __init__(self, agent: str, path: Path, session: str) -> None:
        self.id = session
        self.title = ""
        self.cwd = ""
        self.git_branch = ""
        self.version = ""
        self.model = ""
        self.parent = ""
        self.is_subagent = False
        self.in_subagent = False
        """Whether what is added now belongs to a sub-agent that shares the file."""
        self._agent = agent
        self._path = path
        self._entries: list[Entry] = []
        self._unknown: Counter[str] = Counter()
        self.leaf: str | None = None
        self._typed: list[tuple[str, str | None]] = []
        self._reply = 0
        self._last_reply: int | None = None

    def add_typed(self, key: object, when: object, text: str) -> None:
        """What the user typed."""
        if text.strip():
            parent = self.leaf
            envelope = self._envelope(key, when)
            self._typed.append((envelope.uuid, parent))
            self._append(UserEntry(envelope, Message(Role.USER, (Text(text),)), source="typed"))

    def add_injected(self, key: object, when: object, text: str) -> None:
        """What a program wrote in the user's name, or told the model besides."""
        if text.strip():
            self._append(UserEntry(self._envelope(key, when, is_meta=True), Message(Role.USER, (Text(text),))))

    def add_reply(self, key: object, when: object, *blocks: Block, usage: Usage | None = None, reply: str = "") -> None:
        """A record of the model's reply; records with one `reply` id, or in a row without one, are one reply."""
        content = tuple(block for block in blocks if not isinstance(block, Text | Thinking) or _says(block))
        if not content and usage is None:
            return
        envelope = self._envelope(key, when)
        message_id = reply or f"{self.id}:reply:{self._reply}"
        message = Message(Role.ASSISTANT, content)
        self._last_reply = len(self._entries)
        self._append(AssistantEntry(envelope, message, message_id, model=self.model or None, usage=usage))

    def add_result(self, key: object, when: object, call: str, text: str, *, is_error: bool = False) -> None:
        """What a tool answered."""
        result = ToolResult(call, text, is_error=is_error)
        self._append(UserEntry(self._envelope(key, when), Message(Role.USER, (result,))))
        self._reply += 1

    def add_call(self, key: object, when: object, call: str, name: str, arguments: object, answer: str | None) -> None:
        """A tool call that the agent wrote together with its answer; None when it has none yet."""
        self.add_reply(key, when, ToolUse(call, name, as_input(arguments)))
        if answer is not None:
            self.add_result(f"{key}:result", when, call, answer)

    def add_usage(self, key: object, when: object, usage: Usage) -> None:
        """What the last reply used, where the agent writes that in a record of its own."""
        at = self._last_reply
        entry = self._entries[at] if at is not None else None
        if at is not None and isinstance(entry, AssistantEntry) and entry.usage is None:
            self._entries[at] = replace(entry, usage=usage)
        else:
            self._reply += 1
            self.add_reply(key, when, usage=usage)
        self._reply += 1

    def add_totals(self, key: object, when: object, model: str, usage: Usage) -> None:
        """What the whole session used, where the agent says no more; it counts for the cost and is not shown."""
        if usage != Usage():
            envelope = self._envelope(key, when)
            reply = AssistantEntry(envelope, Message(Role.ASSISTANT, ()), f"{envelope.uuid}:reply", model=model or None)
            self._append(replace(reply, usage=usage, is_error=True))

    def add_compaction(self, key: object, when: object, summary: str, *, trigger: str = "auto") -> None:
        """What came before is no longer sent to the model; the summary stands for it."""
        before = self.leaf
        envelope = replace(self._envelope(key, when), parent=None, logical_parent=before)
        self._append(BoundaryEntry(envelope, trigger))
        if summary.strip():
            message = Message(Role.USER, (Text(summary),))
            self._append(UserEntry(self._envelope(f"{key}:summary", when), message, is_summary=True))

    def add_unknown(self, kind: str, record: object) -> None:
        """Keep a record whose kind is not known."""
        self._unknown[kind] += 1
        self._entries.append(OtherEntry(kind, record if isinstance(record, bytes) else encode_json(record)))

    def read_lines(self, source: Path | Iterable[JsonLine]) -> Iterator[tuple[int, bytes, Fields]]:
        """The records of a file of JSON lines, or of its lines; a line that is no record is kept as unknown."""
        for number, line, record in read_json_lines(source) if isinstance(source, Path) else source:
            if record is None:
                self.add_unknown(BAD_LINE, line)
            else:
                yield number, line, record

    def rewind(self, turns: int) -> None:
        """Go on before the last so many messages of the user; what was said after that point stays as a branch."""
        for _ in range(min(turns, len(self._typed))):
            self.leaf = self._typed.pop()[1]

    def build(self) -> HostSession:
        return HostSession(
            agent=self._agent,
            id=self.id,
            path=self._path,
            entries=tuple(self._entries),
            title=self.title,
            cwd=self.cwd,
            git_branch=self.git_branch,
            version=self.version,
            is_subagent=self.is_subagent,
            parent=self.parent,
            unknown=dict(self._unknown),
        )

    def _envelope(self, key: object, when: object, *, is_meta: bool = False) -> Envelope:
        return Envelope(
            uuid=f"{self.id}:{key}",
            parent=self.leaf,
            session=self.id,
            timestamp=as_timestamp(when),
            cwd=self.cwd,
            git_branch=self.git_branch,
            version=self.version,
            is_sidechain=self.is_subagent or self.in_subagent,
            is_meta=is_meta,
        )

    def _append(self, entry: UserEntry | AssistantEntry | BoundaryEntry) -> None:
        self._entries.append(entry)
        if not self.in_subagent:
            self.leaf = entry.envelope.uuid
        if isinstance(entry, UserEntry) and not entry.envelope.is_meta:
            self._reply += 1


def read_json_lines(path: Path) -> Iterator[JsonLine]:
    """The lines of a file with their numbers; None for one that is not a JSON object."""
    with open_lines(path) as file:
        for number, line in enumerate(file):
            if line.strip():
                yield number, line, parse_object(line)


@contextmanager
def open_lines(path: Path) -> Iterator[IO[bytes]]:
    """A file of lines, also one that was compressed with Zstandard (`.zst`).

    Raises: `OSError` where it cannot be read, or the library for it is not installed.
    """
    if path.suffix != ".zst":
        with path.open("rb") as file:
            yield file
        return
    zstd = _import_zstd()
    try:
        with path.open("rb") as file, zstd.open(file, "rb") as reader:
            yield BufferedReader(reader)
    except zstd.ZstdError as problem:
        raise OSError(f"it is not a whole Zstandard file: {problem}") from problem


def _import_zstd() -> Any:
    """Python's own library since 3.14, before that the one of the extra `zstd`."""
    for name in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            return import_module(name)
    raise OSError("it is compressed; install the extra `zstd` of reverie to read it")


def read_object(path: Path) -> Fields:
    """A file that holds one JSON object; an empty one for anything else."""
    try:
        return parse_object(path.read_bytes()) or Fields()
    except OSError:
        return Fields()


def list_files(home: Path, *patterns: str) -> Iterator[Path]:
    """The files below a directory that match; a link that leads out of it is passed over."""
    root = home.resolve()
    for pattern in patterns:
        for path in sorted(home.glob(pattern)):
            if path.is_file() and path.resolve().is_relative_to(root):
                yield path


def list_session_files(home: Path, *patterns: str) -> Iterator[ListedSession]:
    """The files below a directory that match, as sessions; one that vanishes meanwhile is passed over."""
    for path in list_files(home, *patterns):
        with suppress(OSError):
            yield path, file_stamp(path)


def file_stamp(path: Path) -> SessionStamp:
    """The stamp of a session that is a file; raises `OSError` when it is gone."""
    status = path.stat()
    return SessionStamp(status.st_size, status.st_mtime_ns, status.st_ino)


def _says(block: Text | Thinking) -> bool:
    return bool((block.text if isinstance(block, Text) else block.thinking).strip())
