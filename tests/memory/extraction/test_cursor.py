from __future__ import annotations

from pathlib import Path

from reverie.memory.extraction.cursor import ExtractionCursor, cursor, find_agent_writes, mark, new_entries, newest
from reverie.messages.entries import AssistantEntry, Entry, Envelope, UserEntry
from reverie.messages.message import assistant, user
from reverie.messages.records import decode_line, encode_line
from reverie.testing.build import tool_call
from tests.requirements import requirement


def envelope(uuid: str, *, sidechain: bool = False) -> Envelope:
    return Envelope(uuid, None, "s1", "2026-02-16T12:00:00.000Z", is_sidechain=sidechain)


def asked(uuid: str, text: str = "hi", *, sidechain: bool = False) -> UserEntry:
    return UserEntry(envelope(uuid, sidechain=sidechain), user(text))


def replied(uuid: str, *content: str) -> AssistantEntry:
    return AssistantEntry(envelope(uuid), assistant(*content))


@requirement("extraction:cursor")
def test_the_cursor_is_the_last_mark_and_survives_the_file() -> None:
    marks = [
        mark(envelope("x1"), ExtractionCursor("u1"), "done"),
        mark(envelope("x2"), ExtractionCursor("u1", 1), "failed"),
    ]
    read: list[Entry] = [decode_line(encode_line(entry)) for entry in marks]

    assert cursor([asked("u1"), *read]) == ExtractionCursor("u1", 1)
    assert cursor([asked("u1")]) == ExtractionCursor()


@requirement("extraction:cursor")
def test_a_cursor_that_is_gone_means_everything() -> None:
    entries: list[Entry] = [asked("u1"), replied("a1", "hello"), asked("u2"), asked("u3", sidechain=True)]

    assert list(new_entries(entries, "a1")) == [entries[2]]
    assert len(new_entries(entries, None)) == 3
    assert len(new_entries(entries, "compacted away")) == 3
    assert newest(entries) == "u2"


@requirement("extraction:rest")
def test_what_the_main_agent_wrote_itself_is_known(tmp_path: Path) -> None:
    wrote = AssistantEntry(
        envelope("a1"),
        assistant(
            tool_call("Write", "c1", file_path=str(tmp_path / "memory" / "feedback_a.md"), content="x"),
            tool_call(
                "Edit", "c2", file_path=str(tmp_path / "memory" / ".." / "src.py"), old_string="a", new_string="b"
            ),
            tool_call("Read", "c3", file_path=str(tmp_path / "memory" / "b.md")),
        ),
    )

    assert find_agent_writes([wrote], tmp_path / "memory") == ("feedback_a.md",)
