from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Text, ToolResult, ToolUse
from reverie.messages.chain import linearize
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    BoundaryEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    Envelope,
    PromptEntry,
    SnipEntry,
    SpillDecision,
    SpillEntry,
    SystemBlock,
    ToolSpec,
    UserEntry,
)
from reverie.messages.message import Message, Role, Usage, assistant, user
from reverie.messages.records import decode_line, encode_line
from reverie.messages.view import ItemKind, Projection, project
from tests.requirements import requirement
from tests.strategies import conversations


class Session:
    """Builds a session entry by entry, each hanging under the one before it."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.leaf: str | None = None

    def _envelope(self, uuid: str, *, root: bool = False) -> Envelope:
        parent, self.leaf = (None if root else self.leaf), uuid
        return Envelope(uuid, parent, "s1", "2026-11-01T10:00:00.000Z")

    def say(self, uuid: str, text: str) -> None:
        self.entries.append(UserEntry(self._envelope(uuid), user(text)))

    def reply(self, uuid: str, *content: str | ToolUse, usage: Usage | None = None) -> None:
        self.entries.append(AssistantEntry(self._envelope(uuid), assistant(*content), f"m-{uuid}", usage=usage))

    def answer(self, uuid: str, call: str, text: str) -> None:
        self.entries.append(UserEntry(self._envelope(uuid), user(ToolResult(call, text))))

    def add(self, make: object, uuid: str, *values: object, root: bool = False, **more: object) -> None:
        self.entries.append(make(self._envelope(uuid, root=root), *values, **more))  # type: ignore[operator]  # any entry class

    def seen(self) -> list[str]:
        return [item.uuid for item in project(self.entries).items]


@pytest.fixture
def session() -> Session:
    made = Session()
    made.say("u1", "read two files")
    made.reply("a1", ToolUse("t1", "Read", {}), ToolUse("t2", "Read", {}), usage=Usage(100))
    made.answer("r1", "t1", "first file")
    made.answer("r2", "t2", "second file")
    made.reply("a2", "both read", usage=Usage(200))
    return made


@requirement("messages:view:pure")
@given(conversations())
def test_entries_one_by_one_give_the_same_view_as_all_at_once(made: list[Entry]) -> None:
    projection = Projection()
    for entry in linearize(made):
        projection.extend([entry])

    assert projection.view() == project(made)


@requirement("messages:view:pure")
@given(conversations())
def test_the_view_is_the_same_after_a_round_trip_through_the_file(made: list[Entry]) -> None:
    again = [decode_line(encode_line(entry)) for entry in made]

    assert project(again) == project(made)
    assert project(made) == project(made)


@requirement("messages:view:boundary")
def test_after_a_boundary_the_summary_and_the_kept_entries_remain(session: Session) -> None:
    session.add(BoundaryEntry, "b1", "auto", kept=("r2", "a2"), anchor="s1", root=True)
    session.add(UserEntry, "s1", user("what happened so far"), is_summary=True)
    session.say("u2", "go on")

    view = project(session.entries)

    assert [item.uuid for item in view.items] == ["s1", "r2", "a2", "u2"]
    assert view.items[0].kind is ItemKind.SUMMARY
    assert view.leaf == "u2"


@requirement("messages:view:boundary")
def test_a_foreign_boundary_hangs_its_kept_tail_under_the_summary() -> None:
    session = Session()
    session.say("u1", "old")
    session.reply("a1", "older answer")
    session.say("u2", "kept question")
    session.reply("a2", "kept answer")
    session.add(BoundaryEntry, "b1", "manual", kept=("u2", "a2"), anchor="s1", relinks=True, root=True)
    session.add(UserEntry, "s1", user("summary"), is_summary=True)
    session.leaf = "a2"
    session.say("u3", "after")

    assert session.seen() == ["s1", "u2", "a2", "u3"]


@requirement("messages:view:branches")
def test_a_branch_from_before_a_boundary_shows_everything_again(session: Session) -> None:
    before = session.seen()
    session.add(BoundaryEntry, "b1", "auto", root=True)
    session.add(UserEntry, "s1", user("summary"), is_summary=True)
    assert session.seen() == ["s1"]

    session.leaf = "a2"
    session.say("u2", "back again")

    assert session.seen() == [*before, "u2"]
    assert [item.uuid for item in project(session.entries, leaf="r1").items][-1] == "r2"


@requirement("messages:view:replacements")
def test_a_spilled_result_shows_its_preview_and_the_entry_keeps_the_whole(session: Session) -> None:
    decisions = (SpillDecision("t1", "a part of it"), SpillDecision("t2", None))
    session.add(SpillEntry, "x1", decisions)
    session.say("u2", "go on")

    results = [result.text for item in project(session.entries).items for result in item.message.tool_results]

    assert results == ["a part of it", "second file"]
    assert "first file" in repr(session.entries)


@requirement("messages:view:replacements")
def test_a_decision_made_before_its_result_holds_too(session: Session) -> None:
    session.reply("a3", ToolUse("t3", "Bash", {}))
    session.add(SpillEntry, "x1", (SpillDecision("t3", "preview"),))
    session.answer("r3", "t3", "the whole output")

    assert project(session.entries).items[-1].message.tool_results[0].text == "preview"


@requirement("messages:view:replacements")
def test_decisions_stay_with_what_is_kept_and_leave_with_what_is_not(session: Session) -> None:
    session.add(SpillEntry, "x1", (SpillDecision("t1", None), SpillDecision("t2", "preview")))
    assert Projection().extend(session.entries).view().decided == {"t1", "t2"}

    session.add(BoundaryEntry, "b1", "auto", kept=("r2", "a2"), anchor="s1", root=True)
    session.add(UserEntry, "s1", user("what happened so far"), is_summary=True)
    assert Projection().extend(session.entries).view().decided == {"t2"}


@requirement("messages:view:replacements")
def test_cleared_results_stay_as_answers_without_content(session: Session) -> None:
    session.add(ClearEntry, "x1", ("t1",), "[cleared]")
    session.say("u2", "go on")

    view = project(session.entries)

    assert [result.text for item in view.items for result in item.message.tool_results] == ["[cleared]", "second file"]
    assert view.reduced_after == "a2"


@requirement("messages:view:replacements")
def test_a_snip_leaves_a_digest_in_its_place(session: Session) -> None:
    session.say("u2", "next task")
    session.add(SnipEntry, "x1", ("a1", "r1", "r2", "a2"), "four messages left out", 80)

    view = project(session.entries)

    assert [(item.uuid, item.kind) for item in view.items] == [
        ("u1", ItemKind.TYPED),
        ("x1", ItemKind.FOLD),
        ("u2", ItemKind.TYPED),
    ]
    assert view.items[1].message == user("four messages left out")


@requirement("messages:view:replacements")
def test_a_collapsed_span_is_one_summary(session: Session) -> None:
    session.add(CollapseEntry, "x1", "a1", "r2", "two files were read")
    session.say("u2", "go on")

    assert session.seen() == ["u1", "x1", "a2", "u2"]


@requirement("messages:view:replacements")
def test_a_collapse_whose_ends_are_gone_changes_nothing(session: Session) -> None:
    before = session.seen()
    session.add(CollapseEntry, "x1", "a1", "gone", "never shown")

    assert session.seen() == before


@requirement("messages:view:pure")
def test_system_text_and_tools_are_those_rendered_last(session: Session) -> None:
    session.add(PromptEntry, "p1", (SystemBlock("old"),), ())
    session.add(PromptEntry, "p2", (SystemBlock("new"),), (ToolSpec("Read"),))
    session.say("u2", "go on")

    view = project(session.entries)

    assert view.system == (SystemBlock("new"),)
    assert view.tools == (ToolSpec("Read"),)


@requirement("messages:view:pure")
def test_an_attachment_is_shown_as_it_was_rendered(session: Session) -> None:
    session.add(AttachmentEntry, "x1", "date_change", (Text("It is Tuesday."),))

    view = project(session.entries)

    assert view.items[-1].label == "date_change"
    assert view.messages[-1] == user("It is Tuesday.")


def test_an_error_that_a_client_showed_is_not_sent(session: Session) -> None:
    session.entries.append(
        AssistantEntry(Envelope("e1", "a2", "s1", ""), assistant("API Error: overloaded"), is_error=True)
    )

    assert session.seen()[-1] == "a2"


@requirement("messages:view:pure")
@given(conversations(), st.data())
def test_projecting_changes_no_entry(made: list[Entry], data: st.DataObject) -> None:
    before = [replace(entry) if not isinstance(entry, tuple) else entry for entry in made]
    results = [
        block.tool_use_id
        for entry in made
        if isinstance(entry, UserEntry)
        for block in entry.message.content
        if isinstance(block, ToolResult)
    ]
    chosen = data.draw(st.lists(st.sampled_from(results), unique=True)) if results else []
    last = made[-1]
    assert isinstance(last, UserEntry | AssistantEntry)
    clear = ClearEntry(Envelope("x", last.envelope.uuid, "s1", ""), tuple(chosen), "[cleared]")

    view = project([*made, clear])

    assert made == before
    shown = {r.tool_use_id: r.text for item in view.items for r in item.message.tool_results}
    assert {call for call, text in shown.items() if text == "[cleared]"} >= set(chosen)
    assert all(message.role in Role for message in view.messages)
    assert Message(Role.USER, ()) not in view.messages
