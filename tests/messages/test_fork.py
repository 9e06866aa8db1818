from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given

from reverie.errors import UserMistake
from reverie.messages.codec import decode_json
from reverie.messages.entries import (
    BoundaryEntry,
    CollapseEntry,
    Entry,
    Envelope,
    LinkEntry,
    SnipEntry,
    UserEntry,
    envelope_of,
)
from reverie.messages.fork import fork_lines, write_fork
from reverie.messages.message import user
from reverie.messages.records import decode_line, encode_line
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from tests.requirements import requirement
from tests.strategies import conversations

NOW = datetime(2026, 11, 1, 10, tzinfo=UTC)


def forked(entries: list[Entry], up_to: str | None = None) -> list[Entry]:
    numbers = itertools.count()
    lines = fork_lines(
        entries, old_session="s1", session="s2", now=NOW, new_id=lambda: f"n{next(numbers)}", up_to=up_to
    )
    return [decode_line(line) for line in lines]


def envelope(uuid: str, parent: str | None) -> Envelope:
    return Envelope(uuid, parent, "s1", "2026-11-01T10:00:00.000Z")


@requirement("messages:fork:independent")
@given(conversations())
def test_a_fork_shows_the_same_conversation_under_new_ids(made: list[Entry]) -> None:
    copy = forked(made)

    assert project(copy).messages == project(made).messages
    assert not {_uuid(entry) for entry in copy} & {_uuid(entry) for entry in made}
    assert {envelope_of(entry).session for entry in copy if envelope_of(entry)} == {"s2"}  # type: ignore[union-attr]  # filtered


@requirement("messages:fork:independent")
def test_a_fork_follows_the_ids_inside_our_own_records() -> None:
    entries: list[Entry] = [
        UserEntry(envelope("u1", None), user("one")),
        UserEntry(envelope("u2", "u1"), user("two")),
        UserEntry(envelope("u3", "u2"), user("three")),
        SnipEntry(envelope("x1", "u3"), ("u1",), "one is gone"),
        CollapseEntry(envelope("x2", "x1"), "u2", "u2", "two in short"),
        BoundaryEntry(envelope("b1", None), "auto", kept=("u3",), anchor="s1"),
        UserEntry(envelope("s1", "b1"), user("summary"), is_summary=True),
    ]

    copy = forked(entries)

    assert project(copy).messages == project(entries).messages
    assert project(copy, leaf=_uuid(copy[4])).messages == project(entries, leaf="x2").messages


@requirement("messages:fork:independent")
def test_a_fork_passes_over_progress_and_says_where_it_came_from() -> None:
    entries: list[Entry] = [
        UserEntry(envelope("u1", None), user("one")),
        LinkEntry(envelope("p1", "u1"), "progress"),
        UserEntry(envelope("u2", "p1"), user("two")),
    ]

    first, second = forked(entries)

    assert envelope_of(second).parent == _uuid(first)  # type: ignore[union-attr]  # both hang on the chain
    assert decode_json(encode_line(second))["forkedFrom"] == {"sessionId": "s1", "messageUuid": "u2"}


@requirement("messages:fork:independent")
def test_a_fork_may_end_earlier() -> None:
    entries: list[Entry] = [UserEntry(envelope("u1", None), user("one")), UserEntry(envelope("u2", "u1"), user("two"))]

    assert [item.message.text for item in project(forked(entries, up_to="u1")).items] == ["one"]
    with pytest.raises(UserMistake, match="u9"):
        forked(entries, up_to="u9")


@requirement("messages:fork:independent")
def test_real_sessions_fork_to_the_same_view(shared_data: Path, tmp_path: Path) -> None:
    numbers = itertools.count()
    for path in sorted((shared_data / "transcripts").rglob("*.jsonl")):
        entries = read_entries(path)
        if not project(entries).items or "subagents" in path.parts:
            continue
        original = tmp_path / path.name
        original.write_bytes(path.read_bytes())

        copy = write_fork(original, now=NOW, new_id=lambda: f"new-{next(numbers)}")

        assert project(read_entries(copy)).messages == project(entries).messages, path
        assert original.read_bytes() == path.read_bytes()
        assert copy.stat().st_mode & 0o777 == 0o600


def _uuid(entry: Entry) -> str:
    found = envelope_of(entry)
    assert found is not None
    return found.uuid
