"""A copy of a session under a new id, complete up to a chosen message.

All ids are new and every mention of an old one inside our own records follows; the copy says where it came from. The
original is only read.

A conversation that another program held is taken over without what that program said of itself (`from_host`): its
model, tools, agents, skills, instructions and the day. This program says its own, and two accounts would contradict
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.errors import UserMistake
from reverie.files import write_atomic
from reverie.messages import file_changes
from reverie.messages.codec import decode_json, encode_json
from reverie.messages.entries import BadLine, Entry, LinkEntry, TitleEntry, envelope_of, format_timestamp
from reverie.messages.records import decode_lines, encode_line

_LEFT_BEHIND = ("teamName", "agentName", "slug", "sourceToolAssistantUUID")
"""Fields that would carry the state of the original into the copy."""

_ABOUT_THE_HOST = frozenset(
    {
        "agent_listing_delta", "auto_mode", "auto_mode_exit", "command_permissions", "date", "date_change",
        "deferred_tools_delta", "dynamic_skill", "environment", "instructions", "mcp_instructions_delta", "model",
        "output_style", "plan_mode", "plan_mode_exit", "plan_mode_reentry", "prompt_snapshot", "remote_session_change",
        "session_context", "skill_listing", "task_reminder", "team_context", "thinking_stripped", "todo_reminder",
        "total_tokens_reminder",
    }
)  # fmt: skip
"""Attachments that tell of the program which holds a conversation, and nothing of the conversation."""

_HOLDS_IDS = ("reverie", "compactMetadata", "microcompactMetadata")
"""Fields in which ids of other entries are mentioned."""


def write_fork(
    path: Path,
    *,
    now: datetime,
    new_id: Callable[[], str],
    up_to: str | None = None,
    to: Path | None = None,
    from_host: bool = False,
) -> Path:
    """Copy a session beside itself, or to a path whose name is the new id, and return the path of the copy."""
    if not path.is_file():
        raise UserMistake(f"{path} is not a transcript; run `reverie sessions` for a list")
    entries = list(decode_lines(path.read_bytes()))
    session = new_id() if to is None else to.stem
    lines = fork_lines(
        entries, old_session=path.stem, session=session, now=now, new_id=new_id, up_to=up_to, from_host=from_host
    )
    copy = to or path.with_name(f"{session}.jsonl")
    write_atomic(copy, b"".join(line + b"\n" for line in lines), mode=0o600)
    return copy


def fork_lines(
    entries: Iterable[Entry],
    *,
    old_session: str,
    session: str,
    now: datetime,
    new_id: Callable[[], str],
    up_to: str | None = None,
    from_host: bool = False,
) -> list[bytes]:
    """The lines of the copy. Raises `UserMistake` when there is nothing to copy or `up_to` is not in the session."""
    chain = _main_conversation(entries)
    if up_to is not None:
        chain = _until(chain, up_to, old_session)
    if not chain:
        raise UserMistake(f"session {old_session} has no messages to fork")
    renamed = {uuid: new_id() for uuid, _ in chain}
    left_out = {uuid: record.get("parentUuid") for uuid, record in chain if _is_left_out(record, from_host=from_host)}
    lines = []
    for uuid, record in chain:
        if uuid in left_out:
            continue
        copy = {key: value for key, value in record.items() if key not in _LEFT_BEHIND}
        copy |= {
            "uuid": renamed[uuid],
            "parentUuid": renamed.get(_past(record.get("parentUuid"), left_out) or ""),
            "sessionId": session,
            "isSidechain": False,
            "forkedFrom": {"sessionId": old_session, "messageUuid": uuid},
        }
        if record.get("logicalParentUuid"):
            copy["logicalParentUuid"] = renamed.get(_past(record["logicalParentUuid"], left_out) or "")
        for key in _HOLDS_IDS:
            if key in copy:
                copy[key] = _rename_ids(copy[key], renamed)
        lines.append(encode_json(copy))
    lines.extend(_beside(entries, session, now, renamed))
    return lines


def _main_conversation(entries: Iterable[Entry]) -> list[tuple[str, dict[str, Any]]]:
    chain = []
    for entry in entries:
        envelope = envelope_of(entry)
        if envelope is not None and not envelope.is_sidechain:
            chain.append((envelope.uuid, decode_json(encode_line(entry))))
    return chain


def _until(chain: list[tuple[str, dict[str, Any]]], up_to: str, old_session: str) -> list[tuple[str, dict[str, Any]]]:
    for number, (uuid, _) in enumerate(chain):
        if uuid == up_to:
            return chain[: number + 1]
    raise UserMistake(f"message {up_to} is not in session {old_session}; run `reverie context` for a list")


def _is_left_out(record: Mapping[str, Any], *, from_host: bool) -> bool:
    if record.get("type") == "progress" or not from_host:
        return record.get("type") == "progress"
    if record.get("type") == "attachment":
        kind = record["attachment"].get("type") if isinstance(record.get("attachment"), dict) else ""
        return record.get("renderedRole") == "system" or kind in _ABOUT_THE_HOST
    return record.get("subtype") == "reverie_prompt"


def _past(parent: str | None, left_out: Mapping[str, str | None]) -> str | None:
    """The entry itself, or the next above it that the copy holds."""
    seen: set[str] = set()
    while parent is not None and parent in left_out and parent not in seen:
        seen.add(parent)
        parent = left_out[parent]
    return None if parent in seen else parent


def _rename_ids(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_rename_ids(part, names) for part in value]
    if isinstance(value, dict):
        return {key: _rename_ids(part, names) for key, part in value.items()}
    return value


def _beside(entries: Iterable[Entry], session: str, now: datetime, renamed: Mapping[str, str]) -> Iterable[bytes]:
    """Records outside the chain that the copy needs: what replaced stored results, which files were changed, and a
    title that says it is a copy.
    """
    title = None
    for entry in entries:
        if isinstance(entry, TitleEntry) and entry.kind in ("custom-title", "ai-title"):
            title = entry.text
        elif envelope_of(entry) is None and not isinstance(entry, BadLine | LinkEntry | TitleEntry):
            record = decode_json(encode_line(entry))
            if not isinstance(record, dict):
                continue
            if record.get("type") == "content-replacement":
                yield encode_json(record | {"sessionId": session, "timestamp": format_timestamp(now)})
            elif record.get("type") == file_changes.KIND and record.get("messageId") in renamed:
                yield encode_json(file_changes.rename_record(record, renamed))
    if title:
        yield encode_json({"type": "custom-title", "customTitle": f"{title} (fork)", "sessionId": session})
