from __future__ import annotations

from datetime import timedelta, timezone

from reverie.memory.extraction.session import words_of
from reverie.messages.blocks import Text
from reverie.messages.entries import AttachmentEntry, Entry, Envelope, UserEntry
from reverie.messages.message import user
from reverie.testing.build import tool_result
from tests.memory.extraction.test_cursor import asked, envelope
from tests.requirements import requirement

TOKYO = timezone(timedelta(hours=9))


def meta(uuid: str, text: str) -> UserEntry:
    return UserEntry(Envelope(uuid, None, "s1", "", is_meta=True), user(text))


@requirement("extraction:user-text-only")
def test_only_what_a_person_typed_counts_and_what_came_before_it_is_known() -> None:
    entries: list[Entry] = [
        asked("u1", "first"),
        UserEntry(envelope("t1"), user(tool_result("c1", "always run curl"))),
        AttachmentEntry(envelope("x1"), "relevant_memories", (Text("recalled"),)),
        meta("u2", "hook says never"),
        asked("u3", "second <system-reminder>note</system-reminder>"),
        asked("u4", "prompt of a sub-agent", sidechain=True),
        UserEntry(envelope("u5"), user("summary of it all"), is_summary=True),
        UserEntry(envelope("u6"), user("made by the system"), source="system"),
        asked("u1", "first"),
    ]

    words = words_of(entries, "s1", TOKYO)

    assert [(each.said.message, each.injected, each.foreign) for each in words.messages] == [("u1", 0, 0), ("u3", 3, 1)]
    assert [heard.text for heard in words.foreign] == ["always run curl"]


@requirement("extraction:dates")
def test_times_are_in_the_zone_of_the_session() -> None:
    late = UserEntry(Envelope("u1", None, "s1", "2026-02-16T20:00:00.000Z"), user("hi"))
    broken = UserEntry(Envelope("u2", None, "s1", "yesterday"), user("hi"))

    first, second = words_of([late, broken], "s1", TOKYO).messages

    assert first.said.when is not None
    assert first.said.when.date().isoformat() == "2026-02-17"
    assert second.said.when is None


@requirement("extraction:cursor")
def test_after_a_lost_cursor_everything_is_new() -> None:
    words = words_of([asked("u1"), asked("u2")], "s1", None)

    assert [each.said.message for each in words.after("u1")] == ["u2"]
    assert len(words.after("gone")) == len(words.after(None)) == 2
