"""Reads sessions of Goose: tables of its database; before version 1.10 one file of JSON lines each.

What was typed is text of role user that the user sees. A compaction hides old messages from the model and adds a
summary that the user does not see.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.database import list_stored, open_database, read_row
from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text, join_texts, parse_object
from reverie.hosts.session import HostSession, ListedSession, SessionBuilder, list_files, list_session_files
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.codec import decode_json

AGENT = "goose"

_STAMPS = (
    "SELECT id, strftime('%s', updated_at),"
    " (SELECT coalesce(sum(length(content_json)), 0) FROM messages WHERE session_id = sessions.id)"
    " FROM sessions WHERE ? IS NULL OR id = ? ORDER BY id"
)
_MESSAGES = (
    "SELECT id, role, content_json, created_timestamp, metadata_json FROM messages WHERE session_id = ? ORDER BY id"
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
    return list_stored(database, "sessions", "working_dir", _STAMPS, session, tick_ns=10**9)


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is an older session."""
    return "working_dir" in head and "role" not in head and ("description" in head or "message_count" in head)


def read_session(path: Path) -> HostSession:
    """One session, from a database or from an older file."""
    session = SessionBuilder(AGENT, path, path.stem)
    if path.suffix != ".jsonl":
        _read_database(path, session)
        return session.build()
    for number, _, record in session.read_lines(path):
        if number == 0:
            session.cwd, session.title = record.text("working_dir"), record.text("description")
        else:
            key = record.get("id") or number
            _take(session, key, record.get("created"), record.text("role"), record.each("content"))
    return session.build()


def _read_database(path: Path, session: SessionBuilder) -> None:
    with open_database(path.parent) as connection:
        facts = read_row(connection, "sessions", _FACTS, path)
        messages = connection.execute(_MESSAGES, (path.name,)).fetchall()
    session.cwd, session.title = facts.text("working_dir"), facts.text("name", "description")
    session.model = as_fields(parse_object(facts.get("model_config_json"))).text("model_name")
    session.parent = facts.text("parent_session_id")
    session.is_subagent = bool(session.parent) or facts.get("session_type") == "sub_agent"
    is_compacted = False
    for key, role, content, when, metadata in messages:
        seen = as_fields(parse_object(metadata))
        is_compacted |= seen.get("agentVisible") is False
        try:
            parts = as_list(decode_json(content))
        except ValueError:
            session.add_unknown("message", content)
            continue
        has_results = any(as_fields(part).get("type") == "toolResponse" for part in parts)
        if role == "user" and seen.get("userVisible") is False and not has_results:
            add = session.add_compaction if is_compacted else session.add_injected
            add(key, when, join_texts(parts))
            is_compacted = False
        else:
            _take(session, key, when, role, list(map(as_fields, parts)))
    names = [f"accumulated_{name}_tokens" for name in ("input", "output", "cache_read", "cache_write")]
    usage = facts.usage(names[0], names[1:2], *names[2:])
    session.add_totals("totals", facts.get("updated_at"), session.model, usage)


def _take(session: SessionBuilder, key: object, when: object, role: str, content: list[Fields]) -> None:
    typed: list[str] = []
    blocks: list[Block] = []
    thoughts: list[str] = []
    for part in content:
        kind = part.text("type")
        if kind == "text" and role == "user":
            typed.append(part.text("text"))
        elif kind == "text":
            blocks.append(Text(part.text("text")))
        elif kind in ("thinking", "reasoning"):
            thoughts.append(part.text("thinking", "text"))
        elif kind == "toolRequest":
            call = part.at("toolCall", "value") or part.at("toolCall")
            blocks.append(ToolUse(part.text("id"), call.text("name"), as_input(call.get("arguments"))))
        elif kind == "toolResponse":
            _add_response(session, key, when, part)
        elif kind not in _PASSED:
            session.add_unknown(f"content/{kind}", part)
    session.add_typed(key, when, "\n".join(typed))
    if role == "assistant":
        session.add_reply(key, when, Thinking("".join(thoughts)), *blocks, reply=f"{session.id}:{key}")


def _add_response(session: SessionBuilder, key: object, when: object, part: Fields) -> None:
    call, result = part.text("id"), part.at("toolResult")
    value = result.get("value")
    text = join_texts(as_fields(value).get("content")) or join_texts(value) or as_text(result.get("error"))
    session.add_result(f"{key}:{call}", when, call, text, is_error=result.get("status") == "error")
