"""What lies among the transcripts of a project and is none."""

from __future__ import annotations

import os

import pytest

from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement
from tests.security.hostile import Trap


@requirement("security:world:no-hang")
@pytest.mark.timeout(120)
def test_a_pipe_or_a_device_among_the_transcripts_keeps_nobody_waiting(made: Trap, victim: Terminal) -> None:
    kept = victim.run("save", "The parser is written by hand")
    assert kept.code == 0, kept.err
    folder = next(path for path in (victim.home / ".reverie" / "projects").iterdir() if path.is_dir())
    os.mkfifo(folder / f"{'1' * 8}-1111-4111-8111-{'1' * 12}.jsonl")
    (folder / f"{'2' * 8}-2222-4222-8222-{'2' * 12}.jsonl").symlink_to("/dev/zero")
    (folder / f"{'3' * 8}-3333-4333-8333-{'3' * 12}.jsonl").symlink_to("/nowhere")

    for arguments in (("search", "parser"), ("sessions",), ("doctor",), ("learn", str(folder), "--dry-run"), ("log",)):
        ran = victim.run(*arguments)
        assert ran.code == 0, (arguments, ran.err)
    assert victim.run("context", "22222222").code == 2
