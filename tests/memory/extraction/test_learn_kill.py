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
from tests.memory.extraction.kit import MONDAY
from tests.memory.kill.worker import start
from tests.memory.stores import git
from tests.person import Person
from tests.requirements import requirement
from tests.session.sessions import hold

SUBJECTS = ("apples", "boats", "clocks", "dishes", "engines", "forests", "gloves", "houses", "islands", "jackets")


def _learn(directory: Path, settings: Settings, sessions: Path) -> None:
    memory = Memory(directory, settings=settings, now=lambda: MONDAY)
    asyncio.run(memory.learn([sessions], progress=_say))


def _say(done: int, _of: int, _name: str) -> None:
    # To the file descriptor, since a forked child still has the test runner's idea of standard output.
    os.write(1, b"%d\n" % done)


def _sessions(folder: Path) -> None:
    for number, subject in enumerate(SUBJECTS):
        hold(
            folder / f"s{number}.jsonl",
            f"Never put {subject} into the shared cache, they break replication of orders.",
            f"We decided to store {subject} in Postgres because {subject} need transactions.",
            f"remember: the {subject} server is broken right now",
        )


def _wait_for(told: Path, *, lines: int) -> None:
    """Wait until a run has come so far."""
    for _ in range(20_000):
        if told.exists() and told.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.001)
    raise AssertionError("the run says nothing")


def _names(directory: Path, settings: Settings) -> list[str]:
    return sorted(topic.name for topic in Memory(directory, settings=settings).topics())


@requirement("learn:resumable", "learn:idempotent")
@pytest.mark.timeout(1200)
def test_killed_anywhere_the_next_run_completes_the_store_with_nothing_twice(
    person: Person, tmp_path: Path, thorough: bool
) -> None:
    stores, kills_each = (50, 3) if thorough else (2, 3)
    sessions, whole = tmp_path / "sessions", tmp_path / "whole"
    _sessions(sessions)
    _learn(whole, person.settings, sessions)
    wanted = _names(whole, person.settings)
    chance = random.Random(20261115)
    on_the_way = 0
    for number in range(stores):
        directory = tmp_path / f"memory{number}"
        for kill in range(kills_each):
            told = tmp_path / f"said{number}-{kill}"
            child = start(partial(_learn, directory, person.settings, sessions), told)
            _wait_for(told, lines=chance.randrange(1, len(SUBJECTS)))
            time.sleep(chance.uniform(0.0, 0.02))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            found = _names(directory, person.settings)
            assert len(found) == len(set(found))
            assert set(found) <= set(wanted)
            on_the_way += 0 < len(found) < len(wanted)

        _learn(directory, person.settings, sessions)

        memory = Memory(directory, settings=person.settings)
        assert _names(directory, person.settings) == wanted
        assert {commit.change.author for commit in memory.log()} == {"extraction"}
        assert len(memory.refusals()) == len(SUBJECTS)
        assert git(directory, "status", "--porcelain") == ""
    assert on_the_way, "hardly a run was killed on its way"
