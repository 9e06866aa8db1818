"""A person with several agents: one home, one project, one simulated model for all of them, and `reverie`."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Script
from tests.agents.programs import (
    SMALL_WINDOW,
    compaction_arguments,
    find_program,
    run_turn,
    search_path,
    turn_arguments,
    write_settings,
)
from tests.program import Ended, run_reverie

WAIT_SECONDS = 30.0


@dataclass(frozen=True)
class Desk:
    """Where the agents work."""

    folder: Path
    provider: RunningSimulator
    variables: dict[str, str] = field(default_factory=dict)
    """More of the environment of `reverie`."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def use(self, *agents: str) -> None:
        """Set agents up; the test is skipped where one of them cannot be had."""
        for agent in agents:
            if find_program(agent) is None:
                pytest.skip(f"the program of {agent} is not installed; run python -m tests.agents.install")
            write_settings(agent, self.home, self.provider)

    def turn(self, agent: str, prompt: str, session: str = "") -> str:
        """One turn of an agent, of a new session or of the one with this id."""
        return run_turn(agent, self.home, self.project, self.provider, turn_arguments(agent, prompt, session))

    def compact(self, agent: str, session: str, prompt: str) -> None:
        """Have an agent compact a session, then go on with a prompt."""
        for arguments in compaction_arguments(agent, session, prompt):
            run_turn(agent, self.home, self.project, self.provider, arguments, SMALL_WINDOW.get(agent))

    @property
    def hook_log(self) -> str:
        """The log of our hooks."""
        path = self.home / ".reverie/hooks/log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def reverie(self, *arguments: str, code: int = 0) -> Ended:
        """`reverie` as a command, which must end with this exit code."""
        environment = {"HOME": str(self.home), "PATH": search_path(), "LANG": "C.UTF-8", **self.variables}
        ended = run_reverie(arguments, cwd=self.project, environment=environment)
        assert ended.code == code, (arguments, ended.out, ended.err)
        return ended

    def read_json(self, *arguments: str) -> Any:
        return json.loads(self.reverie(*arguments, "--json").out)

    def sessions(self, agent: str) -> list[Any]:
        """The sessions of one agent as `reverie sessions` lists them, oldest first."""
        listed = self.read_json("sessions", "--all", "--agent", agent)
        return sorted(listed, key=lambda row: str(row["created"]))

    def sent(self, since: int = 0) -> list[str]:
        """The bodies of all requests to a model from the given one on, as JSON text."""
        return [json.dumps(record.body, ensure_ascii=False) for record in self.provider.requests[since:]]

    def files(self) -> dict[str, bytes]:
        """Every file below the home that is not a link, with its content."""
        paths = (path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink())
        return {str(path.relative_to(self.home)): path.read_bytes() for path in paths}


@contextmanager
def open_desk(folder: Path, script: Script) -> Iterator[Desk]:
    """A desk with an empty home and a new repository; at the end no request may have been refused."""
    for name in ("home", "project"):
        (folder / name).mkdir()
    git = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder / "project", env=git, check=True)
    with simulator(script) as provider:
        yield Desk(folder, provider)
    refused = [(record.path, record.status, record.error) for record in provider.requests if record.status != 200]
    assert not refused, refused


def repeat_while_late(desk: Desk, act: Callable[[], str], wanted: str) -> str:
    """What `act` returns; it is done again when the answer lacks the wanted text and a hook was too late to give it.

    A hook ends after two seconds, whatever it has, so that a host never waits; a busy machine makes it late.
    """
    for _ in range(3):
        before = desk.hook_log.count("not done after")
        result = act()
        if wanted in result or desk.hook_log.count("not done after") == before:
            break
    return result


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
