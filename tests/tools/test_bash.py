"""Bash in real shells: where it stands, what it prints, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reverie.context.spill import PERSISTED, spill
from reverie.permissions.need import Act
from reverie.tools.bash import Bash, BashOutput, KillShell, longest_chars
from reverie.tools.desk import Desk
from reverie.tools.shells import Shells
from reverie.tools.tool import ToolMistake
from tests.context.kit import Session
from tests.requirements import requirement
from tests.tools.kit import call, told

PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.02
LOOKS = round(PATIENCE_SECONDS / LOOK_SECONDS)


@pytest.fixture
async def shells() -> AsyncIterator[Shells]:
    made = Shells()
    yield made
    await made.close()


async def until_gone(pid: int) -> None:
    """Wait until a process is no more."""
    for _ in range(LOOKS):
        if not is_alive(pid):
            return
        await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError(f"process {pid} is still there")


async def output_with(word: str, shells: Shells, desk: Desk, name: str) -> str:
    """What a background command says once it says this."""
    for _ in range(LOOKS):
        text = told(await call(BashOutput(shells), desk, bash_id=name))
        if word in text:
            return text
        await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError(f"{name} never said {word!r}")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return Path("/proc/self").exists() is False


async def pids_in(path: Path, count: int) -> list[int]:
    """The process ids that a command writes, once they are all there."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = path.read_text(encoding="utf-8").split() if path.exists() else []
            if len(found) == count:
                return [int(pid) for pid in found]
            await asyncio.sleep(0.02)


@requirement("tools:bash:output")
async def test_output_errors_and_exit_code_are_told(desk: Desk, shells: Shells) -> None:
    good = await call(Bash(shells), desk, command="echo out; echo err >&2")
    silent = await call(Bash(shells), desk, command="true")
    bad = await call(Bash(shells), desk, command="echo why; exit 7")
    wrong = await call(Bash(shells), desk, command="if then")

    assert (told(good), good.is_error) == ("out\nerr", False)
    assert told(silent) == "(no output)"
    assert (told(bad), bad.is_error, bad.details["exit_code"]) == ("Exit code 7\nwhy", True, 7)
    assert "syntax error" in told(wrong)
    assert list(desk.scratch.iterdir()) == []


@requirement("tools:bash:output")
async def test_there_is_no_input_and_the_environment_is_the_desks(desk: Desk, shells: Shells) -> None:
    desk.environment = {"PATH": os.environ["PATH"], "GREETING": "hello"}

    answer = await call(Bash(shells), desk, command='cat; read -r x || echo "$GREETING ${HOME-none}"')

    assert told(answer) == "hello none"


@requirement("tools:bash:output")
async def test_long_output_shows_both_ends_and_is_whole_in_a_file(desk: Desk, shells: Shells) -> None:
    desk.spill_path = lambda call: desk.scratch.parent / "tool-results" / f"{call}.txt"
    for number, command in enumerate(("seq 1 100000", "seq 1 100000; exit 1")):
        desk.call_id = f"toolu_{number}"
        answer = await call(Bash(shells), desk, command=command)

        text = told(answer)
        assert len(text.encode()) < desk.settings.spill.preview_bytes + 600
        assert "\n1\n2\n3\n" in text
        assert "99999\n100000" in text
        kept = Path(str(answer.details["outputFile"]))
        assert kept == desk.spill_path(desk.call_id)
        assert f"The whole output is in {kept}" in text
        assert "588,895 bytes, of 100,001 lines" in text
        assert kept.read_text(encoding="utf-8") == "".join(f"{number}\n" for number in range(1, 100_001))
        assert kept.stat().st_mode & 0o777 == 0o600


@requirement("tools:bash:output", "context:spill:limits")
@pytest.mark.parametrize("letter", ["x", "鷺"])
@pytest.mark.parametrize("over", [0, 1])
async def test_there_is_one_line_between_whole_and_spilled_output(
    desk: Desk, shells: Shells, over: int, letter: str
) -> None:
    printed = letter * (longest_chars(desk) + over)
    (desk.project / "printed.txt").write_text(printed, encoding="utf-8")

    answer = await call(Bash(shells), desk, command="cat printed.txt")

    if over:
        assert told(answer).startswith(PERSISTED)
        assert Path(str(answer.details["outputFile"])).read_text(encoding="utf-8") == printed
    else:
        assert told(answer) == printed
    session = Session().say("print it").work("Bash", told(answer))
    again = spill(desk.settings.spill, lambda name: desk.scratch / name)(session.view, session.scene())
    assert not again.writes, "the stage spills nothing of it once more"


@requirement("tools:bash:output")
async def test_colours_and_overwritten_lines_are_left_out(desk: Desk, shells: Shells) -> None:
    answer = await call(Bash(shells), desk, command=r"printf '\033[31mred\033[0m\n 10%%\r 50%%\r100%%\nend\r\n'")

    assert told(answer) == "red\n100%\nend"


@requirement("tools:bash:output")
async def test_lines_are_told_while_the_command_works(desk: Desk, shells: Shells) -> None:
    heard: list[str] = []
    desk.progress = heard.append

    await call(Bash(shells), desk, command="echo first; sleep 0.2; echo second")

    assert heard == ["first", "second"]


@requirement("tools:bash:directory")
async def test_the_directory_is_kept(desk: Desk, shells: Shells) -> None:
    (desk.project / "sub dir").mkdir()

    await call(Bash(shells), desk, command="cd 'sub dir' && false")
    assert desk.directory == desk.project / "sub dir"
    assert told(await call(Bash(shells), desk, command="pwd")) == str(desk.project / "sub dir")
    await call(Bash(shells), desk, command="cd ..; exit 3")
    assert desk.directory == desk.project
    assert Bash(shells).need({"command": "pwd"}, desk).directory == desk.project


@requirement("tools:bash:directory")
async def test_leaving_the_folders_leads_back_to_the_project(desk: Desk, shells: Shells, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.project / "door").symlink_to(outside)
    (desk.project / "sub").mkdir()
    await call(Bash(shells), desk, command="cd sub")

    away = await call(Bash(shells), desk, command=f"cd {outside}; pwd")
    assert told(away).startswith(str(outside))
    assert "is outside the folders of this session" in told(away)
    assert desk.directory == desk.project
    await call(Bash(shells), desk, command="cd door")
    assert desk.directory == desk.project
    desk.additional = (outside,)
    await call(Bash(shells), desk, command="cd door")
    assert desk.directory == outside


@requirement("tools:bash:directory")
async def test_a_directory_that_vanished_does_not_stop_the_agent(desk: Desk, shells: Shells) -> None:
    (desk.project / "gone").mkdir()
    await call(Bash(shells), desk, command="cd gone")
    (desk.project / "gone").rmdir()

    answer = await call(Bash(shells), desk, command="pwd")

    assert told(answer).startswith(str(desk.project))
    assert "is gone" in told(answer)


@requirement("tools:bash:no-orphans")
async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(desk: Desk, shells: Shells) -> None:
    pids = desk.project / "pids"
    command = (
        f"(trap '' TERM; echo $BASHPID >>{pids}; sleep 60; sleep 60) & sleep 61 & echo $! >>{pids}; echo here; wait"
    )

    answer = await call(Bash(shells), desk, command=command, timeout=400)

    assert answer.is_error
    assert told(answer).startswith("here\n(ended after 0.4 seconds")
    assert answer.details["interrupted"] is True
    for pid in await pids_in(pids, 2):
        await until_gone(pid)


@requirement("tools:bash:no-orphans")
async def test_cancelling_leaves_no_process_and_no_file(desk: Desk, shells: Shells) -> None:
    pids = desk.project / "pids"
    command = f"sleep 60 & echo $! $$ >{pids}; wait"
    running = asyncio.create_task(call(Bash(shells), desk, command=command))
    found = await pids_in(pids, 2)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    for pid in found:
        await until_gone(pid)
    assert list(desk.scratch.iterdir()) == []


@requirement("tools:bash:no-orphans")
async def test_something_left_in_the_background_neither_blocks_nor_outlives_the_session(desk: Desk) -> None:
    shells = Shells()
    pids = desk.project / "pids"

    async with asyncio.timeout(PATIENCE_SECONDS):
        answer = await call(Bash(shells), desk, command=f"sleep 60 & echo $! >{pids}; echo done")
    assert told(answer) == "done"
    (pid,) = await pids_in(pids, 1)
    assert is_alive(pid)
    await shells.close()
    await until_gone(pid)


@requirement("tools:bash:background")
async def test_a_background_command_is_read_bit_by_bit_and_ended(desk: Desk, shells: Shells) -> None:
    pids = desk.project / "pids"
    command = f"echo one; until [ -e go ]; do sleep 0.02; done; echo two; echo $$ >{pids}; sleep 60"
    started = await call(Bash(shells), desk, command=command, run_in_background=True)
    name = str(started.details["backgroundTaskId"])
    assert re.search(rf"as {name}\b", told(started))

    assert "one" in await output_with("one", shells, desk, name)
    (desk.project / "go").touch()
    later = await output_with("two", shells, desk, name)
    assert "one" not in later
    assert "is running" in later
    (pid,) = await pids_in(pids, 1)
    assert "Ended" in told(await call(KillShell(shells), desk, shell_id=name))
    await until_gone(pid)
    assert "was ended" in told(await call(BashOutput(shells), desk, bash_id=name))
    assert "already ended" in told(await call(KillShell(shells), desk, shell_id=name))
    with pytest.raises(ToolMistake, match=f"there are: {name}"):
        await call(KillShell(shells), desk, shell_id="other")


@requirement("tools:bash:background")
async def test_a_character_that_is_half_printed_waits_for_its_other_half(desk: Desk, shells: Shells) -> None:
    command = r"printf 'caf\303'; until [ -e go ]; do sleep 0.02; done; printf '\251 open\n'"
    started = await call(Bash(shells), desk, command=command, run_in_background=True)
    name = str(started.details["backgroundTaskId"])

    assert (await output_with("caf", shells, desk, name)).endswith("caf")
    (desk.project / "go").touch()
    assert "é open" in await output_with("open", shells, desk, name)


@requirement("tools:bash:background")
async def test_a_background_command_tells_its_exit_code(desk: Desk, shells: Shells) -> None:
    started = await call(Bash(shells), desk, command="echo x; exit 4", run_in_background=True)
    name = str(started.details["backgroundTaskId"])

    assert await output_with("exit code 4", shells, desk, name)


@requirement("tools:bash:directory")
async def test_what_a_call_would_do_is_told_before(desk: Desk, shells: Shells) -> None:
    bash = Bash(shells, is_read_only=lambda command, _: command.startswith(("ls", "cd")))

    need = bash.need({"command": "rm -r x\nls", "description": ""}, desk)

    assert (need.act, need.command, need.summary) == (Act.RUN, "rm -r x\nls", "rm -r x")
    assert bash.is_concurrent({"command": "ls"}, desk)
    assert not bash.is_concurrent({"command": "cd sub && ls"}, desk)
    assert not bash.is_concurrent({"command": "rm x"}, desk)
    with pytest.raises(ToolMistake, match="no command"):
        bash.need({"command": "  "}, desk)


@requirement("tools:bash:keys")
async def test_a_key_of_ours_is_neither_shown_nor_kept(shells: Shells, desk: Desk) -> None:
    key = "sk-" + "Q7x9" * 8
    heard: list[str] = []
    desk.keys, desk.progress = (key,), heard.append
    command = f"printf %s {key[:9]}; sleep 0.05; echo {key[9:]}; seq 1 20000; echo {key}; sleep 0.15; echo {key}"

    answer = await call(Bash(shells), desk, command=command)
    await call(Bash(shells), desk, command=f"echo {key}; seq 1 9", run_in_background=True)
    later = await output_with("9", shells, desk, shells.background[-1].id)

    kept = Path(str(answer.details["outputFile"])).read_text(encoding="utf-8")
    assert kept.count("[key]") == 3
    assert key not in kept + told(answer) + later + "".join(heard)


@requirement("tools:bash:output")
async def test_a_full_disk_costs_the_copy_and_not_the_command(shells: Shells, desk: Desk) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        answer = await call(Bash(shells), desk, command="seq 1 100000; echo the end")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert not answer.is_error
    assert "the end" in told(answer)
    assert "The first 100,000 bytes of it are in" in told(answer)
