"""Reads sessions of Qwen Code: JSON lines in a tree, as in Claude Code, with messages in Gemini's parts.

What was typed is a user record by `real_user` (older versions do not say) without a subtype; where a hook added text,
`displayText` holds the prompt without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text, join_texts
from reverie.hosts.session import (
    HostSession,
    ListedSession,
    SessionBuilder,
    list_session_files,
)
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.message import Usage

AGENT = "qwen"

_HOOK_TEXT = "<qwen:user-prompt-submit-context>"
_PASSED = frozenset(
    {
        "attribution_snapshot",
        "ui_telemetry",
        "slash_command",
        "notification",
        "cron",
        "session_model",
        "file_history_snapshot",
        "goal_state",
        "at_command",
    }
)


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions below `~/.qwen`, those of sub-agents among them."""
    return list_session_files(home, "projects/*/chats/*.jsonl", "projects/*/subagents/*/agent-*.jsonl")


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is a session of Qwen Code."""
    is_theirs = "parts" in as_fields(head.get("message")) or "provenance" in head or "systemPayload" in head
    return {"uuid", "sessionId", "type"} <= head.keys() and is_theirs


def read_session(path: Path) -> HostSession:
    """One session."""
    session = SessionBuilder(AGENT, path, path.stem)
    session.is_subagent = path.parent.parent.name == "subagents"
    session.parent = path.parent.name if session.is_subagent else ""
    leaves: dict[str, str | None] = {}
    for _, line, record in session.read_lines(path):
        session.leaf = leaves.get(as_text(record.get("parentUuid")), session.leaf)
        _take(session, line, record)
        leaves[as_text(record.get("uuid"))] = session.leaf
    return session.build()


def _take(session: SessionBuilder, line: bytes, record: Fields) -> None:
    key, when, kind = record.get("uuid"), record.get("timestamp"), record.get("type")
    if not session.is_subagent:
        session.id = as_text(record.get("sessionId")) or session.id
    session.cwd = session.cwd or as_text(record.get("cwd"))
    session.version = as_text(record.get("version")) or session.version
    session.git_branch = as_text(record.get("gitBranch")) or session.git_branch
    session.in_subagent = record.get("isSidechain") is True and not session.is_subagent
    parts = [as_fields(part) for part in as_list(as_fields(record.get("message")).get("parts"))]
    if kind == "user":
        _add_prompt(session, record, parts)
    elif kind == "assistant":
        session.model = as_text(record.get("model")) or session.model
        session.add_reply(key, when, *map(_block, parts), usage=_usage(record), reply=as_text(key))
    elif kind == "tool_result":
        for number, answer in enumerate(as_fields(part.get("functionResponse")) for part in parts):
            response = as_fields(answer.get("response"))
            text = join_texts(response.get("output")) or join_texts(response.get("error"))
            is_error = "error" in response and "output" not in response
            session.add_result(f"{key}:{number}", when, as_text(answer.get("id")), text, is_error=is_error)
    elif kind == "system":
        _add_system(session, line, record, parts)
    else:
        session.add_unknown(str(kind), line)


def _add_prompt(session: SessionBuilder, record: Fields, parts: list[Fields]) -> None:
    key, when, payload = record.get("uuid"), record.get("timestamp"), as_fields(record.get("systemPayload"))
    texts = [as_text(part.get("text")) for part in parts]
    by_hooks = [text for text in texts if text.startswith(_HOOK_TEXT)]
    typed = "\n".join(text for text in texts if not text.startswith(_HOOK_TEXT))
    if isinstance(payload.get("hookContext"), str):
        typed = as_text(payload.get("displayText")) or typed
    session.add_injected(f"{key}:hooks", when, "\n".join(by_hooks))
    is_typed = record.get("provenance") in (None, "real_user") and not record.get("subtype")
    add = session.add_typed if is_typed or record.get("subtype") == "mid_turn_user_message" else session.add_injected
    add(key, when, typed)


def _add_system(session: SessionBuilder, line: bytes, record: Fields, parts: list[Fields]) -> None:
    key, when, payload = record.get("uuid"), record.get("timestamp"), as_fields(record.get("systemPayload"))
    match as_text(record.get("subtype")):
        case "chat_compression":
            history = [join_texts(as_fields(one).get("parts")) for one in as_list(payload.get("compressedHistory"))]
            session.add_compaction(key, when, "\n\n".join(filter(None, history)))
        case "custom_title":
            session.title = as_text(payload.get("customTitle")) or as_text(payload.get("title"))
        case "mid_turn_user_message":
            texts = (join_texts(payload.get(name)) for name in ("displayText", "text", "message", "content"))
            session.add_typed(key, when, join_texts(parts) or next(filter(None, texts), ""))
        case "rewind":
            pass  # the records that follow hang under the point that was gone back to
        case subtype if subtype not in _PASSED:
            session.add_unknown(f"system/{subtype}", line)


def _block(part: Fields) -> Block:
    call = as_fields(part.get("functionCall"))
    if call:
        return ToolUse(as_text(call.get("id")), as_text(call.get("name")), as_input(call.get("args")))
    text = as_text(part.get("text"))
    return Thinking(text) if part.get("thought") else Text(text)


def _usage(record: Fields) -> Usage | None:
    counts = as_fields(record.get("usageMetadata"))
    output = ("candidatesTokenCount", "thoughtsTokenCount")
    return counts.usage("promptTokenCount", output, "cachedContentTokenCount") if counts else None
