"""Reads sessions of Goose: tables of its database; before version 1.10 one file of JSON lines each.

What was typed is text of role user that the user sees. A compaction hides old messages from the model and adds a
summary that the user does not see.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reverie.hosts.database import list_columns, open_database
from reverie.hosts.session import (
    BAD_LINE,
    HostSession,
    ListedSession,
    SessionBuilder,
    SessionStamp,
    as_dict,
    as_input,
    as_list,
    as_text,
    as_tokens,
    as_usage,
    join_texts,
    list_files,
    list_session_files,
    parse_object,
    read_json_lines,
)
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.codec import decode_json

AGENT = "goose"

_STAMPS = (
    "SELECT id, strftime('%s', updated_at),"
    " (SELECT coalesce(sum(length(content_json)), 0) FROM messages WHERE session_id = sessions.id)"
    " FROM sessions WHERE ? IS NULL OR id = ? ORDER BY id"
)
_FACTS = (
    *("name", "description", "working_dir", "session_type", "parent_session_id", "model_config_json", "updated_at"),
    *("accumulated_input_tokens", "accumulated_output_tokens"),
    *("accumulated_cache_read_tokens", "accumulated_cache_write_tokens"),
)
_PASSED = frozenset({"image", "redactedThinking", "systemNotification", "toolConfirmationRequest", "actionRequired"})


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions of the database below `~/.local/share/goose`, and the older files."""
    for database in list_files(home, "sessions/sessions.db", "data/sessions/sessions.db"):
        yield from list_in_database(database)
    yield from list_session_files(home, "sessions/*.jsonl", "data/sessions/*.jsonl")


def list_in_database(database: Path, session: str | None = None) -> list[ListedSession]:
    """The sessions in a database, each as a path below it, or only one; none when it is not Goose's."""
    try:
        with open_database(database) as connection:
            if "working_dir" not in list_columns(connection, "sessions"):
                return []
            rows = connection.execute(_STAMPS, (session, session)).fetchall()
    except (sqlite3.Error, OSError):
        return []
    return [(database / str(key), SessionStamp(size, int(changed or 0) * 10**9)) for key, changed, size in rows]


def is_session(head: dict[str, Any], path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is an older session."""
    return "working_dir" in head and "role" not in head and ("description" in head or "message_count" in head)


def read_session(path: Path) -> HostSession:
    """One session, from a database or from an older file."""
    session = SessionBuilder(AGENT, path, path.stem)
    if path.suffix == ".jsonl":
        for number, line, record in read_json_lines(path):
            if record is None:
                session.add_unknown(BAD_LINE, line)
            elif number == 0:
                session.cwd = as_text(record.get("working_dir"))
                session.title = as_text(record.get("description"))
            else:
                content = as_list(record.get("content"))
                _take(session, record.get("id") or number, record.get("created"), as_text(record.get("role")), content)
    else:
        _read_database(path, session)
    return session.build()


def _read_database(path: Path, session: SessionBuilder) -> None:
    with open_database(path.parent) as connection:
        columns = [name for name in _FACTS if name in list_columns(connection, "sessions")]
        query = f"SELECT {', '.join(columns)} FROM sessions WHERE id = ?"  # noqa: S608 - names of this module
        row = connection.execute(query, (path.name,)).fetchone()
        if row is None:
            raise OSError(f"{path.parent} holds no session {path.name}")
        asked = "SELECT id, role, content_json, created_timestamp, metadata_json FROM messages WHERE session_id = ?"
        messages = connection.execute(f"{asked} ORDER BY id", (path.name,)).fetchall()
    facts = dict(zip(columns, row, strict=True))
    session.cwd = as_text(facts.get("working_dir"))
    session.title = as_text(facts.get("name")) or as_text(facts.get("description"))
    session.model = as_text((parse_object(facts.get("model_config_json")) or {}).get("model_name"))
    session.parent = as_text(facts.get("parent_session_id"))
    session.is_subagent = bool(session.parent) or facts.get("session_type") == "sub_agent"
    is_compacted = False
    for key, role, content, when, metadata in messages:
        seen = parse_object(metadata) or {}
        is_compacted |= seen.get("agentVisible") is False
        try:
            parts = as_list(decode_json(content))
        except ValueError:
            session.add_unknown("message", content)
            continue
        if role == "user" and seen.get("userVisible") is False and not _has_results(parts):
            add = session.add_compaction if is_compacted else session.add_injected
            add(key, when, join_texts(parts))
            is_compacted = False
        else:
            _take(session, key, when, role, parts)
    accumulated = (facts.get(f"accumulated_{name}_tokens") for name in ("input", "cache_read", "cache_write"))
    prompt, read, written = accumulated
    usage = as_usage(prompt, as_tokens(facts.get("accumulated_output_tokens")), read, written)
    session.add_totals("totals", facts.get("updated_at"), session.model, usage)


def _has_results(parts: list[Any]) -> bool:
    return any(as_dict(part).get("type") == "toolResponse" for part in parts)


def _take(session: SessionBuilder, key: object, when: object, role: str, content: list[Any]) -> None:
    typed: list[str] = []
    blocks: list[Block] = []
    thoughts: list[str] = []
    for part in map(as_dict, content):
        kind = as_text(part.get("type"))
        if kind == "text" and role == "user":
            typed.append(as_text(part.get("text")))
        elif kind == "text":
            blocks.append(Text(as_text(part.get("text"))))
        elif kind in ("thinking", "reasoning"):
            thoughts.append(as_text(part.get("thinking")) or as_text(part.get("text")))
        elif kind == "toolRequest":
            call = as_dict(part.get("toolCall"))
            call = as_dict(call.get("value")) or call
            blocks.append(ToolUse(as_text(part.get("id")), as_text(call.get("name")), as_input(call.get("arguments"))))
        elif kind == "toolResponse":
            _add_response(session, key, when, part)
        elif kind not in _PASSED:
            session.add_unknown(f"content/{kind}", part)
    session.add_typed(key, when, "\n".join(typed))
    if role == "assistant":
        session.add_reply(key, when, Thinking("".join(thoughts)), *blocks, reply=f"{session.id}:{key}")


def _add_response(session: SessionBuilder, key: object, when: object, part: dict[str, Any]) -> None:
    call, result = as_text(part.get("id")), as_dict(part.get("toolResult"))
    value = result.get("value")
    text = join_texts(as_dict(value).get("content")) or join_texts(value) or as_text(result.get("error"))
    session.add_result(f"{key}:{call}", when, call, text, is_error=result.get("status") == "error")
