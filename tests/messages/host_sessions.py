"""Sessions as another agent's program writes them: three exchanges, a compaction, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from reverie.messages.blocks import Json, JsonObject

SESSION = str(UUID(int=1, version=4))
VERSION = "2.1.325"


def uuid(number: int) -> str:
    return str(UUID(int=number, version=4))


@dataclass(frozen=True)
class Case:
    """What a compaction of such a session kept, how, and what that program sends when it resumes the session."""

    name: str
    metadata: JsonObject
    follows: int | None
    """Under which record the next exchange hangs: 8 is the summary, 6 the last record before the compaction."""
    sends: str
    """The words of the messages after the summary, as that program was seen to send them."""


def segment(head: int, tail: int) -> JsonObject:
    return {"preservedSegment": {"headUuid": uuid(head), "anchorUuid": uuid(8), "tailUuid": uuid(tail)}}


def listed(*kept: int, every: tuple[int, ...] = ()) -> JsonObject:
    ids: Json = [uuid(one) for one in kept]
    every_id: Json = [uuid(one) for one in every or kept]
    return {"preservedMessages": {"anchorUuid": uuid(8), "uuids": ids, "allUuids": every_id}}


CASES = (
    Case("nothing is kept", {}, 8, "nine ten"),
    Case("a run by its ends", segment(3, 6), 8, "three four five six nine ten"),
    Case("a run by its ends, followed under its last", segment(3, 6), 6, "three four five six nine ten"),
    Case("a list", listed(5, 6), 8, "five six nine ten"),
    Case("a list, followed under its last", listed(3, 4, 5, 6), 6, "three four five six nine ten"),
    Case("a list with gaps", listed(3, 6, every=(3, 4, 5, 6)), 8, "three six nine ten"),
    Case("a list and a run", {**segment(3, 6), **listed(3, 6)}, 8, "three six nine ten"),
    Case("a list at the end of the file", listed(3, 4, 5, 6), None, "three four five six"),
)


def records(case: Case, *, session: str = SESSION, cwd: str = "/p") -> list[JsonObject]:
    """The lines of such a session."""

    def record(kind: str, number: int, parent: int | None, **fields: Json) -> JsonObject:
        return {
            "parentUuid": None if parent is None else uuid(parent),
            "isSidechain": False,
            "userType": "external",
            "type": kind,
            **fields,
            "uuid": uuid(number),
            "timestamp": f"2026-11-16T10:00:{number:02d}.000Z",
            "cwd": cwd,
            "sessionId": session,
            "version": VERSION,
            "gitBranch": "HEAD",
        }

    def asks(number: int, parent: int | None, text: str, **fields: Json) -> JsonObject:
        return record("user", number, parent, message={"role": "user", "content": text}, **fields)

    def answers(number: int, parent: int, text: str) -> JsonObject:
        message: Json = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
        return record("assistant", number, parent, message=message, requestId=f"req_{number}")

    def says(number: int, parent: int, kind: str, text: str, role: str = "system") -> JsonObject:
        reminder = f"<system-reminder>\n{text}\n</system-reminder>"
        return record(
            "attachment", number, parent, attachment={"type": kind}, rendered=[{"content": reminder}], renderedRole=role
        )

    boundary = record(
        "system",
        7,
        None,
        subtype="compact_boundary",
        content="Conversation compacted",
        level="info",
        logicalParentUuid=uuid(6),
        compactMetadata={"trigger": "manual", "preTokens": 1000, **case.metadata},
    )
    lines = [asks(1, None, "one"), says(21, 1, "model", "You are powered by the model named Opus 5.5.")]
    lines += [answers(2, 21, "two"), asks(3, 2, "three"), answers(4, 3, "four"), asks(5, 4, "five")]
    lines += [answers(6, 5, "six"), boundary, asks(8, 7, "This session is being continued.", isCompactSummary=True)]
    if case.follows is not None:
        lines += [asks(9, case.follows, "nine"), says(22, 9, "environment", "Primary working directory: /elsewhere")]
        lines += [says(23, 22, "remote_session_change", "Co-Authored-By: Claude Opus 5.5", role="user")]
        lines += [says(24, 23, "file", "the file that was attached", role="user"), answers(10, 24, "ten")]
    return lines
