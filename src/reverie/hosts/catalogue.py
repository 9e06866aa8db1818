"""Which sessions other agents have on this machine, and reading any session by its path, whoever wrote it.

Listing needs each session read once; what was found is cached by the size and time of the session, so that a second
listing reads nothing. The cache is derived: safe to delete, ignored when damaged or written by another version.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, cast

from reverie.errors import Damaged, Error
from reverie.files import write_atomic
from reverie.files.places import Places
from reverie.files.places.transcripts import is_held_below, list_project_roots
from reverie.hosts import antigravity, cline, codex, copilot, cursor, gemini, goose, opencode, qwen
from reverie.hosts.fields import Fields, as_fields, as_timestamp, parse_object
from reverie.hosts.session import HostSession, ListedSession, SessionStamp, file_stamp, open_lines
from reverie.messages.codec import decode_json
from reverie.messages.entries import AssistantEntry, Entry, UserEntry
from reverie.messages.listing import Glance, is_prompt, read_glance, shorten_title
from reverie.messages.transcript import read_entries
from reverie.values import value


class SessionReader(Protocol):
    """What the module of an agent offers."""

    AGENT: str

    def list_sessions(self, home: Path) -> Iterator[ListedSession]:
        """The sessions in the agent's home; only files that hold sessions are looked at."""

    def list_in_database(self, database: Path, session: str | None = None) -> list[ListedSession]:
        """The sessions in a database of this agent, or one of them; only where the agent has databases."""

    def is_session(self, head: Fields, path: Path) -> bool:
        """Whether a file is the agent's, by its first record; the items of a JSON array stand under `items`."""

    def read_session(self, path: Path) -> HostSession:
        """One session; raises `OSError`, `ValueError` or `sqlite3.Error` when it cannot be read."""


_MODULES = (codex, copilot, opencode, qwen, gemini, antigravity, cline, goose, cursor)
READERS: Mapping[str, SessionReader] = {reader.AGENT: cast("SessionReader", reader) for reader in _MODULES}
"""The readers by the names of their agents."""

_DATABASE_READERS = (cast("SessionReader", opencode), cast("SessionReader", goose))
_FORMAT = 2
"""Version of the cache and of the readers: a change in what they find makes old rows invalid."""
_HEAD_BYTES = 4_000_000
"""The longest first record that is looked at; some hold the whole system prompt."""


def find_reader(path: Path) -> SessionReader | None:
    """The reader of the agent that wrote a session, told by its content; None for ours and for anything else."""
    if _is_in_database(path):
        readers = (reader for reader in _DATABASE_READERS if reader.list_in_database(path.parent, path.name))
        return next(readers, None)
    head = _read_head(path) if path.suffix in (".jsonl", ".json", ".zst") and path.is_file() else None
    return None if head is None else next((one for one in READERS.values() if one.is_session(head, path)), None)


def read_host_session(path: Path) -> HostSession | None:
    """A session of another agent; None when the file is not one of theirs.

    Raises `Damaged` when it is theirs and cannot be read.
    """
    reader = find_reader(path)
    try:
        return None if reader is None else reader.read_session(path)
    except (OSError, ValueError, sqlite3.Error) as problem:
        raise Damaged(
            f"{path} cannot be read as a session of another agent: {problem}; check that the file is complete",
            path=path,
        ) from None


def read_any_entries(path: Path) -> list[Entry]:
    """The entries of a session, ours or another agent's."""
    session = read_host_session(path)
    return read_entries(path) if session is None else list(session.entries)


def read_any_glance(path: Path) -> Glance | None:
    """A session at a glance, ours or another agent's; None for a file that holds none, or a sub-agent's."""
    try:
        session = read_host_session(path)
        if session is None:
            return read_glance(path)
        glance = _glance(session, read_stamp(path))
    except (Error, OSError):
        return None
    return None if glance.is_subagent or not glance.messages else glance


def is_session_path(path: Path) -> bool:
    """Whether a path names a file, or a session inside a database."""
    return path.is_file() or (_is_in_database(path) and find_reader(path) is not None)


def read_stamp(path: Path) -> SessionStamp:
    """What changes when a session changes; raises `OSError` when it is gone."""
    if not _is_in_database(path):
        return file_stamp(path)
    for reader in _DATABASE_READERS:
        for _, stamp in reader.list_in_database(path.parent, path.name):
            return stamp
    raise FileNotFoundError(f"no session at {path}")


def list_sessions_below(directory: Path) -> list[Path]:
    """The sessions of other agents in a home of theirs that somebody named, or in one of their databases."""
    if directory.is_file():
        return [path for reader in _DATABASE_READERS for path, _ in reader.list_in_database(directory)]
    return list(dict.fromkeys(path for reader in READERS.values() for path, _ in reader.list_sessions(directory)))


def list_host_glances(places: Places, agents: Iterable[str] = ()) -> list[Glance]:
    """The sessions of other agents on this machine, newest first, those of sub-agents among them.

    `agents` limits the list. A session that cannot be read now is left out, and tried again next time.
    """
    chosen = frozenset(agents) or frozenset(READERS)
    cache = places.caches / "agent-sessions.json"
    cached = _read_cache(cache)
    rows: dict[str, list[Any]] = {}
    glances: list[Glance] = []
    for agent in sorted(chosen & READERS.keys() & places.agents.keys()):
        listed = (one for home in places.agents[agent] for one in READERS[agent].list_sessions(home))
        for path, stamp in listed:
            row = cached.get(str(path))
            try:
                glance = _from_row(path, row, stamp) or _glance(READERS[agent].read_session(path), stamp)
            except (OSError, ValueError, sqlite3.Error):
                continue
            glances.append(glance)
            rows[str(path)] = row if row and row[0] == _stamp_text(stamp) else _to_row(glance, stamp)
    if any(cached.get(path) is not row for path, row in rows.items()):
        _write_cache(cache, cached | rows)
    return sorted(glances, key=lambda one: (one.updated, one.id), reverse=True)


@value
class UnreadRecords:
    """What of an agent's sessions was not understood: it may be newer than its reader."""

    agent: str
    kinds: Mapping[str, int]
    """Records of unknown kinds, by kind."""
    sessions: int = 0
    """Sessions that could not be read at all."""
    reason: str = ""
    """Why the first of them could not."""


def find_unread(places: Places) -> list[UnreadRecords]:
    """What is not understood in the sessions of other agents on this machine, for each agent with such."""
    kinds: dict[str, Counter[str]] = {}
    read: set[Path] = set()
    for glance in list_host_glances(places):
        read.add(glance.path)
        kinds.setdefault(glance.agent, Counter()).update(glance.unknown)
    unread: list[UnreadRecords] = []
    for agent in sorted(READERS.keys() & places.agents.keys()):
        listed = (path for home in places.agents[agent] for path, _ in READERS[agent].list_sessions(home))
        missing = [path for path in listed if path not in read]
        counts = kinds.get(agent, Counter())
        if counts or missing:
            reason = _find_reason(READERS[agent], missing[0]) if missing else ""
            unread.append(UnreadRecords(agent, dict(counts.most_common()), len(missing), reason))
    return unread


def _find_reason(reader: SessionReader, path: Path) -> str:
    try:
        reader.read_session(path)
    except (OSError, ValueError, sqlite3.Error) as problem:
        return f"{path}: {problem}"
    return ""


def list_project_glances(places: Places, directory: Path) -> list[Glance]:
    """The sessions of other agents that were held in the project around a directory, in any of its work trees."""
    if not places.agents:
        return []
    roots = list_project_roots(directory)
    return [glance for glance in list_host_glances(places) if is_held_below(glance.cwd, roots)]


def _glance(session: HostSession, stamp: SessionStamp) -> Glance:
    spoken = [entry for entry in session.entries if isinstance(entry, UserEntry | AssistantEntry)]
    replies = [entry for entry in spoken if isinstance(entry, AssistantEntry) and not entry.is_error]
    prompts = (entry.message.text for entry in spoken if isinstance(entry, UserEntry) and is_prompt(entry))
    times = [entry.envelope.timestamp for entry in spoken if entry.envelope.timestamp]
    usages = [entry.usage for entry in replies if entry.usage is not None]
    messages = sum(1 for entry in spoken if isinstance(entry, UserEntry) and not entry.envelope.is_meta)
    return Glance(
        id=session.id,
        path=session.path,
        title=shorten_title(session.title or next(prompts, "")),
        messages=len({entry.message_id for entry in replies}) + messages,
        is_estimate=False,
        tokens=usages[-1].context_tokens if usages else None,
        model=next((entry.model for entry in reversed(replies) if entry.model), None),
        updated=max(times, default=as_timestamp(stamp.changed_ns / 1e6)),
        created=min(times, default=""),
        cwd=session.cwd,
        git_branch=session.git_branch,
        size_bytes=stamp.size_bytes,
        agent=session.agent,
        is_subagent=session.is_subagent,
        parent=session.parent,
        unknown=session.unknown,
    )


def _is_in_database(path: Path) -> bool:
    return path.parent.suffix == ".db" and path.parent.is_file()


def _read_head(path: Path) -> Fields | None:
    """The first record of a file, or the whole of a JSON document."""
    try:
        with open_lines(path) as file:
            if path.suffix != ".json":
                return parse_object(file.readline(_HEAD_BYTES))
            document = decode_json(file.read())
            return Fields(items=document) if isinstance(document, list) else as_fields(document)
    except (OSError, ValueError):
        return None


def _stamp_text(stamp: SessionStamp) -> str:
    return f"{stamp.size_bytes}:{stamp.changed_ns}:{stamp.inode}"


def _to_row(glance: Glance, stamp: SessionStamp) -> list[Any]:
    return [_stamp_text(stamp), asdict(glance) | {"path": "", "unknown": dict(glance.unknown)}]


def _from_row(path: Path, row: list[Any] | None, stamp: SessionStamp) -> Glance | None:
    if row is None or row[0] != _stamp_text(stamp):
        return None
    return Glance(**row[1] | {"path": path})


def _read_cache(cache: Path) -> dict[str, list[Any]]:
    try:
        document = json.loads(cache.read_text(encoding="utf-8"))
        rows = document["sessions"] if document["format"] == _FORMAT else {}
        names = set(Glance.__match_args__)
        return {path: row for path, row in rows.items() if len(row) == 2 and row[1].keys() == names}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write_cache(cache: Path, rows: Mapping[str, list[Any]]) -> None:
    try:
        write_atomic(cache, json.dumps({"format": _FORMAT, "sessions": rows}), durable=False)
    except Error:
        # In a home that cannot be written the sessions are only read again next time.
        return
