"""Edit: exact, unique, and nothing else changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reverie.tools.desk import Desk
from reverie.tools.edit import Edit, replace_text
from reverie.tools.read import Read
from reverie.tools.tool import ToolMistake
from tests.requirements import requirement
from tests.tools.kit import call, told

PIECES = st.text(st.sampled_from("ab \té\ufeff"), max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


async def read_then_edit(desk: Desk, path: Path, old: str, new: str, *, replace_all: bool = False) -> str:
    await call(Read(), desk, file_path=str(path))
    return told(await call(Edit(), desk, file_path=str(path), old_string=old, new_string=new, replace_all=replace_all))


def apply(patch: str, folder: Path) -> None:
    subprocess.run(["patch", "-p1"], input=patch, text=True, cwd=folder, check=True, capture_output=True)


@requirement("tools:edit:exact")
@given(before=st.lists(st.tuples(PIECES, ENDS)), after=st.lists(st.tuples(PIECES, ENDS)), new=PIECES, end=ENDS)
def test_only_the_named_piece_changes_and_the_way_back_restores_all(
    before: list[tuple[str, str]], after: list[tuple[str, str]], new: str, end: str
) -> None:
    head, tail = ("".join(line + ending for line, ending in part) for part in (before, after))
    old = f"UNIQUE{end}SECOND"
    assume("REPLACED" not in head + tail)

    there = replace_text(head + old + tail, old, f"REPLACED{new}\nAGAIN")
    assert there == f"{head}REPLACED{new}{end}AGAIN{tail}"
    assert replace_text(there, f"REPLACED{new}\nAGAIN", "UNIQUE\nSECOND") == head + old + tail


@requirement("tools:edit:exact")
async def test_marks_line_ends_mode_and_foreign_bytes_stay(desk: Desk) -> None:
    path = desk.project / "old.bat"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo caf\xe9\r\nthree\r\n")
    path.chmod(0o755)

    await read_then_edit(desk, path, "one\ntwo", "1\n2\nand")

    assert path.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\nand caf\xe9\r\nthree\r\n"
    assert path.stat().st_mode & 0o777 == 0o755


@requirement("tools:edit:exact")
async def test_an_edit_shows_the_place_and_carries_a_patch_that_applies(desk: Desk) -> None:
    path = desk.project / "a.py"
    path.write_text("".join(f"line {number}\n" for number in range(30)), encoding="utf-8")
    original = path.read_text(encoding="utf-8")
    await call(Read(), desk, file_path=str(path))
    tool = Edit()
    given_: dict[str, str] = {"file_path": str(path), "old_string": "line 12\n", "new_string": "line twelve\nmore\n"}

    need = tool.need(dict(given_), desk)
    answer = await tool.run(dict(given_), desk)

    assert "    13→line twelve\n    14→more" in told(answer)
    assert need.paths == (path,)
    assert need.preview == answer.details["diff"]
    assert (answer.details["added"], answer.details["removed"]) == (2, 1)
    changed = path.read_text(encoding="utf-8")
    path.write_text(original, encoding="utf-8")
    apply(need.preview, desk.project)
    assert path.read_text(encoding="utf-8") == changed


@requirement("tools:edit:exact")
async def test_a_piece_that_is_there_twice_needs_more_or_replace_all(desk: Desk) -> None:
    path = desk.project / "a.txt"
    path.write_text("x = 1\ny\nx = 1\n", encoding="utf-8")

    with pytest.raises(ToolMistake, match="2 times \\(at lines 1, 3\\)"):
        await read_then_edit(desk, path, "x = 1", "x = 2")
    await read_then_edit(desk, path, "x = 1", "x = 2", replace_all=True)

    assert path.read_text(encoding="utf-8") == "x = 2\ny\nx = 2\n"


@requirement("tools:change:needs-read")
async def test_a_file_must_be_read_and_unchanged(desk: Desk) -> None:
    path = desk.project / "a.txt"
    path.write_text("one\n", encoding="utf-8")

    with pytest.raises(ToolMistake, match="has not been read"):
        await call(Edit(), desk, file_path=str(path), old_string="one", new_string="two")
    await call(Read(), desk, file_path=str(path))
    path.write_text("one!\n", encoding="utf-8")
    with pytest.raises(ToolMistake, match="changed since"):
        await call(Edit(), desk, file_path=str(path), old_string="one", new_string="two")
    assert path.read_text(encoding="utf-8") == "one!\n"


@requirement("tools:change:needs-read")
async def test_several_edits_in_a_row_need_one_read(desk: Desk) -> None:
    path = desk.project / "a.txt"
    path.write_text("one two three\n", encoding="utf-8")

    await read_then_edit(desk, path, "one", "1")
    await call(Edit(), desk, file_path=str(path), old_string="two", new_string="2")

    assert path.read_text(encoding="utf-8") == "1 2 three\n"


@requirement("tools:edit:near-matches")
async def test_what_is_not_there_is_answered_with_what_is_like_it(desk: Desk) -> None:
    path = desk.project / "a.py"
    path.write_text("def first(value):\n    return value + 1\n\ndef second():\n\tpass\n", encoding="utf-8")

    with pytest.raises(ToolMistake, match="only in white space:\n     4→def second"):
        await read_then_edit(desk, path, "def second():\n    pass", "x")
    with pytest.raises(ToolMistake, match=r"(?s)Most alike.*return value \+ 1"):
        await read_then_edit(desk, path, "    return values + 1", "x")
    with pytest.raises(ToolMistake, match="line numbers"):
        await read_then_edit(desk, path, "     1→def first(value):", "x")
    with pytest.raises(ToolMistake, match="Nothing in the file is like it"):
        await read_then_edit(desk, path, "zzzzzzzzzzzzzzzzzz", "x")
    with pytest.raises(ToolMistake, match="the same"):
        await read_then_edit(desk, path, "def", "def")
