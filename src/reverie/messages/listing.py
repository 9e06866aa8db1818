"""Many sessions at a glance, from the first and last 64 KiB of each file (spec 8, listing metadata).

What can only be known by reading everything (exact number of messages, cost) is marked as an estimate or left to the
caller. Which folders to look in is the matter of `places`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reverie.messages.blocks import ToolResult
from reverie.messages.entries import AssistantEntry, Entry, TitleEntry, UserEntry, envelope_of
from reverie.messages.message import Usage
from reverie.messages.records import decode_line
from reverie.places.slug import names_folder_of

END_BYTES = 64 * 1024
"""How much of each end is read; titles and the last usage are written again near the end of a file."""

TITLE_CHARS = 200
"""Length to which a prompt is cut when it serves as a title (spec 8)."""

_LOOKED_AT = 20
"""How many sessions of a folder are asked where they were held."""
_TITLES = (b'"customTitle"', b'"aiTitle"', b'"lastPrompt"', b'"leafUuid"')
"""The fields of records that name a session, the best first; the last is that of a summary."""
_SPOKEN = (b'"type":"user"', b'"type":"assistant"', b'"type": "user"', b'"type": "assistant"')
"""How records of messages look in both spacings; inside a string the quotes would be escaped."""
_NOT_A_PROMPT = ("<command-", "<local-command", "<bash-", "<system-reminder>", "Caveat:", "[Request interrupted")


@dataclass(frozen=True, slots=True)
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
    usage: Usage | None = None


def list_glances(folders: Iterable[Path]) -> list[Glance]:
    """All sessions in these folders, newest first; sub-agents' files are passed over."""
    found = [glance for folder in folders for path in _transcripts(folder) if (glance := read_glance(path))]
    return sorted(found, key=lambda glance: (glance.updated, glance.id), reverse=True)


def read_glance(path: Path) -> Glance | None:
    """One session at a glance; None for a sub-agent's file, an empty one, or one without any message."""
    try:
        head, tail, size = _read_ends(path)
    except OSError:
        return None
    first_lines = _whole_lines(head, starts=True, ends=size <= len(head))
    opening = _opening(first_lines)
    if opening is None:
        return None
    last_lines = _whole_lines(tail, starts=False, ends=True) if tail else first_lines
    reply = _last_reply(last_lines) or _last_reply(first_lines)
    seen_bytes = len(head) + len(tail)
    spoken = sum(chunk.count(mark) for chunk in (head, tail) for mark in _SPOKEN)
    envelope = opening.envelope
    return Glance(
        id=path.stem,
        path=path,
        title=_title(head, tail) or _prompt(first_lines) or "",
        messages=spoken if seen_bytes >= size else round(spoken * size / seen_bytes),
        is_estimate=seen_bytes < size,
        tokens=reply.usage.context_tokens if reply and reply.usage else None,
        model=reply.model if reply else None,
        updated=_last_timestamp(last_lines) or envelope.timestamp,
        created=envelope.timestamp,
        cwd=envelope.cwd,
        git_branch=envelope.git_branch,
        size_bytes=size,
        usage=reply.usage if reply else None,
    )


def read_working_directory(folder: Path) -> str | None:
    """Where the sessions in a folder were held, as the newest says that was held where the folder's name says.

    A name may stand for several places, and a session that was brought from elsewhere speaks for itself alone.
    """
    newest = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    held: str | None = None
    for path in newest[:_LOOKED_AT]:
        glance = read_glance(path)
        if glance is not None and names_folder_of(folder.name, glance.cwd):
            return glance.cwd
        if path == newest[0] and glance is not None:
            held = glance.cwd
    return held


def _transcripts(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found if entry.name.endswith(".jsonl"))
    except OSError:
        return
    for name in names:
        if not name.startswith("agent-"):
            yield folder / name


def _read_ends(path: Path) -> tuple[bytes, bytes, int]:
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(END_BYTES) or b""
        if size <= len(head):
            return head, b"", size
        file.seek(max(len(head), size - END_BYTES))
        return head, file.read(END_BYTES) or b"", size


def _whole_lines(chunk: bytes, *, starts: bool, ends: bool) -> list[bytes]:
    lines = chunk.split(b"\n")
    if not starts and len(lines) > 1:
        lines = lines[1:]
    if not ends and len(lines) > 1:
        lines = lines[:-1]
    return [line for line in lines if line.strip()]


def _opening(lines: Iterable[bytes]) -> UserEntry | AssistantEntry | None:
    for line in lines:
        entry = decode_line(line)
        if isinstance(entry, UserEntry | AssistantEntry):
            return None if entry.envelope.is_sidechain else entry
    return None


def _last_reply(lines: list[bytes]) -> AssistantEntry | None:
    for line in reversed(lines):
        if b'"usage"' not in line or b'"assistant"' not in line:
            continue
        entry = decode_line(line)
        if isinstance(entry, AssistantEntry) and entry.usage is not None and not entry.is_error:
            return entry
    return None


def _title(head: bytes, tail: bytes) -> str | None:
    """The best title that either end holds; of two of one kind the later."""
    for mark in _TITLES:
        for chunk in (tail, head):
            for line in _lines_with(mark, chunk):
                entry = decode_line(line)
                if isinstance(entry, TitleEntry) and entry.text.strip():
                    return _one_line(entry.text)
    return None


def _lines_with(mark: bytes, chunk: bytes) -> Iterator[bytes]:
    """The lines that hold a mark, the last first, without looking at the others."""
    found = chunk.rfind(mark)
    while found >= 0:
        start = chunk.rfind(b"\n", 0, found) + 1
        end = chunk.find(b"\n", found)
        yield chunk[start : len(chunk) if end < 0 else end]
        found = chunk.rfind(mark, 0, start)


def _prompt(lines: Iterable[bytes]) -> str | None:
    """The first thing the user asked for."""
    for line in lines:
        if b'"user"' not in line:
            continue
        entry = decode_line(line)
        if isinstance(entry, UserEntry) and is_prompt(entry):
            return _one_line(entry.message.text)
    return None


def is_prompt(entry: Entry) -> bool:
    """Whether an entry holds words that the user typed for the model."""
    if not isinstance(entry, UserEntry) or entry.envelope.is_meta or entry.is_summary:
        return False
    if any(isinstance(block, ToolResult) for block in entry.message.content):
        return False
    text = entry.message.text.strip()
    return bool(text) and not text.startswith(_NOT_A_PROMPT)


def _last_timestamp(lines: list[bytes]) -> str | None:
    for line in reversed(lines):
        if b'"timestamp"' in line:
            envelope = envelope_of(decode_line(line))
            if envelope is not None and envelope.timestamp:
                return envelope.timestamp
    return None


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= TITLE_CHARS else flat[: TITLE_CHARS - 1].rstrip() + "…"
