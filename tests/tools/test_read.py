"""Read: paging, kinds of files, and what is noted at the desk."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Image, Text
from reverie.tools.desk import Desk
from reverie.tools.read import PAGE_CHARS, Read
from reverie.tools.tool import ToolMistake
from tests.requirements import requirement
from tests.tools.kit import call, desk_at, told

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def lines_of(answer: str) -> list[str]:
    """The file's lines in an answer, without numbers and notes."""
    return re.findall(r"(?m)^ *\d+→(.*)$", answer)


@requirement("tools:read:pages")
async def test_lines_come_with_their_numbers(desk: Desk) -> None:
    (desk.project / "a.py").write_text("one\n\nthree\n", encoding="utf-8")

    answer = await call(Read(), desk, file_path=str(desk.project / "a.py"))

    assert told(answer) == "     1→one\n     2→\n     3→three"
    assert answer.details["file"] == {
        "filePath": str(desk.project / "a.py"),
        "numLines": 3,
        "startLine": 1,
        "totalLines": 3,
    }


@requirement("tools:read:pages")
@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)),
    limit=st.integers(1, 7),
)
def test_the_pages_together_are_the_file(lines: list[str], limit: int) -> None:
    async def read_all(folder: Path) -> list[str]:
        desk = desk_at(folder)
        path = desk.project / "file.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
        found: list[str] = []
        while len(found) < len(lines):
            answer = await call(Read(), desk, file_path=str(path), offset=len(found) + 1, limit=limit)
            page = told(answer).split("\n\n(lines ")[0] if len(lines) > limit else told(answer)
            found += [row.split("→", 1)[1] for row in page.split("\n")]
        return found

    if any("\0" in line for line in lines) or not lines or lines[0].startswith(("\ufeff", "%PDF-", "GIF8")):
        return
    with tempfile.TemporaryDirectory() as folder:
        assert asyncio.run(read_all(Path(folder))) == lines


@requirement("tools:read:pages")
async def test_a_long_file_says_where_to_go_on(desk: Desk) -> None:
    path = desk.project / "long.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 5001)), encoding="utf-8")

    first = told(await call(Read(), desk, file_path=str(path)))
    assert first.endswith("(lines 1 to 2,000 of 5,000; go on with offset 2001)")
    seen = desk.seen.get(path)
    assert seen is not None
    assert not seen.is_whole
    last = told(await call(Read(), desk, file_path=str(path), offset=4999))
    assert lines_of(last) == ["line 4999", "line 5000"]
    with pytest.raises(ToolMistake, match="5,000 lines"):
        await call(Read(), desk, file_path=str(path), offset=5001)


@requirement("tools:read:pages")
async def test_a_page_is_bounded_however_long_the_lines_are(desk: Desk) -> None:
    path = desk.project / "wide.txt"
    path.write_text("x" * 5_000 + "\n" + ("y" * 1_999 + "\n") * 300, encoding="utf-8")

    answer = told(await call(Read(), desk, file_path=str(path)))

    assert len(answer) < PAGE_CHARS + 5_000
    assert "3,000 more characters of this line are not shown" in answer
    assert "go on with offset" in answer


@requirement("tools:read:pages")
async def test_line_ends_marks_and_foreign_bytes_do_not_disturb(desk: Desk) -> None:
    path = desk.project / "odd.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ncaf\xe9\r\n")

    answer = told(await call(Read(), desk, file_path=str(path)))

    assert answer.startswith("     1→one\n     2→caf�")
    assert "not all of it is UTF-8" in answer


@requirement("tools:read:kinds")
async def test_a_picture_is_shown_as_one(desk: Desk) -> None:
    (desk.project / "dot.png").write_bytes(PICTURE)

    answer = await call(Read(), desk, file_path="dot.png")

    assert isinstance(answer.content, tuple)
    (image,) = answer.content
    assert isinstance(image, Image)
    assert image.source["media_type"] == "image/png"
    assert base64.b64decode(str(image.source["data"])) == PICTURE


@requirement("tools:read:kinds")
async def test_a_notebook_is_shown_as_cells(desk: Desk) -> None:
    cells = [
        {"cell_type": "markdown", "id": "m", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": base64.b64encode(PICTURE).decode()}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no"},
            ],
        },
    ]
    (desk.project / "n.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")

    answer = await call(Read(), desk, file_path="n.ipynb")

    assert isinstance(answer.content, tuple)
    text, picture = answer.content
    assert isinstance(text, Text)
    assert isinstance(picture, Image)
    assert "# Title" in text.text
    assert '<cell id="cell-1" type="code">' in text.text
    assert "ValueError: no" in text.text


@requirement("tools:read:kinds")
@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [("a.pdf", b"%PDF-1.7 ...", "pdftotext"), ("a.bin", b"\x00\x01\x02", "binary file of 3 bytes")],
)
async def test_what_cannot_be_shown_is_refused_with_another_way(
    desk: Desk, name: str, content: bytes, hint: str
) -> None:
    (desk.project / name).write_bytes(content)

    with pytest.raises(ToolMistake, match=hint):
        await call(Read(), desk, file_path=name)


@requirement("tools:read:kinds")
async def test_folders_pipes_and_missing_files_are_mistakes_that_help(desk: Desk) -> None:
    (desk.project / "config.yaml").write_text("a: 1\n", encoding="utf-8")
    os.mkfifo(desk.project / "pipe")

    with pytest.raises(ToolMistake, match="Glob"):
        await call(Read(), desk, file_path=str(desk.project))
    with pytest.raises(ToolMistake, match="not a plain file"):
        await call(Read(), desk, file_path="pipe")
    with pytest.raises(ToolMistake, match=r"Did you mean .*config\.yaml"):
        await call(Read(), desk, file_path="Config.yml")


@requirement("tools:read:kinds")
async def test_an_empty_file_says_so(desk: Desk) -> None:
    (desk.project / "empty").write_bytes(b"")

    assert "is empty" in told(await call(Read(), desk, file_path="empty"))
    assert desk.seen.is_current(desk.project / "empty", b"")


@requirement("tools:links:not-followed-later")
async def test_a_link_that_changes_after_the_judgement_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden", encoding="utf-8")
    path = desk.project / "file"
    path.write_text("open", encoding="utf-8")
    tool, given = Read(), {"file_path": str(path)}
    tool.need(given, desk)
    path.unlink()
    path.symlink_to(secret)

    with pytest.raises(ToolMistake, match="another place"):
        await tool.run(given, desk)


@requirement("tools:links:not-followed-later")
def test_where_a_link_leads_is_judged_with_it(desk: Desk, tmp_path: Path) -> None:
    (desk.project / "door").symlink_to(tmp_path / "outside")

    need = Read().need({"file_path": "door/secret"}, desk)

    assert need.paths == (desk.project / "door/secret", tmp_path.resolve() / "outside" / "secret")
    assert Read().need({"file_path": "plain/../file"}, desk).paths == (desk.project / "plain/../file",)


@requirement("tools:links:not-followed-later")
async def test_a_link_that_was_there_before_is_read(desk: Desk) -> None:
    (desk.project / "real").write_text("text", encoding="utf-8")
    (desk.project / "link").symlink_to("real")

    assert "text" in told(await call(Read(), desk, file_path="link"))
    assert desk.seen.paths == (desk.project / "real",)
