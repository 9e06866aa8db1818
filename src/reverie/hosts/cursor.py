"""Reads agent transcripts of Cursor: JSON lines that usually have no time, no model and no tool results.

Typed text stands in `<user_query>`. The directory of a project is known only by the name of its folder, in which every
other character became a dash: directories on this machine are tried. The databases of the editor are left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text, join_texts
from reverie.hosts.session import (
    BAD_LINE,
    HostSession,
    ListedSession,
    SessionBuilder,
    list_session_files,
    read_json_lines,
)
from reverie.messages.blocks import Block, Text, Thinking, ToolUse

AGENT = "cursor"

_TYPED = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_HIDDEN = "[REDACTED]"
_DIRECTORIES_TRIED = 2_000


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The transcripts below `~/.cursor`, those of sub-agents among them."""
    folder = "projects/*/agent-transcripts"
    return list_session_files(home, f"{folder}/*/*.jsonl", f"{folder}/*/subagents/*.jsonl", f"{folder}/*.jsonl")


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is a transcript of Cursor."""
    return {"role", "message"} <= head.keys() and not {"type", "uuid", "sessionId"} & head.keys()


def read_session(path: Path) -> HostSession:
    """One transcript."""
    session = SessionBuilder(AGENT, path, path.stem)
    session.is_subagent = path.parent.name == "subagents"
    session.parent = path.parent.parent.name if session.is_subagent else ""
    folder = next((one.parent.name for one in path.parents if one.name == "agent-transcripts"), "")
    session.cwd = find_directory(folder) if folder else ""
    lines = list(read_json_lines(path))
    has_queries = any(b"<user_query>" in line for _, line, _ in lines)
    calls: list[str] = []
    for number, line, record in lines:
        when = as_fields(record).get("timestamp") or as_fields(record).get("timestamp_ms")
        if record is None:
            session.add_unknown(BAD_LINE, line)
        elif record.get("role") == "user":
            session.cwd = as_text(record.get("cwd")) or session.cwd
            _add_prompt(session, calls, number, when, as_fields(record.get("message")).get("content"), has_queries)
        elif record.get("role") == "assistant":
            _add_reply(session, calls, number, when, as_fields(record.get("message")).get("content"))
        elif record.get("type") != "turn_ended":
            session.add_unknown(str(record.get("type") or record.get("role")), line)
    return session.build()


def find_directory(folder: str, root: Path = Path("/")) -> str:
    """The directory whose path becomes this name when each character but letters and digits becomes a dash."""
    pending, tried = [(root, folder)], 0
    while pending and tried < _DIRECTORIES_TRIED:
        directory, rest = pending.pop()
        tried += 1
        try:
            children = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        except OSError:
            continue
        for name in children:
            slug = re.sub(r"[^A-Za-z0-9]", "-", name).lstrip("-")
            if rest == slug:
                return str(directory / name)
            if slug and rest.startswith(f"{slug}-"):
                pending.append((directory / name, rest[len(slug) + 1 :].lstrip("-")))
    return ""


def _add_prompt(
    session: SessionBuilder, calls: list[str], number: int, when: object, content: object, has_queries: bool
) -> None:
    for place, part in enumerate(map(as_fields, as_list(content))):
        if part.get("type") == "tool_result":
            call = calls.pop(0) if calls else as_text(part.get("tool_use_id"))
            session.add_result(f"{number}:{place}", when, call, join_texts(part.get("content")))
    text = join_texts(content, skip=("tool_result",))
    queries = [query.strip() for query in _TYPED.findall(text)]
    if queries:
        session.add_injected(f"{number}:added", when, _TYPED.sub("", text))
        session.add_typed(number, when, "\n".join(queries))
    elif has_queries or text.lstrip().startswith("<"):
        session.add_injected(number, when, text)
    else:
        session.add_typed(number, when, text)


def _add_reply(session: SessionBuilder, calls: list[str], number: int, when: object, content: object) -> None:
    blocks: list[Block] = []
    calls.clear()
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    for place, part in enumerate(map(as_fields, parts)):
        kind, text = part.get("type"), as_text(part.get("text"))
        if kind == "text" and text != _HIDDEN:
            blocks.append(Text(text))
        elif kind == "thinking":
            blocks.append(Thinking(as_text(part.get("thinking"))))
        elif kind == "tool_use":
            calls.append(as_text(part.get("id")) or f"{session.id}:{number}:{place}")
            blocks.append(ToolUse(calls[-1], as_text(part.get("name")), as_input(part.get("input"))))
        elif kind != "text":
            session.add_unknown(f"block/{kind}", part)
    session.add_reply(number, when, *blocks, reply=f"{session.id}:{number}")
