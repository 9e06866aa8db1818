from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.conversation import Conversation
from reverie.messages.entries import UserEntry
from reverie.messages.file_changes import file_changes
from reverie.messages.message import user
from reverie.messages.transcript import Transcript, read_entries
from reverie.session.file_history import Bounds, FileHistory, RestorePlan
from tests.requirements import requirement

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
