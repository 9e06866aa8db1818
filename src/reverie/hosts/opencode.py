"""Reads sessions of opencode: tables of its database, or the older tree of JSON files.

The database also holds accounts and credentials: only `session`, `message`, `part` and `project` are asked for.
What the user typed is a text part of a user message that is neither `synthetic` nor `ignored`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from reverie.hosts.database import list_columns, open_database
from reverie.hosts.session import (
    HostSession,
    ListedSession,
    SessionBuilder,
    SessionStamp,
    as_dict,
    as_list,
    as_text,
    as_tokens,
    list_files,
    list_session_files,
    parse_object,
    read_object,
)
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.message import Usage

AGENT = "opencode"

_PASSED_PARTS = frozenset(
    {"step-start", "step-finish", "snapshot", "patch", "retry", "file", "agent", "subtask", "compaction"}
)
"""Parts without words; a compaction is told by the reply that is its summary."""
_STAMPS = (
    "SELECT id, time_updated, (SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = session.id)"
    " FROM session WHERE ? IS NULL OR id = ? ORDER BY id"
)
_COLUMNS = ("directory", "title", "version", "parent_id")


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions of the databases below `~/.local/share/opencode`, and those of the older tree."""
    if home.is_file():  # named by OPENCODE_DB
        yield from list_in_database(home)
    for database in list_files(home, "opencode.db", "opencode-*.db"):
        yield from list_in_database(database)
    yield from list_session_files(home, "storage/session/*/ses_*.json", "project/*/storage/session/info/ses_*.json")


def list_in_database(database: Path, session: str | None = None) -> list[ListedSession]:
    """The sessions in a database, each as a path below it, or only one; none when it is not opencode's."""
    try:
        with open_database(database) as connection:
            if "directory" not in list_columns(connection, "session"):
                return []
            rows = connection.execute(_STAMPS, (session, session)).fetchall()
    except (sqlite3.Error, OSError):
        return []
    return [(database / str(key), SessionStamp(size, int(changed or 0) * 1_000_000)) for key, changed, size in rows]


def is_session(head: dict[str, Any], path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a JSON file with this content describes a session of the older tree."""
    return as_text(head.get("id")).startswith("ses_") and "time" in head


def read_session(path: Path) -> HostSession:
    """One session, from a database or from the tree."""
    session = SessionBuilder(AGENT, path, path.stem)
    if path.suffix == ".json":
        _read_tree(path, session)
    else:
        _read_database(path, session)
    return session.build()


def _read_database(path: Path, session: SessionBuilder) -> None:
    with open_database(path.parent) as connection:
        columns = [name for name in _COLUMNS if name in list_columns(connection, "session")]
        query = f"SELECT {', '.join(columns)} FROM session WHERE id = ?"  # noqa: S608 - names of this module
        row = connection.execute(query, (path.name,)).fetchone()
        if row is None:
            raise OSError(f"{path.parent} holds no session {path.name}")
        facts = dict(zip(columns, row, strict=True))
        parts: dict[str, list[dict[str, Any]]] = {}
        asked = "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id"
        for message, data in connection.execute(asked, (path.name,)):
            parts.setdefault(message, []).append(parse_object(data) or {})
        asked = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        messages = [(key, parse_object(data) or {}) for key, data in connection.execute(asked, (path.name,))]
    session.cwd = as_text(facts.get("directory"))
    session.title = as_text(facts.get("title"))
    session.version = as_text(facts.get("version"))
    session.parent = as_text(facts.get("parent_id"))
    session.is_subagent = bool(session.parent)
    for key, message in messages:
        _add_message(session, key, message, parts.get(key, []))


def _read_tree(path: Path, session: SessionBuilder) -> None:
    """The tree: `session/<project>/<session>.json`, `message/<session>/*.json`, `part/<message>/*.json` beside it."""
    facts = read_object(path)
    storage = path.parents[2]
    session.cwd = as_text(facts.get("directory"))
    session.title = as_text(facts.get("title"))
    session.version = as_text(facts.get("version"))
    session.parent = as_text(facts.get("parentID"))
    session.is_subagent = bool(session.parent)
    if not session.cwd:
        session.cwd = as_text(read_object(storage / "project" / f"{path.parent.name}.json").get("worktree"))
    for file in list_files(storage, f"message/{path.stem}/*.json", f"session/message/{path.stem}/*.json"):
        message = read_object(file)
        if not message:
            session.add_unknown("unreadable file", str(file))
            continue
        pattern = f"part/{file.stem}/*.json", f"session/part/{path.stem}/{file.stem}/*.json"
        stored = [read_object(part) for part in list_files(storage, *pattern)]
        _add_message(session, file.stem, message, stored or _inline_parts(message))


def _inline_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a message that holds them itself, in the words of those that lie apart."""
    if message.get("type") == "shell":
        state = {"status": "completed", "input": {"command": message.get("command")}, "output": message.get("output")}
        return [{"type": "tool", "tool": "shell", "callID": message.get("callID"), "state": state}]
    if isinstance(message.get("text"), str):
        return [{"type": "text", "text": message["text"]}]
    return [as_dict(part) for part in as_list(message.get("content"))]


def _add_message(session: SessionBuilder, key: str, message: dict[str, Any], parts: Iterable[dict[str, Any]]) -> None:
    role = as_text(message.get("role")) or as_text(message.get("type"))
    when = as_dict(message.get("time")).get("created")
    if role == "user":
        _add_prompt(session, key, when, parts)
    elif role in ("assistant", "shell"):
        _add_reply(session, key, when, message, parts)
    elif role == "system":
        session.add_injected(key, when, as_text(message.get("text")))
    elif role not in ("model-switched", "agent-switched"):
        session.add_unknown(f"message/{role}", message)


def _add_prompt(session: SessionBuilder, key: str, when: object, parts: Iterable[dict[str, Any]]) -> None:
    typed: list[str] = []
    for number, part in enumerate(parts):
        kind = as_text(part.get("type"))
        if kind == "text" and (part.get("synthetic") or part.get("ignored")):
            session.add_injected(f"{key}:{number}", when, as_text(part.get("text")))
        elif kind == "text":
            typed.append(as_text(part.get("text")))
        elif kind not in _PASSED_PARTS:
            session.add_unknown(f"part/{kind}", part)
    session.add_typed(key, when, _unquote("\n".join(typed)))


def _add_reply(
    session: SessionBuilder, key: str, when: object, message: dict[str, Any], parts: Iterable[dict[str, Any]]
) -> None:
    model = as_dict(message.get("model"))
    session.model = as_text(message.get("modelID")) or as_text(model.get("modelID")) or session.model
    blocks: list[Block] = []
    results: list[tuple[str, str, bool]] = []
    for number, part in enumerate(parts):
        kind = as_text(part.get("type"))
        if kind == "text":
            blocks.append(Text(as_text(part.get("text"))))
        elif kind == "reasoning":
            blocks.append(Thinking(as_text(part.get("text"))))
        elif kind == "tool":
            state = as_dict(part.get("state"))
            call = as_text(part.get("callID")) or as_text(part.get("id")) or f"{key}:{number}"
            blocks.append(ToolUse(call, as_text(part.get("tool") or part.get("name")), as_dict(state.get("input"))))
            if state.get("status") in ("completed", "error"):
                answer = as_text(state.get("output")) or as_text(state.get("error"))
                results.append((call, answer, state["status"] == "error"))
        elif kind not in _PASSED_PARTS:
            session.add_unknown(f"part/{kind}", part)
    if message.get("summary") is True:
        session.add_compaction(key, when, "\n".join(block.text for block in blocks if isinstance(block, Text)))
        blocks = []
    session.add_reply(f"{key}:reply", when, *blocks, usage=_usage(message), reply=key)
    for call, answer, is_error in results:
        session.add_result(call, when, call, answer, is_error=is_error)


def _usage(message: dict[str, Any]) -> Usage | None:
    tokens = as_dict(message.get("tokens"))
    cache = as_dict(tokens.get("cache"))
    output = as_tokens(tokens.get("output"), tokens.get("reasoning"))
    usage = Usage(as_tokens(tokens.get("input")), output, as_tokens(cache.get("read")), as_tokens(cache.get("write")))
    return usage if usage != Usage() else None


def _unquote(text: str) -> str:
    """A prompt of `opencode run`, which stores it in quotation marks."""
    bare = text.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1] else text
