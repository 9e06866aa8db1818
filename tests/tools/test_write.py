"""Write: whole files, after a read, all or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reverie.tools.desk import Desk
from reverie.tools.read import Read
from reverie.tools.tool import ToolMistake
from reverie.tools.write import Write
from tests.requirements import requirement
from tests.tools.kit import call, told


@requirement("tools:change:needs-read")
async def test_a_new_file_is_made_with_its_folders_and_the_users_modes(desk: Desk) -> None:
    path = desk.project / "deep" / "er" / "new.txt"
    mask = os.umask(0o022)
    try:
        answer = await call(Write(), desk, file_path=str(path), content="one\ntwo\n")
    finally:
        os.umask(mask)

    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.parent.stat().st_mode & 0o777 == 0o755
    assert told(answer) == f"Made {path} (2 lines)."
    assert answer.details["type"] == "create"
    assert "+one" in str(answer.details["diff"])


@requirement("tools:change:needs-read")
async def test_an_existing_file_must_be_read_whole_and_as_it_is(desk: Desk) -> None:
    path = desk.project / "a.txt"
    path.write_text("1\n2\n3\n", encoding="utf-8")

    with pytest.raises(ToolMistake, match="has not been read"):
        await call(Write(), desk, file_path=str(path), content="x")
    await call(Read(), desk, file_path=str(path), limit=1)
    with pytest.raises(ToolMistake, match="Only a part"):
        await call(Write(), desk, file_path=str(path), content="x")
    await call(Read(), desk, file_path=str(path), offset=3)
    with pytest.raises(ToolMistake, match="Only a part"):
        await call(Write(), desk, file_path=str(path), content="x")
    await call(Read(), desk, file_path=str(path), offset=2, limit=1)
    Write().need({"file_path": str(path), "content": "x"}, desk)
    path.write_text("else\n", encoding="utf-8")
    with pytest.raises(ToolMistake, match="changed since"):
        await call(Write(), desk, file_path=str(path), content="x")
    await call(Read(), desk, file_path=str(path))
    await call(Write(), desk, file_path=str(path), content="x\n")
    await call(Write(), desk, file_path=str(path), content="y\n")

    assert path.read_text(encoding="utf-8") == "y\n"


@requirement("tools:links:not-followed-later")
async def test_a_link_put_in_place_of_the_file_or_a_folder_is_not_written_through(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("safe", encoding="utf-8")
    tool = Write()
    for name in ("file", "folder/file"):
        given = {"file_path": str(desk.project / name), "content": "evil"}
        tool.need(given, desk)
        if "/" in name:
            (desk.project / "folder").symlink_to(outside)
        else:
            (desk.project / "file").symlink_to(outside / "file")
        with pytest.raises(ToolMistake, match="another place"):
            await tool.run(given, desk)

    assert (outside / "file").read_text(encoding="utf-8") == "safe"


_WRITER = """
import asyncio, sys
from pathlib import Path
from tests.tools.kit import call, desk_at
from reverie.tools.read import Read
from reverie.tools.write import Write

async def main():
    desk = desk_at(Path(sys.argv[1]))
    path = str(desk.project / "file")
    await call(Read(), desk, file_path=path)
    print("ready", flush=True)
    for number in range(100000):
        await call(Write(), desk, file_path=path, content=str(number % 10) * 200_000)

asyncio.run(main())
"""


@requirement("tools:write:atomic")
def test_a_killed_write_leaves_the_old_file_or_the_new(desk: Desk, tmp_path: Path) -> None:
    path = desk.project / "file"
    path.write_text("9" * 200_000, encoding="utf-8")
    root = Path(__file__).resolve().parents[2]
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        with writer.stdout:
            assert writer.stdout.readline() == "ready\n"
            time.sleep(0.05)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        content = path.read_text(encoding="utf-8")
        assert content == content[0] * 200_000
