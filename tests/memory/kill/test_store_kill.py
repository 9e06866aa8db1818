from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.memory.kill.worker import check
from tests.requirements import requirement


def _start(directory: Path, name: str, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.memory.kill.worker", str(directory), "-", name, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _kill_after(process: subprocess.Popen[str], seconds: float) -> str:
    with process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready == "ready\n"
        time.sleep(seconds)
        process.kill()
        return process.stdout.read()


@requirement("store:kill:readable")
@pytest.mark.timeout(1200)
def test_killed_anywhere_the_next_command_finishes_the_change(tmp_path: Path, thorough: bool) -> None:
    chance = random.Random(20261115)
    said = ""
    for number in range(100 if thorough else 4):
        process = _start(tmp_path, f"w{number}", number)
        said += _kill_after(process, chance.uniform(0.01, 0.25))
        assert check(tmp_path, said) == []


@requirement("store:kill:readable", "store:writers:no-lost-update")
@pytest.mark.timeout(180)
def test_writers_go_on_while_others_are_killed(tmp_path: Path) -> None:
    processes = [_start(tmp_path, f"w{number}", number) for number in range(4)]
    said = "".join(_kill_after(process, 0.3) for process in processes)
    assert check(tmp_path, said) == []
