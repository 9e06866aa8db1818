from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from reverie import Memory, Settings
from tests.api.conftest import Person
from tests.api.sessions import hold
from tests.memory.extraction.kit import MONDAY
from tests.memory.kill.worker import start
from tests.memory.stores import git
from tests.requirements import requirement

SUBJECTS = ("apples", "boats", "clocks", "dishes", "engines", "forests", "gloves", "houses", "islands", "jackets")


def _learn(directory: Path, settings: Settings, sessions: Path) -> None:
    memory = Memory(directory, settings=settings, now=lambda: MONDAY)
    asyncio.run(memory.learn([sessions]))


def _sessions(folder: Path) -> None:
    for number, subject in enumerate(SUBJECTS):
        hold(
            folder / f"s{number}.jsonl",
            f"Never put {subject} into the shared cache, they break replication of orders.",
            f"We decided to store {subject} in Postgres because {subject} need transactions.",
            f"remember: the {subject} server is broken right now",
        )


@requirement("learn:resumable", "learn:idempotent")
@pytest.mark.timeout(180)
def test_killed_anywhere_the_next_run_completes_the_store_with_nothing_twice(person: Person, tmp_path: Path) -> None:
    sessions, directory, whole = tmp_path / "sessions", tmp_path / "memory", tmp_path / "whole"
    _sessions(sessions)
    _learn(whole, person.settings, sessions)
    wanted = sorted(topic.name for topic in Memory(whole, settings=person.settings).topics())
    chance = random.Random(20261115)
    for number in range(20):
        child = start(partial(_learn, directory, person.settings, sessions), tmp_path / f"said{number}")
        time.sleep(chance.uniform(0.0, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = [topic.name for topic in Memory(directory, settings=person.settings).topics()]
        assert len(found) == len(set(found))
        assert set(found) <= set(wanted)

    _learn(directory, person.settings, sessions)

    memory = Memory(directory, settings=person.settings)
    assert sorted(topic.name for topic in memory.topics()) == wanted
    assert {commit.change.author for commit in memory.log()} == {"extraction"}
    assert len(memory.refusals()) == len(SUBJECTS)
    assert git(directory, "status", "--porcelain") == ""
