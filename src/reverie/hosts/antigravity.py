"""Reads transcripts of Antigravity CLI and IDE: one JSON line per step.

Typed text stands in `<USER_REQUEST>`. Steps of tools do not name the call that they answer: they follow the order of
the calls. The databases beside them are opaque and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text
from reverie.hosts.session import (
    HostSession,
    ListedSession,
    SessionBuilder,
    list_session_files,
    read_json_lines,
)
from reverie.messages.blocks import Text, Thinking, ToolUse

AGENT = "antigravity"

_REQUEST = re.compile(r"<USER_REQUEST>(.*?)</USER_REQUEST>", re.DOTALL)


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The transcripts of the CLI and of the IDE below `~/.gemini`."""
    tail = "brain/*/.system_generated/logs/transcript.jsonl"
    return list_session_files(home, f"antigravity-cli/{tail}", f"antigravity/{tail}")


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is a transcript of Antigravity."""
    return {"step_index", "source", "type"} <= head.keys()


def read_session(path: Path) -> HostSession:
    """One conversation."""
    is_at_home = path.parent.parent.name == ".system_generated"
    session = SessionBuilder(AGENT, path, path.parents[2].name if is_at_home else path.stem)
    if is_at_home:
        _add_index(session, path.parents[4] / "history.jsonl")
    calls: list[str] = []
    for number, line, record in session.read_lines(path):
        _take(session, calls, number, line, record)
    return session.build()


def _add_index(session: SessionBuilder, index: Path) -> None:
    """Title and directory, from the list of all conversations."""
    try:
        rows = [as_fields(record) for _, _, record in read_json_lines(index)]
    except OSError:
        return
    for row in rows:
        if row.get("conversationId") == session.id:
            session.cwd = as_text(row.get("workspace")) or session.cwd
            session.title = session.title or as_text(row.get("display"))


def _take(session: SessionBuilder, calls: list[str], number: int, line: bytes, record: Fields) -> None:
    when, kind, content = record.get("created_at"), as_text(record.get("type")), as_text(record.get("content"))
    if kind == "USER_INPUT":
        typed = "\n".join(request.strip() for request in _REQUEST.findall(content))
        session.add_injected(f"{number}:added", when, _REQUEST.sub("", content))
        session.add_typed(number, when, typed)
    elif kind == "PLANNER_RESPONSE":
        uses = [
            ToolUse(f"{session.id}:{number}:{place}", as_text(call.get("name")), as_input(call.get("args")))
            for place, call in enumerate(map(as_fields, as_list(record.get("tool_calls"))))
        ]
        calls[:] = [use.id for use in uses]
        thoughts = Thinking(as_text(record.get("thinking")))
        session.add_reply(number, when, thoughts, Text(content), *uses, reply=f"{session.id}:{number}")
    elif kind == "CHECKPOINT":
        session.add_compaction(number, when, content)
    elif kind == "SYSTEM_MESSAGE":
        session.add_injected(number, when, content)
    elif record.get("source") == "MODEL":
        if not calls:
            calls.append(f"{session.id}:{number}")
            session.add_reply(f"{number}:call", when, ToolUse(calls[0], kind.lower(), {}))
        session.add_result(number, when, calls.pop(0), content, is_error=record.get("status") == "ERROR")
    elif kind != "CONVERSATION_HISTORY":
        session.add_unknown(kind, line)
