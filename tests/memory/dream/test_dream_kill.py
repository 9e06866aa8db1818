from __future__ import annotations

import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.memory.store.timeline import log
from reverie.testing.simulator import simulator
from tests.memory.dream.worker import BY_MODEL, Killer, model_script, opened, problems, seed
from tests.requirements import requirement

pytestmark = pytest.mark.program


@requirement("dream:kill", "dream:lock:stale")
@pytest.mark.timeout(1200)
def test_killed_anywhere_a_dream_leaves_a_readable_store_and_a_truthful_time(tmp_path: Path, thorough: bool) -> None:
    directory, home = tmp_path / "memory", tmp_path / "home"
    seed(directory, home)
    started = datetime.now(UTC)
    chance = random.Random(20261115)
    with Killer(directory, home) as killer:
        # How long a dream takes depends on the machine; kills are to fall everywhere in it and a little behind.
        longest = 1.3 * killer.timed(10_000)
        for number in range(200 if thorough else 6):
            seconds = chance.uniform(0.0, longest)
            killer.kill_after(seconds, number)
            assert list(problems(directory, home, started)) == [], f"after kill {number} at {seconds:.4f} s"


@requirement("dream:kill", "dream:model")
@pytest.mark.timeout(1200)
def test_killed_anywhere_a_models_dream_leaves_a_readable_store_and_a_truthful_time(
    tmp_path: Path, thorough: bool
) -> None:
    directory, home = tmp_path / "memory", tmp_path / "home"
    seed(directory, home)
    started = datetime.now(UTC)
    chance = random.Random(20261116)
    with (
        simulator(model_script(directory, home)) as provider,
        Killer(directory, home, f"{provider.base_url} {provider.api_key}") as killer,
    ):
        # How long a dream takes depends on the machine; kills are to fall everywhere in it and a little behind.
        longest = 1.3 * killer.timed(10_000)
        for number in range(100 if thorough else 3):
            seconds = chance.uniform(0.0, longest)
            killer.kill_after(seconds, number)
            assert list(problems(directory, home, started)) == [], f"after kill {number} at {seconds:.4f} s"
    shown = subprocess.run(["git", "log", "-p"], cwd=directory, capture_output=True, text=True, check=True).stdout
    assert f"+{BY_MODEL}" in shown


@requirement("dream:lock:one", "dream:kill")
@pytest.mark.timeout(120)
def test_programs_that_dream_at_once_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    directory, home = tmp_path / "memory", tmp_path / "home"
    seed(directory, home)
    started = datetime.now(UTC)
    command = [sys.executable, "-m", "tests.memory.dream.worker", str(directory), str(home), "4"]
    programs = [subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True) for number in range(3)]
    said = "".join(program.communicate()[0] for program in programs)
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert said.count("dreamt") == 12
    assert list(problems(directory, home, started)) == []
    with opened(directory, home) as memory:
        dreams = [commit for commit in log(memory.store) if commit.change.author == "dream"]
    assert len(dreams) == said.count("dreamt completed")
