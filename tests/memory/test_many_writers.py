from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reverie.memory.store.timeline import log
from tests.memory.kill.worker import check, open_here
from tests.memory.stores import git, topic
from tests.requirements import requirement

pytestmark = pytest.mark.program


@requirement("store:writers:no-lost-update")
@pytest.mark.timeout(180)
def test_sixteen_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    said = _run(tmp_path, "write", 16, 5)
    assert said.count("saved") > 16
    assert check(tmp_path, said) == []


@requirement("store:writers:no-lost-update")
@pytest.mark.timeout(180)
def test_sixteen_processes_edit_one_topic_and_every_edit_is_there(tmp_path: Path) -> None:
    open_here(tmp_path).save(topic("Counter", body="start"), author="agent")
    _run(tmp_path, "count", 16, 3)
    body = open_here(tmp_path).read("Counter").body.split("\n")
    assert sorted(body[1:]) == sorted(f"{writer}-{number}" for writer in range(16) for number in range(3))
    assert len(log(open_here(tmp_path))) == 1 + 16 * 3


@requirement("store:writers:no-lost-update", "store:foreign:noticed")
@pytest.mark.timeout(180)
def test_an_editor_that_knows_no_lock_loses_nothing(tmp_path: Path) -> None:
    """Beside two writers, a plain program writes its own files and replaces one that they edit too."""
    store = open_here(tmp_path)
    store.save(topic("Shared", body="start"))
    told = tmp_path / "told"
    told.mkdir()
    writers = subprocess.Popen(_command(tmp_path, told, "write", 2, 15))
    chance = random.Random(7)
    written: dict[Path, bytes] = {}
    versions: list[bytes] = []
    shared = tmp_path / "feedback_shared.md"
    while writers.poll() is None:
        path = tmp_path / f"plain_{chance.randrange(30)}.md"
        written[path] = f"Plain text {chance.random()}\n".encode()
        path.write_bytes(written[path])
        draft = tmp_path / ".shared.swp"
        versions.append(f"Version {len(versions)}\n".encode())
        draft.write_bytes(versions[-1])
        draft.replace(shared)
        time.sleep(0.01)
    assert writers.wait() == 0
    open_here(tmp_path).sync()
    assert {path: path.read_bytes() for path in written} == written
    assert shared.read_bytes() == versions[-1]
    assert git(tmp_path, "status", "--porcelain") == ""
    assert git(tmp_path, "fsck", "--full", "--no-dangling") == ""


def _command(directory: Path, told: Path, *words: str | int) -> list[str]:
    return [sys.executable, "-m", "tests.memory.kill.worker", str(directory), str(told), *map(str, words)]


def _run(directory: Path, *words: str | int) -> str:
    """Run writers to their end and return what they said."""
    told = directory / "told"
    told.mkdir()
    assert subprocess.run(_command(directory, told, *words), check=False).returncode == 0
    return "".join(path.read_text(encoding="utf-8") for path in sorted(told.iterdir()))
