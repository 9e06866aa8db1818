from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.testing.simulator import RunningSimulator, simulator
from tests.apps.tui.test_terminal import MODEL, at_work
from tests.apps.tui.tmux import needs_tmux
from tests.program import Forked, be_reverie
from tests.requirements import requirement

pytestmark = pytest.mark.program

SIGNALS = [signal.SIGTERM, signal.SIGHUP]
WORDS = ["-m", MODEL, "--allowed-tools", "Bash", "-p", "please"]


def script(folder: Path) -> list[Json]:
    """A command that writes down its process and waits."""
    waits = f"sh -c 'echo $$ > {folder / 'starting'}; mv {folder / 'starting'} {folder / 'started'}; sleep 300'; true"
    call: Json = {"name": "Bash", "input": {"command": waits}}
    return [{"when": {"last_user": "please"}, "then": {"tool_calls": [call]}}]


def started(folder: Path) -> int:
    """Wait until the command runs; its process."""
    until = time.monotonic() + 60
    while not (folder / "started").exists():
        assert time.monotonic() < until, "the command does not start"
        time.sleep(0.05)
    return int((folder / "started").read_text(encoding="utf-8"))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")


def surroundings(folder: Path, provider: RunningSimulator) -> dict[str, str]:
    """The environment of a program, with a home of its own."""
    (folder / "home").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "ANTHROPIC_API_KEY": provider.api_key,
        "ANTHROPIC_BASE_URL": provider.base_url,
    }


def has_ended(process: int) -> bool:
    """Whether a process that was told to end does so; a signal takes effect when the process runs again."""
    until = time.monotonic() + 30
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(process)


@contextmanager
def answering(folder: Path, before: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`reverie -p` started by a shell that runs something before, with the command of its tool under way."""
    with simulator(script(folder)) as provider:
        environment = surroundings(folder, provider)
        command = ["sh", "-c", f'{before} exec "$@"', "sh", sys.executable, "-m", "reverie", *WORDS]
        with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as running:
            yield running, started(folder)


@requirement("security:signals:end-the-group")
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_ends_the_command_of_a_tool(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "streams").mkdir()
    with simulator(script(tmp_path)) as provider:
        running = Forked(be_reverie, [WORDS, tmp_path, surroundings(tmp_path, provider)], tmp_path / "streams")
        inner = started(tmp_path)
        os.kill(running.pid, number)
        ended = running.ended()

    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert has_ended(inner)


@requirement("security:signals:end-the-group")
def test_what_the_starting_shell_ignores_is_respected(tmp_path: Path) -> None:
    """A background job of a script ignores Ctrl-C, one under `nohup` a closed terminal; neither ignores a request."""
    with answering(tmp_path, "trap '' INT HUP;") as (running, inner):
        running.send_signal(signal.SIGHUP)
        running.send_signal(signal.SIGINT)
        still_runs = is_running(inner) and running.poll() is None
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=60)

    assert still_runs
    assert "Traceback" not in said
    assert has_ended(inner)


@needs_tmux
@requirement("security:signals:end-the-group", "tui:terminal:real")
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_restores_the_terminal(tmp_path: Path, number: signal.Signals) -> None:
    with (
        simulator(script(tmp_path)) as provider,
        at_work(tmp_path, provider, "-m", MODEL, "--allowed-tools", "Bash") as terminal,
    ):
        terminal.sees("Type a message.")
        terminal.enter("please")
        inner = started(tmp_path)
        os.kill(terminal.process_id, number)

        terminal.wait_for_end()
        assert "Resume this session with: reverie --resume" in terminal.screen()
        assert not terminal.is_on_alternate_screen
    assert has_ended(inner)
