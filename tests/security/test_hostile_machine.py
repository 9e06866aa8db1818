"""The real program where there is no room, no git, nothing to write to, or where time goes back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import which

import pytest

from reverie.messages.blocks import Json
from reverie.messages.entries import UserEntry
from reverie.messages.transcript import read_entries
from reverie.models.ports import Ending
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement
from tests.security.hostile import Trap
from tests.security.test_hostile_repository import asked, bash, provider
from tests.session.session_desk import NOTES, calls, desk, ending, told

SAVE = ("save", "--name", "No mocks", "--type", "feedback", "--description", "Use a real database", "--body", "x")


def without_room(victim: Terminal, *words: str, blocks: int, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run the program where no file may have more than so many KiB; what it said."""
    # Compiled modules would be cut off as well, for everybody.
    quiet = {"NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    limited = ("bash", "-c", f'ulimit -f {blocks}; exec "$@"', "limited", sys.executable, "-m", "reverie", *words)
    ran = subprocess.run(
        limited,
        cwd=victim.project,
        env={"PATH": os.environ["PATH"], "HOME": str(victim.home), **quiet, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return ran.returncode, ran.stderr


@requirement("security:world:survives")
@pytest.mark.parametrize("blocks", [0, 8])
def test_without_room_every_command_says_so_and_loses_nothing(made: Trap, victim: Terminal, blocks: int) -> None:
    assert victim.run(*SAVE).code == 0
    before = {path: path.read_bytes() for path in victim.home.rglob("*.md")}
    with provider({"when": {"last_user": "please"}, "then": bash("seq 1 30000")}) as running:
        environment = {"ANTHROPIC_API_KEY": running.api_key, "ANTHROPIC_BASE_URL": running.base_url}
        lines = [
            ("-m", "claude-sonnet-4-5", "--allowed-tools", "Bash", "-p", "please work"),
            ("recall", "real database"),
            ("doctor",),
            ("log",),
            (*SAVE[:1], "--name", "Another", *SAVE[3:-1], "y" * 20_000),
        ]
        for words in lines:
            code, said = without_room(victim, *words, blocks=blocks, environment=environment)
            assert "Traceback" not in said, (words, said)
            assert code in (0, 1), (words, said)
    assert {path: path.read_bytes() for path in before} == before
    assert victim.run("recall", "real database").out.startswith("No mocks")
    assert victim.run("doctor").code == 0
    assert made.sprung == []


@requirement("security:world:survives")
def test_without_git_a_session_works_and_memory_has_no_history(made: Trap, victim: Terminal, tmp_path: Path) -> None:
    programs = tmp_path / "few"
    programs.mkdir()
    for name in ("bash", "sh", "touch", "env"):
        found = which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    made.file(".reverie/settings.local.toml", '[memory]\ndirectory = "/data/elsewhere"\n')
    (made.project / ".git").mkdir()
    (made.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (made.project / ".git" / "objects").mkdir()
    (made.project / ".git" / "refs").mkdir()
    with provider({"when": {"last_user": "please"}, "then": bash(made.command("worked"))}) as running:
        ran = victim.run(
            *("-m", "claude-sonnet-4-5", "--allowed-tools", "Bash", "-p", "please"),
            ANTHROPIC_API_KEY=running.api_key,
            ANTHROPIC_BASE_URL=running.base_url,
            PATH=str(programs),
        )
    saved = victim.run(*SAVE, PATH=str(programs))

    assert (ran.code, saved.code) == (0, 0), ran.err + saved.err
    assert made.sprung == ["worked"]
    assert victim.run("recall", "real database", PATH=str(programs)).out.startswith("No mocks")
    assert "git is not installed" in victim.run("log", PATH=str(programs)).err


@requirement("security:world:survives")
def test_without_a_home_to_write_to_the_reason_is_said(victim: Terminal) -> None:
    with provider() as running:
        (victim.home / "file").write_text("", encoding="utf-8")
        ran = asked(victim, "hello", running, "--set", f"home={victim.home / 'file' / 'below'}")

    assert ran.code == 2
    assert "cannot make the folder" in ran.err


@requirement("security:world:survives")
async def test_a_clock_that_goes_back_harms_no_session(tmp_path: Path) -> None:
    script: list[Json] = [
        NOTES,
        {"when": {"last_user": "work", "has_tool_results": False}, "then": calls(("Bash", {"command": "echo done"}))},
        {"then": "fine {request}"},
    ]
    with desk(tmp_path, script) as here:
        start = here.time
        async with here.start() as session:
            for hours in (0, -30, 5, -9_000):
                here.time = start + timedelta(hours=hours)
                assert ending(await told(session, f"work {hours}")).ending is Ending.COMPLETED
            await session.compact()
            here.time = datetime(1970, 1, 2, tzinfo=UTC)
            assert ending(await told(session, "work on")).ending is Ending.COMPLETED
            path = session.path
        async with here.resume(path.stem) as again:
            assert ending(await told(again, "work again")).ending is Ending.COMPLETED

        typed = [entry.message.text for entry in read_entries(path) if isinstance(entry, UserEntry)]
        assert [
            text
            for text in ("work 0", "work -30", "work 5", "work -9000", "work on", "work again")
            if text not in typed
        ] == []
        assert all(record.status != 400 for record in here.provider.requests)
