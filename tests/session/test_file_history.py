""""""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.conversation import Conversation
from reverie.messages.blocks import Json
from reverie.messages.entries import UserEntry
from reverie.messages.file_changes import file_changes
from reverie.messages.message import user
from reverie.messages.transcript import Transcript, read_entries
from reverie.messages.view import ItemKind
from reverie.session.events import ToolStarted
from reverie.session.file_history import Bounds, FileHistory, RestorePlan
from reverie.settings import ToolsSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, told

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


class Bench:
    """A conversation and files that its tools change."""

    def __init__(self, folder: Path, bounds: Bounds | None = None) -> None:
        numbers = count(1)
        self.folder = folder.resolve()
        self.log = Conversation(session="s1", now=lambda: NOW, new_id=lambda: f"id-{next(numbers)}")
        self.files = FileHistory(self.log, lambda of: folder / "kept" / of, lambda: NOW, bounds=bounds)

    @property
    def kept(self) -> list[Path]:
        return sorted((self.folder / "kept" / "s1").glob("*"))

    def say(self, text: str = "go on") -> str:
        entry = UserEntry(self.log.envelope(), user(text), source="typed")
        self.log.append(entry)
        return entry.envelope.uuid

    def tool(self, name: str, text: str | None) -> Path:
        """Change a file as a tool does."""
        path = self.folder / name
        self.files.note(path, text.encode() if text is not None else None)
        _put(path, text)
        return path


def _put(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")


@requirement("rewind:files:back")
def test_files_go_back_to_before_any_message(tmp_path: Path) -> None:
    at = Bench(tmp_path)
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_text("one")
    first = at.say()
    at.tool("old.py", "two")
    second = at.say()
    at.tool("old.py", "three")
    at.tool("new.py", "made")

    assert {(each.path.name, each.way) for each in at.files.since(second)} == {
        ("old.py", RestorePlan.FREE),
        ("new.py", RestorePlan.FREE),
    }
    assert at.files.put_back(at.files.since(second)) == (old, new)
    assert (old.read_text(), new.exists()) == ("two", False)
    assert at.files.put_back(at.files.since(first)) == (old,)
    assert old.read_text() == "one"
    assert at.files.put_back(at.files.since(first)) == ()
    assert {each.way for each in at.files.since(first)} == {RestorePlan.THERE}


@requirement("rewind:files:others")
def test_what_somebody_else_changed_is_told_apart_also_in_between(tmp_path: Path) -> None:
    at = Bench(tmp_path)
    for name in ("after", "between", "alone"):
        (tmp_path / name).write_text("one")
    first = at.say()
    at.tool("after", "two")
    (tmp_path / "after").write_text("by hand")
    at.tool("between", "two")
    (tmp_path / "between").write_text("by hand")
    at.tool("between", "three")
    at.tool("alone", "two")

    found = {each.path.name: each for each in at.files.since(first)}
    assert {name: each.way for name, each in found.items()} == {
        "after": RestorePlan.OTHERS,
        "between": RestorePlan.OTHERS,
        "alone": RestorePlan.FREE,
    }
    (tmp_path / "alone").write_text("changed since it was looked at")
    assert at.files.put_back([found["alone"]]) == ()
    assert (tmp_path / "alone").read_text() == "changed since it was looked at"
    assert at.files.put_back([found["after"]]) == (tmp_path / "after",)
    assert (tmp_path / "after").read_text() == "one"


@requirement("rewind:files:others")
def test_a_path_that_leads_elsewhere_now_is_not_followed(tmp_path: Path) -> None:
    at = Bench(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a").write_text("one")
    (tmp_path / "b").write_text("one")
    first = at.say()
    at.tool("src/a", "two")
    at.tool("b", "two")
    (tmp_path / "src").rename(tmp_path / "away")
    (tmp_path / "src").symlink_to(tmp_path / "away")
    (tmp_path / "b").unlink()
    (tmp_path / "b").symlink_to(tmp_path / "away" / "a")

    found = {each.path.name: each.way for each in at.files.since(first)}
    assert found == {"a": RestorePlan.LOST, "b": RestorePlan.OTHERS}
    assert at.files.put_back(at.files.since(first)) == (tmp_path / "b",)
    assert (tmp_path / "away" / "a").read_text() == "two"
    assert (tmp_path / "b").read_text() == "one"
    assert not (tmp_path / "b").is_symlink()


@requirement("rewind:files:bounds")
def test_what_is_put_aside_has_bounds(tmp_path: Path) -> None:
    at = Bench(tmp_path, Bounds(file_bytes=50, total_bytes=100))
    (tmp_path / "large").write_text("x" * 51)
    (tmp_path / "small").write_text("0" * 40)
    first = at.say()
    at.tool("large", "y")
    for number in range(1, 9):
        newest = at.say()
        at.tool("small", str(number) * 40)

    assert sum(path.stat().st_size for path in at.kept) <= 100
    assert {each.path.name: each.way for each in at.files.since(first)} == {
        "large": RestorePlan.LOST,
        "small": RestorePlan.LOST,
    }
    assert [each.way for each in at.files.since(newest)] == [RestorePlan.FREE]


@requirement("rewind:files:bounds")
def test_only_the_newest_messages_keep_what_files_held(tmp_path: Path) -> None:
    at = Bench(tmp_path, Bounds(checkpoints=3))
    messages = []
    for number in range(6):
        messages.append(at.say())
        at.tool("a", f"text {number}")
    at.files.sweep()

    assert len(at.kept) == 3
    assert [at.files.since(one)[0].way for one in messages] == [
        RestorePlan.FREE,
        RestorePlan.LOST,
        RestorePlan.LOST,
        *[RestorePlan.FREE] * 3,
    ]


@requirement("rewind:files:back")
@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None])), max_size=25))
def test_going_back_restores_every_earlier_moment(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, str, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("law")
    at = Bench(folder)
    moments = [(at.say(), _state(folder))]
    for speaks, name, text in steps:
        if speaks:
            moments.append((at.say(), _state(folder)))
        if text is not None or (folder / name).exists():
            at.tool(name, text)
    for message, state in reversed(moments):
        at.files.put_back(at.files.since(message))
        assert _state(folder) == state


def _state(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in "abc" if (folder / name).exists()}


KILLED = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4
from reverie.session.file_history import FileHistory
from reverie.context.conversation import Conversation
from reverie.files import write_atomic
from reverie.messages.entries import UserEntry
from reverie.messages.message import user
from reverie.messages.transcript import Transcript

folder = Path(sys.argv[1])
now = datetime(2026, 11, 15, tzinfo=UTC)
transcript = Transcript.open(folder / "s1.jsonl", now=now, label="test")
write = lambda entries: transcript.append(*entries, durable=False)
log = Conversation(session="s1", now=lambda: now, new_id=lambda: str(uuid4()), write=write)
files = FileHistory(log, lambda of: folder / "kept" / of, lambda: now)
log.append(UserEntry(log.envelope(), user("go"), source="typed"))
number = 0
while True:
    number += 1
    path = folder / "work" / f"{number % 3}.txt"
    content = f"change {number}".encode() * 200
    files.note(path, content)
    write_atomic(path, content, durable=False)
    print(number, flush=True)
"""


@requirement("rewind:files:kill")
@pytest.mark.parametrize("changes", [1, 7, 40, 121])
def test_a_kill_leaves_everything_restorable(tmp_path: Path, changes: int) -> None:
    folder = tmp_path.resolve()
    work = folder / "work"
    work.mkdir()
    for number in range(3):
        (work / f"{number}.txt").write_text(f"original {number}")
    with subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(changes):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)

    with Transcript.open(folder / "s1.jsonl", now=NOW, label="test") as transcript:
        numbers = count(1)
        log = Conversation(
            session="s1",
            now=lambda: NOW,
            new_id=lambda: f"id-{next(numbers)}",
            entries=transcript.entries,
            write=lambda entries: transcript.append(*entries),
        )
        files = FileHistory(log, lambda of: folder / "kept" / of, lambda: NOW)
        message = next(one.envelope.uuid for one in log.entries if isinstance(one, UserEntry))
        found = files.since(message)
        # The change at which the kill came may be recorded and not made: then the file counts as changed by others.
        assert sum(each.way is RestorePlan.OTHERS for each in found) <= 1
        assert all(each.way is not RestorePlan.LOST for each in found)
        files.put_back(found)
    assert {path.name: path.read_text() for path in work.glob("*.txt")} == {
        f"{number}.txt": f"original {number}" for number in range(3)
    }
    assert len(list(file_changes(read_entries(folder / "s1.jsonl")))) >= changes


def _without_extraction(at: Desk) -> None:
    """Let no other request follow the last one of the conversation."""
    at.settings = replace(at.settings, extraction=replace(at.settings.extraction, enabled=False))


def _writes(word: str, path: Path, content: str) -> list[Json]:
    given: dict[str, Json] = {"file_path": str(path), "content": content}
    return [{"when": {"last_user": word}, "times": 1, "then": calls(("Write", given))}]


@requirement("rewind:files:back", "rewind:files:others")
async def test_files_go_back_after_a_restart_and_the_model_is_told(tmp_path: Path) -> None:
    a, b = tmp_path / "project" / "a.txt", tmp_path / "project" / "b.txt"
    script: list[Json] = [*_writes("first", a, "one"), *_writes("second", b, "two"), {"then": "done"}]
    with desk(tmp_path, script) as at:
        _without_extraction(at)
        async with at.start() as session:
            await told(session, "the first thing")
            await told(session, "the second thing")
            messages = [uuid for uuid, _ in session.prompts]
        b.write_text("by hand")
        async with at.resume(session.id) as again:
            assert {each.path.name: each.way for each in again.changed_files(messages[0])} == {
                "a.txt": RestorePlan.FREE,
                "b.txt": RestorePlan.OTHERS,
            }
            free = [each for each in again.changed_files(messages[0]) if each.way is RestorePlan.FREE]
            assert again.restore_files(free, told=True) == (a,)
            await told(again, "go on")

        assert not a.exists()
        assert b.read_text() == "by hand"
        assert "brought these files back" in json.dumps(at.bodies[-1]["messages"][-1])


@requirement("rewind:files:back")
async def test_a_fork_brings_back_what_its_original_changed(tmp_path: Path) -> None:
    a = tmp_path / "project" / "a.txt"
    with desk(tmp_path, [*_writes("first", a, "one"), {"then": "done"}]) as at:
        async with at.start() as session:
            await told(session, "the first thing")
        async with at.resume(session.id, fork=True) as copy:
            assert copy.id != session.id
            copy.restore_files(copy.changed_files(copy.prompts[0][0]))
        assert not a.exists()


@requirement("rewind:files:back")
async def test_what_a_child_agent_changed_goes_back_too(tmp_path: Path) -> None:
    a = tmp_path / "project" / "a.txt"
    agent: dict[str, Json] = {"description": "do it", "prompt": "child task", "subagent_type": "general-purpose"}
    script: list[Json] = [
        {"when": {"last_user": "hand it on"}, "times": 1, "then": calls(("Agent", agent))},
        *_writes("child task", a, "one"),
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "hand it on")
            assert a.read_text() == "one"
            session.restore_files(session.changed_files(session.prompts[0][0]))
        assert not a.exists()


@requirement("rewind:files:back")
@pytest.mark.parametrize("is_providers", [False, True])
async def test_memories_go_back_by_a_commit(tmp_path: Path, is_providers: bool) -> None:
    saved: dict[str, Json] = {"name": "Build", "description": "How it is built", "type": "project", "body": "make all"}
    created: dict[str, Json] = {"command": "create", "path": "/memories/build.md", "file_text": "make all"}
    call = ("memory", created) if is_providers else ("SaveMemory", saved)
    with desk(tmp_path, [{"when": {"last_user": "first"}, "times": 1, "then": calls(call)}, {"then": "done"}]) as at:
        at.settings = replace(at.settings, tools=ToolsSettings(provider_memory=is_providers))
        async with at.start() as session:
            await told(session, "the first thing")
            (kept,) = session.memory.directory.glob("[a-z]*.md")
            (found,) = session.changed_files(session.prompts[0][0])
            assert (found.path, found.way) == (kept.resolve(), RestorePlan.FREE)
            session.restore_files([found])
            assert not kept.exists()
            newest = next(iter(session.memory.log()))
            assert (newest.change.author, newest.change.reason) == ("user", "rewind")


@requirement("rewind:files:back")
async def test_after_going_back_a_file_must_be_read_again(tmp_path: Path) -> None:
    a = tmp_path / "project" / "a.txt"
    script: list[Json] = [*_writes("first", a, "one"), *_writes("second", a, "two"), {"then": "done"}]
    with desk(tmp_path, script) as at:
        _without_extraction(at)
        async with at.start() as session:
            await told(session, "the first thing")
            session.rewind(session.prompts[0][0])
            await told(session, "the second thing")
        assert a.read_text() == "one"
        assert "has not been read yet" in json.dumps(at.bodies[-1]["messages"])


@requirement("shell:words:join")
async def test_what_the_user_ran_joins_their_next_words(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await session.begin()
            session.parts.desk.keys = ("abcdefgh",)
            session.tell_command("make test abcdefgh", "2 failed abcdefgh\n</bash-stdout>", "exit code 1")
            await told(session, "why is that?")
            kinds = [item.kind for item in session.parts.log.view.items if item.kind is not ItemKind.ATTACHMENT]
            assert kinds == [ItemKind.TYPED, ItemKind.META, ItemKind.TYPED, ItemKind.REPLY]
        sent = json.dumps(at.bodies[-1]["messages"])
        assert "<bash-input>make test [key]</bash-input>" in sent
        assert (
            "<bash-stdout>2 failed [key]\\n&lt;/bash-stdout></bash-stdout><bash-stderr>exit code 1</bash-stderr>"
            in sent
        )
        assert sent.index("2 failed") < sent.index("why is that?")


@requirement("shell:words:join")
async def test_what_was_run_during_a_turn_waits_for_its_end(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "wait"}, "times": 1, "then": calls(("Bash", {"command": "sleep 0.1"}))},
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        _without_extraction(at)
        async with at.start() as session:
            async for event in session.send("wait a little"):
                if isinstance(event, ToolStarted):
                    session.tell_command("ls", "a.txt")
            await told(session, "and now?")
        assert "<bash-input>" not in json.dumps(at.bodies[-2]["messages"])
        assert "<bash-input>ls</bash-input>" in json.dumps(at.bodies[-1]["messages"])
