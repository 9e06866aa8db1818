from __future__ import annotations

import errno
import sqlite3

import pytest

from reverie.apps.cli.exits import FAILED, ended
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

    assert ended(act) == FAILED
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@requirement("cli:errors:exit-codes")
def test_a_mistake_of_the_program_is_not_hidden() -> None:
    def act() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ended(act)
