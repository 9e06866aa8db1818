from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys

import pytest

from reverie.apps.cli.exits import FAILED, run_command
from tests.requirements import requirement


@requirement("cli:errors:exit-codes")
@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (OSError(errno.EACCES, "Permission denied", "/some/folder"), "/some/folder: Permission denied"),
        (OSError("nothing known of it"), "nothing known of it"),
        (sqlite3.OperationalError("database or disk is full"), "disk is full"),
    ],
)
def test_what_the_world_refuses_is_told_in_one_line(
    failure: Exception, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def act() -> int:
        raise failure

    assert run_command(act) == FAILED
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@requirement("cli:errors:exit-codes")
def test_a_mistake_of_the_program_is_not_hidden() -> None:
    def act() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_command(act)


INTERRUPTED_TASK = """
import asyncio, os, signal, sys
from reverie.apps.cli.exits import run_command

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(60)

async def main():
    background = asyncio.create_task(work())
    await asyncio.sleep(60)

signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.exit(run_command(lambda: asyncio.run(main())))
"""


@requirement("security:signals:end-the-group")
def test_a_signal_amid_a_task_leaves_no_traceback_where_ctrl_c_is_ignored() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_TASK], check=False, capture_output=True, text=True, timeout=60
    )

    assert (ran.returncode, ran.stderr) == (130, "reverie: interrupted\n")
