"""Lists many sessions quickly, from the first and last lines of each file.

64 KiB of each end usually tell everything; where a record is longer, or the first message lies further in, the file is
read on until it is found. What can only be known by reading everything (exact number of messages, cost) is marked as an
estimate or left to the caller. Which folders to look in is the matter of `places`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from io import FileIO
from itertools import chain
from pathlib import Path

from reverie.files.places.paths import names_folder_of
from reverie.messages.blocks import ToolResult
from reverie.messages.entries import AssistantEntry, Entry, TitleEntry, UserEntry, envelope_of
from reverie.messages.records import decode_line
from reverie.values import value

END_BYTES = 64 * 1024
"""How much of each end is read at first; titles and the last usage are written again near the end of a file."""

MAX_END_BYTES = 64 * 1024 * 1024
"""How far an end is read on at most: twice what a provider takes in one request."""

TITLE_CHARS = 200
"""Length to which a prompt is cut when it serves as a title."""

_EDGE_BYTES = 4096
_LOOKED_AT = 20
"""How many sessions of a folder are asked where they were held."""
_TITLES = (b'"customTitle"', b'"aiTitle"', b'"lastPrompt"', b'"leafUuid"')
"""The fields of records that name a session, the best first; the last is that of a summary."""
_SPOKEN = (b'"type":"user"', b'"type":"assistant"', b'"type": "user"', b'"type": "assistant"')
"""How records of messages look in both spacings; inside a string the quotes would be escaped."""
_OURS = b'"reverie_'
"""How the names of records begin that only this program writes."""
_NOT_A_PROMPT = ("<command-", "<local-command", "<bash-", "<system-reminder>", "Caveat:", "[Request interrupted")


@value
class Glance:
    """What the two ends of a session file tell."""

    id: str
    path: Path
    title: str
    messages: int
    is_estimate: bool
    """Whether `messages` was reckoned from the mean length of the lines seen."""
    tokens: int | None
    """The size of the last answered request."""
    model: str | None
    updated: str
    created: str
    cwd: str
    git_branch: str
    size_bytes: int
    agent: str = "claude-code"
    """Whose session it is: `reverie`, `claude-code`, `codex`, …"""
    is_subagent: bool = False
    """Started by another session; only listed for other agents, whose sub-agents have sessions of their own."""
    parent: str = ""
    """The session that started it, where the agent says so."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Records of kinds that the reader does not know, by kind."""


def list_glances(folders: Iterable[Path]) -> list[Glance]:
    """All sessions in these folders, newest first; sub-agents' files are passed over."""
    glances = [glance for folder in folders for path in _transcripts(folder) if (glance := read_glance(path))]
    return sorted(glances, key=lambda glance: (glance.updated, glance.id), reverse=True)


def read_glance(path: Path) -> Glance | None:
    """One session at a glance; None for a sub-agent's file, an empty one, or one without any message."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb", buffering=0) as file:
            return _glance(path, _Ends(file))
    except OSError:
        return None


def _glance(path: Path, ends: _Ends) -> Glance | None:
    lines = ends.first_lines()
    opening = _opening(lines)
    if opening is None:
        return None
    reply, updated = _last_reply(ends.last_lines())
    seen, seen_bytes = ends.seen()
    title = _title(seen) or _prompt(opening, lines)
    spoken = sum(chunk.count(mark) for chunk in seen for mark in _SPOKEN)
    envelope = opening.envelope
    return Glance(
        id=path.stem,
        path=path,
        title=title,
        messages=spoken if seen_bytes >= ends.size else round(spoken * ends.size / seen_bytes),
        is_estimate=seen_bytes < ends.size,
        tokens=reply.usage.context_tokens if reply and reply.usage else None,
        model=reply.model if reply else None,
        updated=updated or envelope.timestamp,
        created=envelope.timestamp,
        cwd=envelope.cwd,
        git_branch=envelope.git_branch,
        size_bytes=ends.size,
        agent="reverie" if any(_OURS in chunk for chunk in seen) else "claude-code",
    )


def read_working_directory(folder: Path) -> str | None:
    """Where the sessions in a folder were held, as the newest says that was held where the folder's name says.

    A name may stand for several places, and a session that was brought from elsewhere speaks for itself alone.
    """
    files = [path for path in folder.glob("*.jsonl") if path.is_file()]
    newest = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
    directory: str | None = None
    for path in newest[:_LOOKED_AT]:
        glance = read_glance(path)
        if glance is not None and names_folder_of(folder.name, glance.cwd):
            return glance.cwd
        if path == newest[0] and glance is not None:
            directory = glance.cwd
    return directory


def _transcripts(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(".jsonl"))
    except OSError:
        return
    for name in names:
        if not name.startswith("agent-"):
            yield folder / name


class _Ends:
    """The lines of a file from its beginning and from its end, read no further than they are asked for."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size
        self._head = self._read(0, min(self.size, END_BYTES))
        self._tail = b""
        if self.size > len(self._head):
            self._tail = self._read(max(len(self._head), self.size - END_BYTES), self.size)

    def seen(self) -> tuple[tuple[bytes, ...], int]:
        """What was read, first part first, each line once and long ones by their edges; and how much was read."""
        start = max(0, len(self._head) + len(self._tail) - self.size)
        parts = (self._head, self._tail[start:])
        return tuple(map(_cut_long_lines, parts)), sum(map(len, parts))

    def first_lines(self) -> Iterator[bytes]:
        """The lines from the first on."""
        at = 0
        while at < self.size:
            end = self._head.find(b"\n", at)
            if end < 0 and len(self._head) < self.size:
                if len(self._head) >= MAX_END_BYTES:
                    return
                # Each time twice as much, so that a long record is not looked through again and again.
                self._head += self._read(len(self._head), min(self.size, 2 * len(self._head)))
                continue
            end = end if end >= 0 else self.size
            yield self._head[at:end]
            at = end + 1

    def last_lines(self) -> Iterator[bytes]:
        """The lines from the last back to the first."""
        end = self.size
        while end > 0:
            start = self.size - len(self._tail)
            newline = self._tail.rfind(b"\n", 0, end - start)
            if newline < 0 and start > 0:
                if len(self._tail) >= MAX_END_BYTES:
                    return
                further = max(0, start - max(len(self._tail), END_BYTES))
                self._tail = self._read(further, start) + self._tail
                continue
            yield self._tail[newline + 1 : end - start]
            end = start + newline

    def _read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(end - start) or b""
        if len(data) < end - start:
            raise OSError(f"{self._file.name} is shorter than it was")
        return data


def _edges(line: bytes) -> bytes:
    """Both ends of a long line: there stands of what kind a record is, whoever wrote it; its content is in between."""
    return line if len(line) <= 2 * _EDGE_BYTES else line[:_EDGE_BYTES] + line[-_EDGE_BYTES:]


def _cut_long_lines(part: bytes) -> bytes:
    return part if len(part) <= END_BYTES else b"\n".join(map(_edges, part.split(b"\n")))


def _opening(lines: Iterable[bytes]) -> UserEntry | AssistantEntry | None:
    for line in lines:
        edges = _edges(line)
        if b'"user"' not in edges and b'"assistant"' not in edges:
            continue
        entry = decode_line(line)
        if isinstance(entry, UserEntry | AssistantEntry):
            return None if entry.envelope.is_sidechain else entry
    return None


def _last_reply(lines: Iterable[bytes]) -> tuple[AssistantEntry | None, str]:
    """The last answer with its usage, and when the last of all records was written."""
    updated = ""
    for line in lines:
        edges = _edges(line)
        if b'"assistant"' not in edges and (updated or b'"timestamp"' not in edges):
            continue
        if len(edges) < len(line) and b'"assistant"' not in edges:
            # Reading a long record only for its time would cost more than all the rest.
            updated = _time(edges)
            continue
        entry = decode_line(line)
        envelope = envelope_of(entry)
        updated = updated or (envelope.timestamp if envelope is not None else "")
        if isinstance(entry, AssistantEntry) and entry.usage is not None and not entry.is_error:
            return entry, updated
    return None, updated


def _time(edges: bytes) -> str:
    """What stands in the last field called `timestamp`; inside a string its quotes would be escaped."""
    parts = edges.rpartition(b'"timestamp"')[2].split(b'"', 2)
    return parts[1].decode("utf-8", "replace") if len(parts) > 2 else ""


def _title(parts: Sequence[bytes]) -> str | None:
    """The best title in what was read; of two of one kind the later."""
    for mark in _TITLES:
        for chunk in reversed(parts):
            for line in _lines_with(mark, chunk):
                entry = decode_line(line)
                if isinstance(entry, TitleEntry) and entry.text.strip():
                    return shorten_title(entry.text)
    return None


def _lines_with(mark: bytes, chunk: bytes) -> Iterator[bytes]:
    """The lines that hold a mark, the last first, without looking at the others."""
    position = chunk.rfind(mark) if mark in chunk else -1
    while position >= 0:
        start = chunk.rfind(b"\n", 0, position) + 1
        end = chunk.find(b"\n", position)
        yield chunk[start : len(chunk) if end < 0 else end]
        position = chunk.rfind(mark, 0, start)


def _prompt(opening: Entry, lines: Iterable[bytes]) -> str:
    """The first thing the user asked for: the first message, or in one of the lines that follow it."""
    later = (decode_line(line) for line in lines if b'"user"' in _edges(line))
    for entry in chain([opening], later):
        if isinstance(entry, UserEntry) and is_prompt(entry):
            return shorten_title(entry.message.text)
    return ""


def is_prompt(entry: Entry) -> bool:
    """Whether an entry holds words that the user typed for the model."""
    if not isinstance(entry, UserEntry) or entry.envelope.is_meta or entry.is_summary:
        return False
    if any(isinstance(block, ToolResult) for block in entry.message.content):
        return False
    text = entry.message.text.strip()
    return bool(text) and not text.startswith(_NOT_A_PROMPT)


def shorten_title(text: str) -> str:
    """A text as a title: one line, cut where it is too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= TITLE_CHARS else flat[: TITLE_CHARS - 1].rstrip() + "…"
