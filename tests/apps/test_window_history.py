from __future__ import annotations

from reverie.apps.rows import GROUPS
from reverie.apps.window_history import list_reductions, window_history
from reverie.messages.blocks import Text, ToolResult, ToolUse
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    BoundaryEntry,
    ClearEntry,
    Entry,
    Envelope,
    UserEntry,
)
from reverie.messages.message import Usage, assistant, user
from reverie.settings import CacheSettings
from tests.requirements import requirement

MODEL = "claude-sonnet-4-5"


def envelope(number: int, minute: int = 0) -> Envelope:
    parent = f"u{number - 1}" if number else None
    return Envelope(f"u{number}", parent, "s", f"2026-04-01T10:{minute:02}:{number:02}.000Z")


def reply(number: int, read: int, written: int, *, minute: int = 0, block: ToolUse | None = None) -> AssistantEntry:
    usage = Usage(10, 5, read, written)
    content = assistant(Text("Yes.")) if block is None else assistant(block)
    return AssistantEntry(envelope(number, minute), content, f"m{number}", None, MODEL, "end_turn", usage)


@requirement("inspect:window")
def test_each_request_is_split_by_kind_and_adds_up() -> None:
    call = ToolUse("t1", "Read", {"file_path": "a.py"})
    entries: list[Entry] = [
        UserEntry(envelope(0), user("Where is the harbour?"), source="typed"),
        AttachmentEntry(envelope(1), "relevant_memories", (Text("The harbour is at the sea. " * 20),)),
        reply(2, 0, 5_000, block=call),
        UserEntry(envelope(3), user(ToolResult("t1", "line of code\n" * 500))),
        reply(4, 5_000, 4_000),
        ClearEntry(envelope(5), ("t1",), "[cleared]", freed_tokens=1_500),
        UserEntry(envelope(6), user("And now?"), source="typed"),
        reply(7, 1_000, 3_000),
        reply(8, 500, 3_500, minute=20),
    ]

    steps = window_history(entries, cache=CacheSettings())

    assert [sum(step.groups.values()) for step in steps] == [step.usage.context_tokens for step in steps]
    assert all(group in GROUPS for step in steps for group in step.groups)
    assert steps[0].groups["instructions and memories"] > 50
    assert steps[1].groups["tool results"] > 1_000
    assert steps[2].groups["tool results"] < 50
    assert [one.label for one in steps[2].reductions] == ["results cleared"]
    causes = [step.broken.cause if step.broken else None for step in steps]
    assert causes == [None, None, "announced: results cleared", "the cache had expired"]


@requirement("inspect:window")
def test_requests_before_a_compaction_are_shown_too() -> None:
    first = reply(1, 0, 9_000)
    entries: list[Entry] = [
        UserEntry(envelope(0), user("Where is the harbour?"), source="typed"),
        first,
        BoundaryEntry(
            Envelope("b", None, "s", "2026-04-01T10:05:00.000Z", logical_parent="u1"), "auto", 9_000, 100, anchor="c"
        ),
        UserEntry(Envelope("c", "b", "s", "2026-04-01T10:05:01.000Z"), user("A summary."), is_summary=True),
        AssistantEntry(
            Envelope("d", "c", "s", "2026-04-01T10:05:09.000Z"),
            assistant(Text("On.")),
            "m9",
            None,
            MODEL,
            "end_turn",
            Usage(10, 5, 0, 200),
        ),
    ]

    steps = window_history(entries, cache=CacheSettings())

    assert [step.id for step in steps] == ["m1", "m9"]
    assert steps[1].groups["summaries"] > 0
    assert [one.amount for one in list_reductions(entries)] == ["9,000 → 100 tokens"]
    assert steps[1].broken is not None
    assert steps[1].broken.cause == "announced: compaction (auto)"
