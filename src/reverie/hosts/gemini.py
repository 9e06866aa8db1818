"""Reads sessions of Gemini CLI: JSON lines, before April 2026 one JSON document.

Nothing is final line by line: a message with an id that was written before replaces it, `$set` may replace the whole
list, `$rewindTo` drops its end. What was typed is a user message without session context, hook text and tool answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reverie.hosts.session import (
    BAD_LINE,
    HostSession,
    ListedSession,
    SessionBuilder,
    as_dict,
    as_input,
    as_list,
    as_text,
    as_tokens,
    as_usage,
    join_texts,
    list_session_files,
    read_json_lines,
    read_object,
)
from reverie.messages.blocks import Text, Thinking, ToolUse

AGENT = "gemini"

_HOOK_TEXT = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)
_WORKSPACE = re.compile(r"Workspace Directories:\**\s*\n\s*- (.+)")
_INJECTED = (
    "<session_context>",
    "<state_snapshot>",
    "System: Please continue.",
    "You are an AI agent that brings the power of Gemini directly into the terminal.",
)
"""How messages begin that the program writes: the start of a session, the summary of a compression, a nudge, the
prompt behind `/init`."""


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions below `~/.gemini`, those of sub-agents among them."""
    chats = "tmp/*/chats"
    return list_session_files(home, f"{chats}/session-*.jsonl", f"{chats}/session-*.json", f"{chats}/*/*.jsonl")


def is_session(head: dict[str, Any], path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record, or whole content, is this is a session of Gemini CLI."""
    return {"sessionId", "projectHash"} <= head.keys()


def read_session(path: Path) -> HostSession:
    """One session."""
    session = SessionBuilder(AGENT, path, path.stem)
    earlier: list[list[dict[str, Any]]] = []
    if path.suffix == ".json":
        document = read_object(path)
        _add_facts(session, path, document)
        messages = [as_dict(one) for one in as_list(document.get("messages"))]
    else:
        earlier, messages = _read_lines(session, path)
    for number, part in enumerate(earlier):
        _add_messages(session, part)
        session.add_compaction(f"compaction:{number}", part[-1].get("timestamp"), "")
    _add_messages(session, messages)
    return session.build()


def _read_lines(session: SessionBuilder, path: Path) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The messages as they stand at the end, and before them those that a compression replaced."""
    earlier: list[list[dict[str, Any]]] = []
    messages: dict[str, dict[str, Any]] = {}
    for _, line, record in read_json_lines(path):
        if record is None:
            session.add_unknown(BAD_LINE, line)
        elif "$set" in record:
            change = as_dict(record["$set"])
            if isinstance(change.get("messages"), list):
                replaced = {as_text(as_dict(one).get("id")): as_dict(one) for one in change["messages"]}
                if messages.keys() - replaced.keys():
                    earlier.append(list(messages.values()))
                messages = replaced
            session.title = as_text(change.get("summary")) or session.title
        elif "$rewindTo" in record:
            ids, target = list(messages), as_text(record["$rewindTo"])
            kept = ids[: ids.index(target)] if target in messages else []
            messages = {key: messages[key] for key in kept}
        elif "id" in record and "type" in record:
            messages[as_text(record["id"])] = record
        elif "sessionId" in record:
            _add_facts(session, path, record)
        else:
            session.add_unknown(",".join(sorted(record)[:3]), line)
    return earlier, list(messages.values())


def _add_facts(session: SessionBuilder, path: Path, facts: dict[str, Any]) -> None:
    session.id = as_text(facts.get("sessionId")) or session.id
    session.title = as_text(facts.get("summary"))
    session.is_subagent = facts.get("kind") == "subagent"
    session.parent = path.parent.name if session.is_subagent else ""
    directories = as_list(facts.get("directories"))
    folder = path.parents[2] if session.is_subagent else path.parent.parent
    session.cwd = _read_root(folder, as_text(facts.get("projectHash"))) or (
        as_text(directories[0]) if directories else ""
    )


def _read_root(folder: Path, digest: str) -> str:
    """The project of a folder below `tmp`: as a file in it says, or the registry two levels above, or by its hash."""
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        projects = as_dict(read_object(folder.parent.parent / "projects.json").get("projects"))
    named = (root for root, short in projects.items() if short == folder.name or _hash(root) == digest)
    return next(named, "")


def _hash(root: str) -> str:
    return hashlib.sha256(root.encode()).hexdigest()


def _add_messages(session: SessionBuilder, messages: list[dict[str, Any]]) -> None:
    for message in messages:
        kind = message.get("type")
        if kind == "user":
            _add_prompt(session, message)
        elif kind == "gemini":
            _add_reply(session, message)
        elif kind not in ("info", "error", "warning"):
            session.add_unknown(f"message/{kind}", message)
        if not session.cwd and kind == "user":
            match = _WORKSPACE.search(join_texts(message.get("content")))
            session.cwd = match[1].strip() if match else ""


def _add_prompt(session: SessionBuilder, message: dict[str, Any]) -> None:
    key, when = message.get("id"), message.get("timestamp")
    sent = join_texts(message.get("content"))
    shown = join_texts(message.get("displayContent")) or sent
    typed = _HOOK_TEXT.sub("", shown).strip()
    if sent.strip().startswith(_INJECTED) or typed.startswith(_INJECTED):
        session.add_injected(key, when, sent)
        return
    session.add_injected(f"{key}:hooks", when, "\n".join(_HOOK_TEXT.findall(sent)))
    session.add_typed(key, when, typed)


def _add_reply(session: SessionBuilder, message: dict[str, Any]) -> None:
    key, when = message.get("id"), message.get("timestamp")
    session.model = as_text(message.get("model")) or session.model
    counts = as_dict(message.get("tokens"))
    output = as_tokens(counts.get("output"), counts.get("thoughts"))
    usage = as_usage(as_tokens(counts.get("input"), counts.get("tool")), output, counts.get("cached"))
    thoughts = (as_dict(one) for one in as_list(message.get("thoughts")))
    calls = [as_dict(one) for one in as_list(message.get("toolCalls"))]
    session.add_reply(
        key,
        when,
        Thinking("\n".join(f"{one.get('subject', '')}: {one.get('description', '')}" for one in thoughts)),
        Text(join_texts(message.get("content"))),
        *(ToolUse(as_text(one.get("id")), as_text(one.get("name")), as_input(one.get("args"))) for one in calls),
        usage=usage if counts else None,
        reply=as_text(key),
    )
    for call in calls:
        if "result" in call:
            answers = (as_dict(as_dict(one).get("functionResponse")).get("response") for one in as_list(call["result"]))
            text = "\n".join(
                join_texts(as_dict(one).get("output")) or join_texts(as_dict(one).get("error")) for one in answers
            )
            is_error = call.get("status") == "error"
            session.add_result(f"{key}:{call.get('id')}", when, as_text(call.get("id")), text, is_error=is_error)
