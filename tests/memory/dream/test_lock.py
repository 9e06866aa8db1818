from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.errors import Conflict
from reverie.files import write_atomic
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.lock import (
    DreamState,
    dreaming,
    last_dream,
    read_dreamer,
    read_host_lock,
    read_state,
    recover_state,
    write_host_time,
    write_state,
)
from tests.requirements import requirement

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)

DREAMER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.errors import Conflict
from reverie.memory.dream.lock import dreaming
from reverie.files.places.paths import MemoryFolder
directory = Path(sys.argv[1])
try:
    with dreaming(MemoryFolder(directory, directory), now=datetime(2026, 3, 10, 12, tzinfo=UTC)):
        print("dreams", flush=True)
        sys.stdin.read()
except Conflict:
    print("gives up", flush=True)
"""


def folder_at(path: Path) -> MemoryFolder:
    return MemoryFolder(path, path)


def host_lock(folder: MemoryFolder, body: str, when: datetime) -> None:
    folder.host_dream_lock.write_text(body, encoding="utf-8")
    os.utime(folder.host_dream_lock, (when.timestamp(), when.timestamp()))


def dead_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@requirement("dream:lock:one")
def test_of_many_programs_that_start_at_once_one_dreams(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DREAMER, str(tmp_path)]
    programs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = [program.stdout.readline().strip() for program in programs if program.stdout]
    for program in programs:
        program.communicate()
    assert sorted(said) == ["dreams", *["gives up"] * 5]
    assert not folder_at(tmp_path).dream_lock.exists()


@requirement("dream:lock:stale")
def test_a_killed_dreamer_leaves_no_hole(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DREAMER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "dreams\n"
        assert read_dreamer(folder_at(tmp_path), now=NOW)
        program.kill()
    folder = folder_at(tmp_path)
    assert folder.dream_lock.exists()
    assert read_dreamer(folder, now=NOW) == ""
    assert last_dream(folder) is None
    with dreaming(folder, now=NOW):
        pass


@requirement("dream:lock:stale")
def test_a_dream_of_more_than_an_hour_may_be_taken_over_and_then_writes_nothing(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    with dreaming(folder, now=NOW) as slow:
        slow.check()
        with pytest.raises(Conflict, match="dreaming"), dreaming(folder, now=NOW + timedelta(minutes=60)):
            pass
        with dreaming(folder, now=NOW + timedelta(minutes=61)) as second:
            second.check()
            with pytest.raises(Conflict, match="lost its lock"):
                slow.check()


@requirement("dream:lock:host")
def test_a_host_that_dreams_is_respected(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    host_lock(folder, f"{os.getpid()}\n", NOW - timedelta(minutes=59))
    with pytest.raises(Conflict, match="host agent"), dreaming(folder, now=NOW):
        pass
    assert "host agent" in read_dreamer(folder, now=NOW)
    assert not folder.dream_lock.exists()


@requirement("dream:lock:host")
@pytest.mark.parametrize("case", ["dead", "old", "empty", "nonsense"])
def test_a_host_lock_that_nobody_holds_does_not_bind(tmp_path: Path, case: str) -> None:
    folder = folder_at(tmp_path)
    bodies = {"dead": f"{dead_pid()}\n", "old": f"{os.getpid()}\n", "empty": "", "nonsense": "hello\n"}
    when = NOW - timedelta(minutes=61 if case == "old" else 5)
    host_lock(folder, bodies[case], when)
    with dreaming(folder, now=NOW):
        found = read_host_lock(folder)
        assert found is not None
        assert found.when == when
    assert folder.host_dream_lock.read_text() == bodies[case]


@requirement("dream:lock:host")
def test_the_host_learns_of_a_dream_by_the_time_of_its_lock(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    write_host_time(folder, NOW)
    assert not folder.host_dream_lock.exists()

    host_lock(folder, f"{dead_pid()}\n", NOW - timedelta(days=3))
    assert last_dream(folder) == NOW - timedelta(days=3)
    write_host_time(folder, NOW)
    assert folder.host_dream_lock.stat().st_mtime == NOW.timestamp()
    assert folder.host_dream_lock.read_text() == ""
    assert [path.name for path in tmp_path.iterdir()] == [".consolidate-lock"]

    host_lock(folder, f"{os.getpid()}\n", NOW)
    write_host_time(folder, NOW + timedelta(minutes=5))
    assert folder.host_dream_lock.stat().st_mtime == NOW.timestamp()


HOST = """
import os, sys, time
lock, deed = sys.argv[1], sys.argv[2]
before = os.stat(lock)
with open(lock) as file:
    body = file.read().strip()
try:
    os.kill(int(body), 0)
    if time.time() - before.st_mtime < 3600:
        print("gives up", flush=True)
        sys.exit()
except (ValueError, ProcessLookupError):
    pass
if deed == "when due" and time.time() - before.st_mtime < 24 * 3600:
    print("not due", flush=True)
    sys.exit()
with open(lock, "w") as file:
    file.write(f"{os.getpid()}\\n")
with open(lock) as file:
    assert file.read().strip() == str(os.getpid())
print("dreams", flush=True)
sys.stdin.readline()
if deed == "fails":
    open(lock, "w").close()
    os.utime(lock, (before.st_mtime, before.st_mtime))
"""
"""A host agent by the host's own rule for the lock: its process is the body, the last consolidation the file's time."""


class Host:
    """A host agent in a process of its own."""

    def __init__(self, folder: MemoryFolder, deed: str = "succeeds") -> None:
        command = [sys.executable, "-c", HOST, str(folder.host_dream_lock), deed]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()

    def end(self) -> str:
        """Let it come to its end; what it said at first."""
        self.process.communicate("\n")
        return self.said


@requirement("dream:lock:host")
@pytest.mark.parametrize("deed", ["succeeds", "fails"])
def test_a_host_and_we_take_turns_and_each_sees_when_the_other_was_done(tmp_path: Path, deed: str) -> None:
    folder = folder_at(tmp_path)
    now = datetime.now(UTC)
    long_ago = now - timedelta(days=3)
    host_lock(folder, "", long_ago)
    with dreaming(folder, now=now) as held:
        host = Host(folder, deed)
        assert host.said == "dreams", "our lock says nothing to a host, and its clock is not touched while we dream"
        with pytest.raises(Conflict, match="host agent"):
            held.check(datetime.now(UTC))
    with pytest.raises(Conflict, match="host agent"), dreaming(folder, now=datetime.now(UTC)):
        pass
    taken = folder.host_dream_lock.stat().st_mtime
    assert folder.host_dream_lock.read_text() == f"{host.process.pid}\n"
    host.end()
    told = last_dream(folder)
    assert told is not None
    assert told.timestamp() == pytest.approx(taken if deed == "succeeds" else long_ago.timestamp(), abs=0.001)

    with dreaming(folder, now=datetime.now(UTC)) as held:
        held.check(datetime.now(UTC))
        write_host_time(folder, datetime.now(UTC))
    assert Host(folder, "when due").end() == "not due"
    host_lock(folder, folder.host_dream_lock.read_text(), now - timedelta(hours=25))
    host = Host(folder, "when due")
    assert host.said == "dreams", "what we leave in the body is nobody who lives"
    host.process.kill()
    host.process.communicate()
    with dreaming(folder, now=datetime.now(UTC)):
        pass


@requirement("dream:lock:host")
def test_in_a_directory_of_the_host_its_clock_is_begun(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    write_host_time(folder, NOW, is_hosts=True)
    assert last_dream(folder) == NOW


@requirement("dream:lock:stale")
def test_the_last_success_is_kept_apart_and_an_unreadable_note_is_none(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    state = DreamState(NOW, NOW - timedelta(days=1), {"2026-03-09": 120}, NOW, 2)
    write_state(folder, state)
    assert read_state(folder) == state
    assert last_dream(folder) == NOW
    write_atomic(folder.dream_state, b"{torn")
    assert read_state(folder) == DreamState()


@requirement("dream:kill")
def test_a_commit_without_its_note_counts_as_the_last_success() -> None:
    state = DreamState(NOW, logs={"2026-03-09": 120})
    later = NOW + timedelta(days=2)
    assert recover_state(state, lambda: later) == DreamState(later, logs={"2026-03-09": 120})
    assert recover_state(state, lambda: NOW - timedelta(days=1)) == state
    assert recover_state(state, lambda: None) == state
