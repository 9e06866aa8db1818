from __future__ import annotations

import json
import random
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.chain import linearize, newest_leaf
from reverie.messages.entries import Entry, UserEntry, envelope_of
from reverie.messages.records import decode_line, decode_lines
from reverie.messages.transcript import read_entries
from reverie.messages.view import View, project
from tests.requirements import requirement
from tests.strategies import conversations


def calls_and_results(view: View) -> tuple[int, int]:
    calls = [call.id for item in view.items for call in item.message.tool_uses]
    results = [result.tool_use_id for item in view.items for result in item.message.tool_results]
    assert len(set(calls)) == len(calls)
    assert len(set(results)) == len(results)
    return len(calls), len(results)


def record(kind: str, uuid: str, parent: str | None, content: object, **more: object) -> Entry:
    message = {"role": kind, "content": content} | ({"id": more.pop("id")} if "id" in more else {})
    line = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message} | more
    return decode_line(json.dumps(line).encode())


def call(name: str) -> list[object]:
    return [{"type": "tool_use", "id": name, "name": "Read", "input": {}}]


def result(name: str) -> list[object]:
    return [{"type": "tool_result", "tool_use_id": name, "content": "ok"}]


@requirement("messages:chain:parallel-calls")
def test_results_that_hang_under_their_own_calls_are_put_back() -> None:
    entries = [
        record("user", "u1", None, "go"),
        record("assistant", "a1", "u1", call("t1"), id="m1"),
        record("assistant", "a2", "a1", call("t2"), id="m1"),
        record("user", "r1", "a1", result("t1")),
        record("user", "r2", "a2", result("t2")),
        record("assistant", "a3", "r1", "done", id="m2"),
    ]

    view = project(entries)

    assert calls_and_results(view) == (2, 2)
    assert [message.role for message in view.messages] == ["user", "assistant", "user", "assistant"]


@requirement("messages:chain:parallel-calls")
def test_a_call_that_is_recorded_twice_is_shown_once() -> None:
    entries = [
        record("user", "u1", None, "go"),
        record("assistant", "a1", "u1", call("t1"), id="m1"),
        record("assistant", "a1-again", "a1", call("t1"), id="m1"),
        record("user", "r1", "a1-again", result("t1")),
        record("user", "r1-again", "a1", result("t1")),
        record("assistant", "a2", "r1", "done", id="m2"),
    ]

    assert calls_and_results(project(entries)) == (1, 1)


@requirement("messages:chain:parallel-calls")
def test_a_copy_of_the_reply_on_another_branch_is_not_shown_twice() -> None:
    entries = [
        record("user", "u1", None, "go"),
        record("assistant", "a1", "u1", "the answer", id="m1"),
        record("user", "u1-copy", None, "go"),
        record("assistant", "a1-copy", "u1-copy", "the answer", id="m1"),
    ]

    assert [item.uuid for item in project(entries).items] == ["u1-copy", "a1-copy"]


@requirement("messages:chain:real-sessions")
@pytest.mark.parametrize(
    ("name", "calls", "results"),
    [
        ("claude-reliability/python-to-rust-port.jsonl", 39, 39),
        ("session-share/projects/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl", 7, 7),
        ("episodic-memory/large-conversation.jsonl", 152, 152),
        ("episodic-memory/long-conversation.jsonl", 98, 98),
        ("session-share/images-in-user-messages.jsonl", 2, 0),
        ("session-share/read-tool-variants.jsonl", 4, 4),
    ],
)
def test_real_sessions_keep_all_their_calls(shared_data: Path, name: str, calls: int, results: int) -> None:
    view = project(read_entries(shared_data / "transcripts" / name))

    assert calls_and_results(view) == (calls, results)


@requirement("messages:chain:real-sessions")
def test_the_session_of_the_demo_keeps_all_its_calls() -> None:
    path = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
    written = path.read_text(encoding="utf-8")
    view = project(read_entries(path))

    assert calls_and_results(view) == (written.count('"type":"tool_use"'), written.count('"type":"tool_result"'))
    assert calls_and_results(view) == (18, 18)


@requirement("messages:chain:real-sessions")
def test_every_sample_file_is_read_and_projected(shared_data: Path) -> None:
    for path in sorted((shared_data / "transcripts").rglob("*.jsonl")):
        view = project(read_entries(path))

        assert view.items or path.stem == "medium-conversation", path
        calls_and_results(view)


@requirement("messages:chain:tolerant")
def test_an_orphan_parent_starts_the_conversation() -> None:
    entries = [record("assistant", "a1", "gone", "hello", id="m"), record("user", "u1", "a1", "more")]

    assert [item.uuid for item in project(entries).items] == ["a1", "u1"]


@requirement("messages:chain:tolerant")
def test_of_several_roots_the_newest_leaf_counts() -> None:
    entries = [
        record("user", "u1", None, "first try"),
        record("assistant", "a1", "u1", "one", id="m1"),
        record("user", "u2", None, "second try"),
        record("assistant", "a2", "u2", "two", id="m2"),
    ]

    assert [item.uuid for item in project(entries).items] == ["u2", "a2"]


@requirement("messages:chain:tolerant")
def test_a_file_without_any_parents_is_a_list() -> None:
    entries = [
        record("user", "u1", None, "a"),
        record("assistant", "a1", None, "b", id="m"),
        record("user", "u2", None, "c"),
    ]

    assert [item.uuid for item in project(entries).items] == ["u1", "a1", "u2"]


@requirement("messages:chain:tolerant")
def test_a_circle_of_parents_ends() -> None:
    entries = [
        record("user", "u1", "a1", "a"),
        record("assistant", "a1", "u1", "b", id="m"),
        record("user", "u2", "a1", "c"),
    ]

    assert [item.uuid for item in project(entries).items] == ["u1", "a1", "u2"]


@requirement("messages:chain:tolerant")
def test_of_two_records_with_one_id_the_later_counts() -> None:
    entries = [record("user", "u1", None, "old"), record("user", "u1", None, "new")]

    assert project(entries).items[0].message.text == "new"


@requirement("messages:chain:tolerant")
def test_a_sidechain_is_not_the_main_conversation() -> None:
    entries = [
        record("user", "u1", None, "main"),
        record("assistant", "a1", "u1", "answer", id="m"),
        record("user", "s1", None, "sub-agent", isSidechain=True),
    ]

    assert [item.uuid for item in project(entries).items] == ["u1", "a1"]


@requirement("messages:chain:tolerant")
@given(conversations(), st.randoms(use_true_random=False))
def test_the_chain_does_not_depend_on_the_order_of_branches_before_the_leaf(
    made: list[Entry], chance: random.Random
) -> None:
    leaf = newest_leaf(made)
    shuffled = made[:]
    chance.shuffle(shuffled)

    straight = [_uuid(entry) for entry in linearize(made, leaf)]

    assert sorted(straight) == sorted(_uuid(entry) for entry in linearize(shuffled, leaf))


def _uuid(entry: Entry) -> str:
    envelope = envelope_of(entry)
    assert envelope is not None
    return envelope.uuid


def test_a_file_of_snapshots_only_has_no_conversation(shared_data: Path) -> None:
    entries = list(decode_lines((shared_data / "transcripts/episodic-memory/medium-conversation.jsonl").read_bytes()))

    assert linearize(entries) == []
    assert not any(isinstance(entry, UserEntry) for entry in entries)


@requirement("messages:chain:real-sessions")
def test_a_file_of_notes_about_files_only_has_no_conversation() -> None:
    kept = {"messageId": "m", "snapshot": {"messageId": "m", "trackedFileBackups": {}, "timestamp": ""}}
    lines = [
        {"type": "file-history-snapshot", **kept, "isSnapshotUpdate": False},
        {"type": "file-history-snapshot", **kept, "isSnapshotUpdate": True},
    ]

    assert linearize([decode_line(json.dumps(line).encode()) for line in lines]) == []
