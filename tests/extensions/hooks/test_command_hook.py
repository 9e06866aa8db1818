from __future__ import annotations

import os
from pathlib import Path

import pytest

from reverie.extensions.hooks.command_hook import Ended, Program, run_program
from tests.requirements import requirement


def program(folder: Path, *words: str, given: bytes = b"") -> Program:
    return Program(words, folder, {"PATH": os.environ["PATH"]}, given)


@requirement("hooks:run:input")
async def test_output_of_any_bytes_and_the_code_come_back(tmp_path: Path) -> None:
    ended = await run_program(program(tmp_path, "sh", "-c", r"cat; printf '\377x'; echo no >&2; exit 3", given=b"in:"))

    assert ended == Ended(3, "in:\ufffdx", "no\n")


@requirement("hooks:run:never-fails")
async def test_a_program_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_program(program(tmp_path, "no-such-program-anywhere"))
    with pytest.raises(FileNotFoundError):
        await run_program(program(tmp_path / "gone", "true"))


@requirement("hooks:run:timeout")
async def test_a_program_leads_a_group_of_its_own(tmp_path: Path) -> None:
    ended = await run_program(program(tmp_path, "sh", "-c", "ps -o pgid= -p $$; echo $$"))

    group, own = ended.stdout.split()
    assert group == own
