"""Reads sessions of Cline: a file of messages beside a manifest; before that, tasks of the VS Code extension.

Messages have the shape of the Messages API. Typed text stands in `<user_input>`, earlier in `<task>`, `<feedback>` or
`<user_message>`; Roo and Kilo keep their tasks in the same files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text, as_tokens, join_texts
from reverie.hosts.session import HostSession, ListedSession, SessionBuilder, list_session_files, read_object
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.codec import decode_json, encode_json
from reverie.messages.message import Usage

AGENT = "cline"

_TASK = "api_conversation_history.json"
_TYPED = re.compile(r"<(user_input|task|feedback|user_message)\b[^>]*>(.*?)</\1>", re.DOTALL)


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions below `~/.cline/data`, or the tasks of the extension below its storage."""
    return list_session_files(home, "sessions/*/*.messages.json", f"tasks/*/{_TASK}")


def is_session(head: Fields, path: Path) -> bool:
    """Whether a JSON file with this content holds messages of Cline."""
    if path.name == _TASK:
        return "items" in head
    return isinstance(head.get("messages"), list) and {"sessionId", "agent"} <= head.keys()


def read_session(path: Path) -> HostSession:
    """One session or task."""
    if path.name == _TASK:
        session = SessionBuilder(AGENT, path, path.parent.name)
        facts = _add_task_facts(session, path)
        messages = decode_json(path.read_bytes())
    else:
        document = read_object(path)
        session = SessionBuilder(AGENT, path, as_text(document.get("sessionId")) or path.name.partition(".")[0])
        _add_manifest(session, path.with_name(f"{path.name.removesuffix('.messages.json')}.json"))
        messages = document.get("messages")
    for number, message in enumerate(map(as_fields, as_list(messages))):
        _take(session, number, message)
    if path.name == _TASK:
        _add_task_totals(session, facts)
    return session.build()


def _add_manifest(session: SessionBuilder, path: Path) -> None:
    manifest = read_object(path)
    metadata = as_fields(manifest.get("metadata"))
    session.cwd = as_text(manifest.get("cwd")) or as_text(manifest.get("workspace_root"))
    session.title = as_text(metadata.get("title"))
    session.model = as_text(manifest.get("model"))
    session.version = as_text(as_fields(metadata.get("sessionHistoryOrigin")).get("version"))
    session.parent = as_text(manifest.get("parent_session_id"))
    session.is_subagent = bool(session.parent)


def _add_task_facts(session: SessionBuilder, path: Path) -> Fields:
    """What the list of tasks says: beside the task, or for all tasks together."""
    facts = read_object(path.with_name("history_item.json"))
    try:
        rows = decode_json((path.parents[2] / "state" / "taskHistory.json").read_bytes())
    except (OSError, ValueError):
        rows = []
    facts = next((row for row in map(as_fields, as_list(rows)) if row.get("id") == session.id), facts)
    session.cwd = as_text(facts.get("cwdOnTaskInitialization")) or as_text(facts.get("workspace"))
    session.title = as_text(facts.get("task"))
    session.model = as_text(facts.get("modelId"))
    return facts


def _add_task_totals(session: SessionBuilder, facts: Fields) -> None:
    written, read = as_tokens(facts.get("cacheWrites")), as_tokens(facts.get("cacheReads"))
    usage = Usage(as_tokens(facts.get("tokensIn")), as_tokens(facts.get("tokensOut")), read, written)
    session.add_totals("totals", facts.get("ts"), session.model, usage)


def _take(session: SessionBuilder, number: int, message: Fields) -> None:
    key, when, content = message.get("id") or number, message.get("ts"), message.get("content")
    blocks = [Fields(type="text", text=content)] if isinstance(content, str) else list(map(as_fields, as_list(content)))
    if message.get("role") == "assistant":
        model, counts = as_fields(message.get("modelInfo")), as_fields(message.get("metrics"))
        session.model = as_text(model.get("id")) or session.model
        names = ("inputTokens", ("outputTokens",), "cacheReadTokens", "cacheWriteTokens")
        usage = counts.usage(*names) if counts else None
        said = [block for block in map(_block, blocks) if block is not None]
        session.add_reply(key, when, *said, usage=usage, reply=f"{session.id}:{key}")
        return
    for place, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "tool_result":
            answer = block.get("content")
            text = join_texts(answer) or encode_json(answer).decode()
            call = as_text(block.get("tool_use_id"))
            session.add_result(f"{key}:{place}", when, call, text, is_error=block.get("is_error") is True)
        elif kind == "text":
            _add_prompt(session, f"{key}:{place}", when, as_text(block.get("text")))
        elif kind not in ("image", "document"):
            session.add_unknown(f"block/{kind}", block)


def _add_prompt(session: SessionBuilder, key: str, when: object, text: str) -> None:
    typed = [match[2].strip() for match in _TYPED.finditer(text)]
    if not typed and not text.lstrip().startswith(("<", "[")):
        session.add_typed(key, when, text)
        return
    session.add_injected(f"{key}:added", when, _TYPED.sub("", text))
    session.add_typed(key, when, "\n".join(typed))


def _block(block: Fields) -> Block | None:
    match block.get("type"):
        case "text":
            return Text(as_text(block.get("text")))
        case "thinking":
            return Thinking(as_text(block.get("thinking")) or as_text(block.get("text")))
        case "tool_use":
            return ToolUse(as_text(block.get("id")), as_text(block.get("name")), as_input(block.get("input")))
    return None
