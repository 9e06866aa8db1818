"""Converts entries to and from transcript lines, with the field names of existing agents, so that viewers open ours.

Reading never fails: a record of an unknown kind keeps its bytes as `OtherEntry` or `LinkEntry`, a line that is no
record becomes `BadLine`. An entry that was read is written back exactly as it came. Our own record kinds are `system`
records whose subtype starts with `reverie_`. What a message looks like inside a record is known by `codec`.
"""

# ruff: noqa: N815 -- the struct's fields carry the file's own names

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from reverie.messages.blocks import Block
from reverie.messages.codec import (
    as_count,
    as_object,
    block_to_wire,
    content_from_wire,
    decode_json,
    encode_json,
    message_to_wire,
    tool_from_wire,
    tool_to_wire,
    usage_from_wire,
    usage_to_wire,
)
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    BadLine,
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    Envelope,
    LinkEntry,
    MarkEntry,
    NotesEntry,
    OtherEntry,
    PromptEntry,
    SnipEntry,
    SpillDecision,
    SpillEntry,
    SystemBlock,
    TitleEntry,
    UserEntry,
)
from reverie.messages.message import Message, Role

CLEARED = "[Old tool result content cleared]"
"""What stands in place of a cleared result in files that do not say."""

SYNTHETIC_MODEL = "<synthetic>"
"""The model name of messages which a client made up, such as a shown API error."""

_CHAIN_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "last-prompt": "lastPrompt", "summary": "summary"}


class _Record(msgspec.Struct):
    """The fields of a line that we interpret; all others are skipped without being built."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    logicalParentUuid: str | None = None
    sessionId: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    version: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    agentId: str | None = None
    teamName: str | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    promptSource: str | None = None
    requestId: str | None = None
    forkedFrom: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    attachment: msgspec.Raw = msgspec.Raw()
    rendered: msgspec.Raw = msgspec.Raw()
    compactMetadata: msgspec.Raw = msgspec.Raw()
    microcompactMetadata: msgspec.Raw = msgspec.Raw()
    reverie: msgspec.Raw = msgspec.Raw()
    replacements: msgspec.Raw = msgspec.Raw()
    customTitle: str | None = None
    aiTitle: str | None = None
    lastPrompt: str | None = None
    summary: str | None = None


class _ApiMessage(msgspec.Struct):
    role: str | None = None
    content: Any = None
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


_decode_record = msgspec.json.Decoder(_Record, strict=True).decode
_decode_message = msgspec.json.Decoder(_ApiMessage).decode


def decode_line(line: bytes) -> Entry:
    """Read one line of a transcript. Never fails: what is no record becomes a `BadLine`."""
    try:
        record = _decode_record(line)
    except msgspec.ValidationError:
        return _misfit(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return BadLine(str(problem), line)
    except RecursionError:
        return BadLine("nested too deeply", line)
    if record.uuid is None or record.type not in _CHAIN_TYPES:
        return _beside_the_chain(record, line)
    envelope = _envelope(record, record.uuid)
    try:
        match record.type:
            case "user":
                return _user(record, envelope, line)
            case "assistant":
                return _assistant(record, envelope, line)
            case "attachment":
                return _attachment(record, envelope, line)
            case "system":
                return _system(record, envelope, line)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        pass
    return LinkEntry(envelope, record.type, line)


def encode_line(entry: Entry) -> bytes:
    """Write one line without its newline; an entry that was read is written as it came."""
    if entry.raw is not None:
        return entry.raw
    return encode_json(_wire(entry))


def decode_lines(data: bytes) -> Iterable[Entry]:
    """Read all lines of a file's content, empty ones left out."""
    for line in data.split(b"\n"):
        if line and not line.isspace():
            yield decode_line(line)


def _misfit(line: bytes) -> Entry:
    """A line that is JSON but not the record we expected: no object, or a field of another type."""
    try:
        value = decode_json(line)
    except ValueError as problem:
        return BadLine(str(problem), line)
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return OtherEntry(value["type"], line)
    return BadLine("not a record", line)


def _beside_the_chain(record: _Record, line: bytes) -> Entry:
    if record.type in _TITLES:
        text = getattr(record, _TITLES[record.type])
        return TitleEntry(record.type, text or "", line)
    if record.type == "content-replacement" and record.replacements:
        return SpillEntry(None, tuple(_foreign_replacements(decode_json(record.replacements))), line)
    if not record.type:
        return BadLine("a record without a type", line)
    return OtherEntry(record.type, line)


def _envelope(record: _Record, uuid: str) -> Envelope:
    return Envelope(
        uuid,
        record.parentUuid,
        record.sessionId or "",
        record.timestamp or "",
        record.cwd or "",
        record.gitBranch or "",
        record.version or "",
        bool(record.isSidechain),
        bool(record.isMeta),
        record.agentId,
        record.teamName,
        record.logicalParentUuid,
        bytes(record.forkedFrom) not in (b"", b"null"),
    )


def _user(record: _Record, envelope: Envelope, line: bytes) -> Entry:
    message = _decode_message(record.message)
    return UserEntry(
        envelope,
        Message(Role.USER, content_from_wire(message.content)),
        bool(record.isCompactSummary),
        record.promptSource,
        raw=line,
    )


def _assistant(record: _Record, envelope: Envelope, line: bytes) -> Entry:
    message = _decode_message(record.message)
    return AssistantEntry(
        envelope,
        Message(Role.ASSISTANT, content_from_wire(message.content)),
        message.id,
        record.requestId,
        message.model,
        message.stop_reason,
        None if message.usage is None else usage_from_wire(message.usage),
        bool(record.isApiErrorMessage) or message.model == SYNTHETIC_MODEL,
        line,
    )


def _attachment(record: _Record, envelope: Envelope, line: bytes) -> Entry:
    data = as_object(decode_json(record.attachment))
    rendered = decode_json(record.rendered) if record.rendered else []
    content: list[Block] = []
    for part in rendered if isinstance(rendered, list) else [rendered]:
        content.extend(content_from_wire(part["content"] if isinstance(part, dict) and "content" in part else part))
    kind = str(data.pop("type", ""))
    return AttachmentEntry(envelope, kind, tuple(content), data, line)


def _system(record: _Record, envelope: Envelope, line: bytes) -> Entry:
    match record.subtype:
        case "compact_boundary":
            return _boundary(as_object(decode_json(record.compactMetadata)), envelope, line)
        case "microcompact_boundary":
            metadata = as_object(decode_json(record.microcompactMetadata))
            return ClearEntry(
                envelope,
                tuple(map(str, metadata.get("compactedToolIds") or ())),
                CLEARED,
                str(metadata.get("trigger", "auto")),
                as_count(metadata.get("tokensSaved")),
                line,
            )
        case str() as subtype if subtype.startswith("reverie_"):
            return _ours(subtype, as_object(decode_json(record.reverie)), envelope, line)
        case other:
            return LinkEntry(envelope, f"system:{other}", line)


def _boundary(metadata: Mapping[str, Any], envelope: Envelope, line: bytes) -> BoundaryEntry:
    preserved = metadata.get("preservedMessages") or {}
    segment = metadata.get("preservedSegment") or {}
    # `allUuids` also names what the writer did not send again, so it is only the second choice.
    uuids = preserved.get("uuids") or preserved.get("allUuids") or ()
    keeps_run = not uuids and bool(segment.get("headUuid") and segment.get("tailUuid"))
    if keeps_run:
        uuids = (segment["headUuid"], segment["tailUuid"])
    return BoundaryEntry(
        envelope,
        str(metadata.get("trigger", "auto")),
        metadata.get("preTokens"),
        metadata.get("postTokens"),
        tuple(map(str, uuids)),
        preserved.get("anchorUuid") or segment.get("anchorUuid"),
        relinks="reverie" not in metadata,
        keeps_run=keeps_run,
        details=metadata,
        raw=line,
    )


def _ours(subtype: str, data: Mapping[str, Any], envelope: Envelope, line: bytes) -> Entry:
    match subtype:
        case "reverie_prompt":
            return PromptEntry(
                envelope,
                tuple(SystemBlock(block["text"], block["tier"]) for block in data["system"]),
                tuple(tool_from_wire(tool) for tool in data["tools"]),
                line,
            )
        case "reverie_snip":
            return SnipEntry(envelope, tuple(data["removed"]), data["digest"], data["freedTokens"], line)
        case "reverie_spill":
            return SpillEntry(
                envelope,
                tuple(
                    SpillDecision(
                        one["toolUseId"], one["preview"], one.get("path"), one.get("sha256"), one.get("sizeBytes")
                    )
                    for one in data["decisions"]
                ),
                line,
            )
        case "reverie_clear":
            return ClearEntry(
                envelope, tuple(data["toolUseIds"]), data["text"], data["trigger"], data["freedTokens"], line
            )
        case "reverie_collapse":
            return CollapseEntry(envelope, data["first"], data["last"], data["summary"], line)
        case "reverie_notes":
            return NotesEntry(envelope, data["covers"], data["tokens"], str(data.get("by", "")), line)
        case "reverie_mark":
            return MarkEntry(envelope, data["name"], data["data"], line)
        case _:
            return LinkEntry(envelope, f"system:{subtype}", line)


def _wire(entry: Entry) -> dict[str, Any]:
    match entry:
        case UserEntry():
            wire = _chain("user", entry.envelope)
            wire["message"] = message_to_wire(entry.message)
            if entry.is_summary:
                wire |= {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
            if entry.source is not None:
                wire["promptSource"] = entry.source
            if entry.tool_details is not None:
                wire["toolUseResult"] = dict(entry.tool_details)
            return wire
        case AssistantEntry():
            return _chain("assistant", entry.envelope) | _assistant_wire(entry)
        case AttachmentEntry():
            wire = _chain("attachment", entry.envelope)
            wire["attachment"] = {"type": entry.kind} | dict(entry.data)
            if entry.content:
                wire["rendered"] = [{"content": [block_to_wire(block) for block in entry.content]}]
                wire["renderedRole"] = "user"
            return wire
        case BoundaryEntry():
            wire = _chain("system", entry.envelope)
            wire |= {"subtype": "compact_boundary", "content": "Conversation compacted", "level": "info"}
            wire["compactMetadata"] = _boundary_wire(entry)
            return wire
        case PromptEntry():
            return _ours_wire("prompt", entry.envelope) | {
                "reverie": {
                    "system": [{"text": block.text, "tier": block.tier} for block in entry.system],
                    "tools": [tool_to_wire(tool) for tool in entry.tools],
                }
            }
        case SnipEntry():
            data: dict[str, Any] = {"removed": entry.removed, "digest": entry.digest, "freedTokens": entry.freed_tokens}
            return _ours_wire("snip", entry.envelope) | {"reverie": data}
        case SpillEntry():
            return _spill_wire(entry)
        case ClearEntry():
            data = {
                "toolUseIds": entry.tool_use_ids,
                "text": entry.text,
                "trigger": entry.trigger,
                "freedTokens": entry.freed_tokens,
            }
            return _ours_wire("clear", entry.envelope) | {"reverie": data}
        case CollapseEntry():
            data = {"first": entry.first, "last": entry.last, "summary": entry.summary}
            return _ours_wire("collapse", entry.envelope) | {"reverie": data}
        case NotesEntry():
            data = {"covers": entry.covers, "tokens": entry.tokens, "by": entry.by}
            return _ours_wire("notes", entry.envelope) | {"reverie": data}
        case MarkEntry():
            return _ours_wire("mark", entry.envelope) | {"reverie": {"name": entry.name, "data": entry.data}}
        case LinkEntry():
            kind, _, subtype = entry.kind.partition(":")
            return _chain(kind, entry.envelope) | ({"subtype": subtype} if subtype else {})
        case TitleEntry():
            return {"type": entry.kind, _TITLES[entry.kind]: entry.text}
        case OtherEntry() | BadLine():
            return {}


def _chain(kind: str, envelope: Envelope) -> dict[str, Any]:
    """The envelope in the order in which the format's own files have it."""
    wire: dict[str, Any] = {"parentUuid": envelope.parent}
    if envelope.logical_parent is not None:
        wire["logicalParentUuid"] = envelope.logical_parent
    wire |= {
        "isSidechain": envelope.is_sidechain,
        "userType": "external",
        "cwd": envelope.cwd,
        "sessionId": envelope.session,
        "version": envelope.version,
        "gitBranch": envelope.git_branch,
    }
    if envelope.agent_id is not None:
        wire["agentId"] = envelope.agent_id
    if envelope.team is not None:
        wire["teamName"] = envelope.team
    if envelope.is_meta:
        wire["isMeta"] = True
    return wire | {"type": kind, "uuid": envelope.uuid, "timestamp": envelope.timestamp}


def _ours_wire(name: str, envelope: Envelope) -> dict[str, Any]:
    return _chain("system", envelope) | {"subtype": f"reverie_{name}", "level": "info"}


def _assistant_wire(entry: AssistantEntry) -> dict[str, Any]:
    message: dict[str, Any] = {"id": entry.message_id, "type": "message", "role": "assistant", "model": entry.model}
    message["content"] = [block_to_wire(block) for block in entry.message.content]
    message |= {"stop_reason": entry.stop_reason, "stop_sequence": None}
    if entry.usage is not None:
        message["usage"] = usage_to_wire(entry.usage)
    wire: dict[str, Any] = {"message": message}
    if entry.request_id is not None:
        wire["requestId"] = entry.request_id
    if entry.is_error:
        wire["isApiErrorMessage"] = True
    return wire


def _boundary_wire(entry: BoundaryEntry) -> dict[str, Any]:
    wire: dict[str, Any] = dict(entry.details) | {"trigger": entry.trigger}
    if entry.pre_tokens is not None:
        wire["preTokens"] = entry.pre_tokens
    if entry.post_tokens is not None:
        wire["postTokens"] = entry.post_tokens
    if entry.kept and entry.anchor:
        segment = {"headUuid": entry.kept[0], "anchorUuid": entry.anchor, "tailUuid": entry.kept[-1]}
        wire["preservedSegment"] = segment
        if not entry.keeps_run:
            wire["preservedMessages"] = {"anchorUuid": entry.anchor, "uuids": entry.kept, "allUuids": entry.kept}
    if not entry.relinks:
        wire.setdefault("reverie", {})
    return wire


def _spill_wire(entry: SpillEntry) -> dict[str, Any]:
    decisions = [
        {
            "toolUseId": one.tool_use_id,
            "preview": one.preview,
            "path": one.path,
            "sha256": one.sha256,
            "sizeBytes": one.size_bytes,
        }
        for one in entry.decisions
    ]
    if entry.envelope is None:
        return {"type": "content-replacement", "replacements": decisions}
    return _ours_wire("spill", entry.envelope) | {"reverie": {"decisions": decisions}}


def _foreign_replacements(records: Any) -> Iterable[SpillDecision]:
    """What other writers recorded; the names of the fields are not documented, so the likely ones are tried."""
    for record in records if isinstance(records, list) else ():
        if not isinstance(record, dict):
            continue
        tool_use_id = record.get("toolUseId") or record.get("tool_use_id") or record.get("toolUseID")
        preview = record.get("replacement") or record.get("content") or record.get("preview")
        if isinstance(tool_use_id, str) and isinstance(preview, str):
            yield SpillDecision(tool_use_id, preview, record.get("path"), record.get("sha256"), record.get("sizeBytes"))
