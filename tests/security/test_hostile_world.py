"""Files, commands and machines that do what nobody expects; nothing may hang, and nothing may be lost."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reverie.tools.bash import Bash
from reverie.tools.desk import Desk
from reverie.tools.edit import Edit
from reverie.tools.glob import Glob
from reverie.tools.grep import Grep
from reverie.tools.read import Read
from reverie.tools.shell_output import plain
from reverie.tools.shells import Shells
from reverie.tools.tool import Tool, ToolMistake
from reverie.tools.write import Write
from tests.requirements import requirement
from tests.tools.kit import call, desk_at, told

HANG_SECONDS = 60.0


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_at(tmp_path)


@pytest.fixture
async def shells() -> AsyncIterator[Shells]:
    made = Shells()
    yield made
    await made.close()


@requirement("security:world:no-hang")
@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "loop", "link to a device"])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        (Read(), {}),
        (Grep(None), {"pattern": "x"}),
        (Edit(), {"old_string": "a", "new_string": "b"}),
        (Write(), {"content": "x"}),
    ],
    ids=["Read", "Grep", "Edit", "Write"],
)
async def test_what_is_no_file_is_answered_at_once(desk: Desk, tool: Tool, given: dict[str, str], kind: str) -> None:
    place = desk.project / "odd"
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                here = Path.cwd()
                os.chdir(desk.project)
                try:
                    made.bind("odd")
                finally:
                    os.chdir(here)
        case "device":
            place = Path("/dev/zero")
        case "loop":
            place.symlink_to("odd")
        case _:
            place.symlink_to("/dev/zero")
    field = "path" if tool.spec.name == "Grep" else "file_path"

    if (tool.spec.name, kind) == ("Write", "loop"):
        await call(tool, desk, **{field: str(place)}, **given)
        assert place.read_text(encoding="utf-8") == "x", "the broken link gives way to a file"
    else:
        with pytest.raises(ToolMistake):
            await call(tool, desk, **{field: str(place)}, **given)


@requirement("security:world:no-hang")
async def test_a_search_passes_over_what_is_no_file_and_does_not_go_round(desk: Desk) -> None:
    os.mkfifo(desk.project / "pipe")
    (desk.project / "round").symlink_to(".")
    (desk.project / "self").symlink_to("self")
    (desk.project / "zero").symlink_to("/dev/zero")
    (desk.project / "data.bin").write_bytes(bytes(range(256)) * 4_000)
    (desk.project / "a.txt").write_text("needle\n", encoding="utf-8")

    async with asyncio.timeout(HANG_SECONDS):
        assert told(await call(Grep(None), desk, pattern="needle")) == str(desk.project / "a.txt")
        listed = told(await call(Glob(), desk, pattern="**/*")).splitlines()

    assert str(desk.project / "a.txt") in listed
    assert len(listed) < 10


@requirement("security:world:names")
@pytest.mark.parametrize(
    "name",
    [
        "new\nline.txt",
        "emoji \U0001f600.txt",
        unicodedata.normalize("NFD", "é.txt"),
        "-rf.txt",
        "a\x1b[2Jb.txt",
        "sp  ace .txt",
        "$(touch sprung).txt",
        "<system-reminder>.txt",
        "'quo\"te`.txt",
    ],
)
async def test_a_file_of_any_name_is_read_changed_and_found(desk: Desk, name: str) -> None:
    path = desk.project / name
    path.write_text("needle\n", encoding="utf-8")

    assert "needle" in told(await call(Read(), desk, file_path=str(path)))
    await call(Edit(), desk, file_path=str(path), old_string="needle", new_string="thread")

    assert path.read_text(encoding="utf-8") == "thread\n"
    assert name in told(await call(Grep(None), desk, pattern="thread"))
    assert name in told(await call(Glob(), desk, pattern="*"))
    assert os.listdir(desk.project) == [name]  # noqa: PTH208 - names are compared


@requirement("security:world:no-hang")
async def test_a_line_without_end_is_shown_in_part(desk: Desk, shells: Shells) -> None:
    path = desk.project / "line.txt"
    path.write_bytes(b"x" * 20_000_000 + b" needle")

    async with asyncio.timeout(HANG_SECONDS):
        assert len(told(await call(Read(), desk, file_path=str(path)))) < 10_000
        assert len(told(await call(Grep(None), desk, pattern="x needle", output_mode="content"))) < 10_000
        printed = told(await call(Bash(shells), desk, command="cat line.txt"))

    assert len(printed) < 40_000
    assert "x needle" in printed[-100:]


@requirement("security:world:no-hang")
def test_printed_bytes_are_read_in_time_that_grows_with_them() -> None:
    # Quadratic reading of so much would outlast the time-out of the test many times.
    for unit in (b"x", b"x\r", b"\x1b]", b"\x1b[0", b"\r\n"):
        plain(unit * 1_000_000)

    assert plain(b"a\rb\r\nc\r") == "b\nc"


@requirement("security:world:no-hang")
async def test_a_command_that_will_not_end_is_ended(desk: Desk, shells: Shells) -> None:
    stubborn = "trap '' TERM INT HUP; while :; do sleep 0.05; done"

    answer = await call(Bash(shells), desk, command=stubborn, timeout=200)

    assert "ended after" in told(answer)


@requirement("security:world:no-hang")
async def test_a_process_left_behind_keeps_nobody_waiting(desk: Desk, shells: Shells) -> None:
    answer = await call(Bash(shells), desk, command="(setsid sleep 600 & echo $!) ; echo started")
    os.kill(int(told(answer).splitlines()[0]), 9)  # fails where the process was waited for

    assert "started" in told(answer)


@requirement("security:world:bounded")
async def test_a_command_that_prints_without_end_is_cut_in_memory_and_on_disk(desk: Desk, shells: Shells) -> None:
    answer = await call(Bash(shells), desk, command="yes | head -c 100000000")

    kept = Path(str(answer.details["outputFile"]))
    assert len(told(answer)) < 40_000
    assert kept.stat().st_size == 64 * 1024 * 1024
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "100,000,000 bytes, of " in told(answer)
    assert f"The first {64 * 1024 * 1024:,} bytes of it are in" in told(answer)


@requirement("security:world:bounded")
async def test_a_folder_of_many_files_is_listed_in_part(desk: Desk) -> None:
    for folder in range(6):
        place = desk.project / f"d{folder}"
        place.mkdir()
        for number in range(500):
            (place / f"f{number}.txt").touch()

    async with asyncio.timeout(60):
        listed = told(await call(Glob(), desk, pattern="**/*.txt"))
        assert told(await call(Grep(None), desk, pattern="needle")) == "Nothing matches."

    assert "more files match" in listed
    assert len(listed) < 30_000
