"""Reads sessions of Gemini CLI: JSON lines, before April 2026 one JSON document.

Nothing is final line by line: a message with an id that was written before replaces it, `$set` may replace the whole
list, `$rewindTo` drops its end. What was typed is a user message without session context, hook text and tool answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text, join_texts
from reverie.hosts.session import HostSession, ListedSession, SessionBuilder, list_session_files, read_object
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


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record, or whole content, is this is a session of Gemini CLI."""
    return {"sessionId", "projectHash"} <= head.keys()


def read_session(path: Path) -> HostSession:
    """One session."""
    session = SessionBuilder(AGENT, path, path.stem)
    earlier: list[list[Fields]] = []
    if path.suffix == ".json":
        document = read_object(path)
        _add_facts(session, path, document)
        messages = document.each("messages")
    else:
        earlier, messages = _read_lines(session, path)
    for number, part in enumerate(earlier):
        _add_messages(session, part)
        session.add_compaction(f"compaction:{number}", part[-1].get("timestamp"), "")
    _add_messages(session, messages)
    return session.build()


def _read_lines(session: SessionBuilder, path: Path) -> tuple[list[list[Fields]], list[Fields]]:
    """The messages as they stand at the end, and before them those that a compression replaced."""
    earlier: list[list[Fields]] = []
    messages: dict[str, Fields] = {}
    for _, line, record in session.read_lines(path):
        if "$set" in record:
            change = record.at("$set")
            if isinstance(change.get("messages"), list):
                replaced = {message.text("id"): message for message in change.each("messages")}
                if messages.keys() - replaced.keys():
                    earlier.append(list(messages.values()))
                messages = replaced
            session.title = change.text("summary") or session.title
        elif "$rewindTo" in record:
            ids, target = list(messages), record.text("$rewindTo")
            kept = ids[: ids.index(target)] if target in messages else []
            messages = {key: messages[key] for key in kept}
        elif "id" in record and "type" in record:
            messages[record.text("id")] = record
        elif "sessionId" in record:
            _add_facts(session, path, record)
        else:
            session.add_unknown(",".join(sorted(record)[:3]), line)
    return earlier, list(messages.values())


def _add_facts(session: SessionBuilder, path: Path, facts: Fields) -> None:
    session.id = facts.text("sessionId") or session.id
    session.title = facts.text("summary")
    session.is_subagent = facts.get("kind") == "subagent"
    session.parent = path.parent.name if session.is_subagent else ""
    folder = path.parents[2] if session.is_subagent else path.parent.parent
    named = (as_text(directory) for directory in as_list(facts.get("directories")))
    session.cwd = _read_root(folder, facts.text("projectHash")) or next(named, "")


def _read_root(folder: Path, digest: str) -> str:
    """The project of a folder below `tmp`: as a file in it says, or the registry two levels above, or by its hash."""
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        projects = read_object(folder.parent.parent / "projects.json").at("projects")
    hashes = ((root, short, hashlib.sha256(root.encode()).hexdigest()) for root, short in projects.items())
    return next((root for root, short, hashed in hashes if short == folder.name or hashed == digest), "")


def _add_messages(session: SessionBuilder, messages: list[Fields]) -> None:
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


def _add_prompt(session: SessionBuilder, message: Fields) -> None:
    key, when = message.get("id"), message.get("timestamp")
    sent = join_texts(message.get("content"))
    typed = _HOOK_TEXT.sub("", join_texts(message.get("displayContent")) or sent).strip()
    if sent.strip().startswith(_INJECTED) or typed.startswith(_INJECTED):
        session.add_injected(key, when, sent)
        return
    session.add_injected(f"{key}:hooks", when, "\n".join(_HOOK_TEXT.findall(sent)))
    session.add_typed(key, when, typed)


def _add_reply(session: SessionBuilder, message: Fields) -> None:
    key, when, calls = message.get("id"), message.get("timestamp"), message.each("toolCalls")
    session.model = message.text("model") or session.model
    counts = message.at("tokens")
    thoughts = (f"{one.get('subject', '')}: {one.get('description', '')}" for one in message.each("thoughts"))
    session.add_reply(
        key,
        when,
        Thinking("\n".join(thoughts)),
        Text(join_texts(message.get("content"))),
        *(ToolUse(call.text("id"), call.text("name"), as_input(call.get("args"))) for call in calls),
        usage=counts.usage(("input", "tool"), ("output", "thoughts"), "cached") if counts else None,
        reply=as_text(key),
    )
    for call in calls:
        if "result" in call:
            answers = (as_fields(one).at("functionResponse", "response") for one in call.each("result"))
            text = "\n".join(join_texts(one.get("output")) or join_texts(one.get("error")) for one in answers)
            is_error = call.get("status") == "error"
            session.add_result(f"{key}:{call.get('id')}", when, call.text("id"), text, is_error=is_error)
