"""`HostSession`: a session of another agent as entries of our own, the one form in which all commands read it.

A reader turns what its agent wrote into entries through `SessionBuilder`: what the user typed, what a program put in
their name (`is_meta`), replies with their usage, tool results, compactions. A record of a kind that the reader does not
know is kept as it came and counted, so that a new version of an agent is noticed instead of misread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from reverie.messages.blocks import Block, Text, Thinking, ToolResult, ToolUse
from reverie.messages.codec import decode_json, encode_json
from reverie.messages.entries import (
    AssistantEntry,
    BoundaryEntry,
    Entry,
    Envelope,
    OtherEntry,
    UserEntry,
    format_timestamp,
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


def read_json_lines(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    """The lines of a file with their numbers; None for one that is not a JSON object."""
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if line.strip():
                yield number, line, parse_object(line)


def parse_object(data: bytes | str | None) -> dict[str, Any] | None:
    """A JSON object, or None for anything else."""
    try:
        record = decode_json(data) if data else None
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def read_object(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object; an empty one for anything else."""
    try:
        return parse_object(path.read_bytes()) or {}
    except OSError:
        return {}


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


def as_dict(value: object) -> dict[str, Any]:
    """A JSON object where one is expected; empty for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A JSON array where one is expected; empty for anything else."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Text where text is expected; a number or nothing becomes empty."""
    return value if isinstance(value, str) else ""


def as_tokens(*counts: object) -> int:
    """The sum of token counts; what is not a count is nothing."""
    return sum(int(count) for count in counts if isinstance(count, int | float) and count > 0)


def as_usage(prompt: object, output: int, read: object = 0, written: object = 0) -> Usage:
    """Usage from a count of the prompt that includes what was read from and written to the cache."""
    cached, stored = as_tokens(read), as_tokens(written)
    total = as_tokens(prompt)
    return Usage(total - cached - stored if cached + stored <= total else total, output, cached, stored)


def as_input(value: object) -> dict[str, Any]:
    """The arguments of a tool call: an object, JSON text of one, or any text under `input`."""
    if isinstance(value, str):
        return parse_object(value) or ({"input": value} if value else {})
    return as_dict(value)


def as_timestamp(moment: object) -> str:
    """A moment as transcripts write it, from ISO text, seconds or milliseconds since 1970; empty when unknown."""
    try:
        if isinstance(moment, str) and moment:
            parsed = datetime.fromisoformat(moment)
            return format_timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
        if isinstance(moment, int | float) and moment > 0:
            return format_timestamp(datetime.fromtimestamp(moment / 1000 if moment > 1e11 else moment, UTC))
    except (ValueError, OverflowError, OSError):
        return ""
    return ""


def join_texts(parts: object, *, skip: Sequence[str] = ()) -> str:
    """The text of a message: a string, an object with `text`, or a list of either; `skip` names part kinds."""
    if isinstance(parts, dict):
        return as_text(parts.get("text"))
    if isinstance(parts, list):
        texts = (join_texts(part) for part in parts if not (isinstance(part, dict) and part.get("type") in skip))
        return "\n".join(filter(None, texts))
    return as_text(parts)


def _says(block: Text | Thinking) -> bool:
    return bool((block.text if isinstance(block, Text) else block.thinking).strip())
