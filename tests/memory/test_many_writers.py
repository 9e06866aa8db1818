from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reverie.memory.timeline import log
from tests.memory.kill.worker import check, open_here
from tests.memory.stores import git, topic
from tests.requirements import requirement


@requirement("store:writers:no-lost-update")
@pytest.mark.timeout(180)
def test_sixteen_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    said = run_writers(tmp_path, processes=16, rounds=5)
    assert said.count("saved") > 16
    assert check(tmp_path, said) == []


@requirement("store:writers:no-lost-update")
@pytest.mark.timeout(180)
def test_sixteen_processes_edit_one_topic_and_every_edit_is_there(tmp_path: Path) -> None:
    open_here(tmp_path).save(topic("Counter", body="start"), author="agent")
    script = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.memory.kill.worker import open_here
store = open_here(Path(sys.argv[1]))
for number in range(3):
    word = f"{sys.argv[2]}-{number}"
    store.edit("Counter", lambda old: replace(old, body=f"{old.body}\\n{word}"), author="agent")
"""
    processes = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(number)]) for number in range(16)]
    assert [process.wait() for process in processes] == [0] * 16
    body = open_here(tmp_path).read("Counter").body.split("\n")
    assert sorted(body[1:]) == sorted(f"{writer}-{number}" for writer in range(16) for number in range(3))
    assert len(log(open_here(tmp_path))) == 1 + 16 * 3


@requirement("store:writers:no-lost-update", "store:foreign:noticed")
@pytest.mark.timeout(180)
def test_an_editor_that_knows_no_lock_loses_nothing(tmp_path: Path) -> None:
    """Beside two writers, a plain program writes its own files and replaces one that they edit too."""
    store = open_here(tmp_path)
    store.save(topic("Shared", body="start"))
    environment = {**os.environ, "ROUNDS": "15"}
    command = [sys.executable, "-m", "tests.memory.kill.worker", str(tmp_path)]
    processes = [
        subprocess.Popen([*command, f"w{n}", str(n)], env=environment, stdout=subprocess.DEVNULL) for n in range(2)
    ]
    chance = random.Random(7)
    written: dict[Path, bytes] = {}
    versions: list[bytes] = []
    shared = tmp_path / "feedback_shared.md"
    while any(process.poll() is None for process in processes):
        path = tmp_path / f"plain_{chance.randrange(30)}.md"
        written[path] = f"Plain text {chance.random()}\n".encode()
        path.write_bytes(written[path])
        draft = tmp_path / ".shared.swp"
        versions.append(f"Version {len(versions)}\n".encode())
        draft.write_bytes(versions[-1])
        draft.replace(shared)
        time.sleep(0.01)
    assert [process.wait() for process in processes] == [0, 0]
    open_here(tmp_path).sync()
    assert {path: path.read_bytes() for path in written} == written
    assert shared.read_bytes() == versions[-1]
    assert git(tmp_path, "status", "--porcelain") == ""
    assert git(tmp_path, "fsck", "--full", "--no-dangling") == ""


def run_writers(directory: Path, *, processes: int, rounds: int) -> str:
    """Run that many writers to their end and return what they said."""
    environment = {**os.environ, "ROUNDS": str(rounds)}
    command = [sys.executable, "-m", "tests.memory.kill.worker", str(directory)]
    running = [
        subprocess.Popen([*command, f"w{number}", str(number)], env=environment, stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    said = "".join(process.communicate()[0] for process in running)
    assert [process.returncode for process in running] == [0] * processes
    return said
