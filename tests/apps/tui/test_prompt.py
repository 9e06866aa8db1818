"""Typing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual import events

from reverie.apps.tui.prompt import Popup
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import Seat, at
from tests.requirements import requirement


async def paste(seat: Seat, text: str) -> None:
    seat.prompt.post_message(events.Paste(text))
    await seat.pilot.pause()


@requirement("tui:prompt:lines")
@pytest.mark.parametrize("key", ["shift+enter", "alt+enter", "ctrl+j"])
async def test_keys_for_a_new_line(sit: MakeTable, key: str) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.type("one")
        await seat.press(key)
        await seat.type("two")
        await seat.press("enter")
        await seat.until(lambda: table.conversation.sent == ["one\ntwo"])


@requirement("tui:prompt:lines")
async def test_a_backslash_before_enter_begins_a_new_line(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.type("one\\")
        await seat.press("enter")
        await seat.type("two")
        assert seat.prompt.text == "one\ntwo"
        assert seat.prompt.size.height == 2
        await seat.press("enter")
        await seat.until(lambda: table.conversation.sent == ["one\ntwo"])


@requirement("tui:prompt:lines")
async def test_nothing_is_sent_when_nothing_was_typed(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.press("enter")
        await seat.type("   ")
        await seat.press("enter")
        assert table.conversation.sent == []


@requirement("tui:prompt:history")
async def test_what_was_typed_comes_back_in_the_next_session(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.enter("first\nquestion")
        await seat.enter("second")
    async with at(table) as seat:
        await seat.type("draft")
        await seat.press("up")
        assert seat.prompt.text == "second"
        await seat.press("up")
        assert seat.prompt.text == "first\nquestion"
        await seat.press("down", "down")
        assert seat.prompt.text == "draft"

        await seat.press("ctrl+r")
        await seat.type("fir")
        await seat.press("enter")
        await seat.until(lambda: seat.prompt.text == "first\nquestion")
    lines = table.surroundings().input_history.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["first\nquestion", "second"]


@requirement("tui:prompt:paste")
async def test_a_long_paste_is_folded_and_sent_whole(sit: MakeTable) -> None:
    table = sit()
    pasted = "\n".join(f"line {number}" for number in range(30))
    async with at(table) as seat:
        await seat.type("look: ")
        await paste(seat, pasted.replace("\n", "\r\n"))
        assert seat.prompt.text == "look: [pasted text 1: 30 lines]"
        await seat.press("enter")
        await seat.until(lambda: table.conversation.sent == [f"look: {pasted}"])
        assert "… 24 more lines" in seat.log.plain


@requirement("tui:prompt:paste")
async def test_a_short_paste_stands_as_it_is(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        await paste(seat, "two\nlines")
        assert seat.prompt.text == "two\nlines"


@requirement("tui:prompt:completion")
async def test_a_command_is_completed_with_its_help(sit: MakeTable) -> None:
    table = sit()
    table.conversation.commands = (("changelog", "write the changelog", "[version]"),)
    async with at(table) as seat:
        await seat.type("/c")
        assert "write the changelog" in seat.screen()
        await seat.type("ha")
        await seat.press("tab")
        assert seat.prompt.text == "/changelog "
        assert not seat.app.query_one(Popup).display


@requirement("tui:prompt:completion")
async def test_enter_runs_the_command_that_is_chosen(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        await seat.type("/perm")
        await seat.press("enter")
        await seat.sees("Permissions")


@requirement("tui:prompt:completion")
async def test_fast_fingers_get_the_command_they_typed(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        for key in ("slash", *"cost", "enter"):
            seat.prompt.post_message(events.Key(key, "/" if key == "slash" else None if key == "enter" else key))
        await seat.sees("Cost of this session")


@requirement("tui:prompt:completion")
async def test_a_path_is_completed_in_the_middle_of_a_message(sit: MakeTable) -> None:
    table = sit()
    (table.folder / "src").mkdir()
    (table.folder / "src" / "importer.py").write_text("", encoding="utf-8")
    async with at(table) as seat:
        await seat.type("look at @impo")
        assert "src/importer.py" in seat.screen()
        await seat.press("enter")
        assert seat.prompt.text == "look at @src/importer.py "
        assert table.conversation.sent == []
        await seat.press("enter")
        await seat.until(lambda: table.conversation.sent == ["look at @src/importer.py "])


@requirement("tui:prompt:completion")
async def test_choices_can_be_walked_and_waved_away(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        await seat.type("/co")
        await seat.press("down", "down", "tab")
        assert seat.prompt.text == "/compact "
        await seat.press("ctrl+c")
        await seat.type("/co")
        await seat.press("escape")
        assert not seat.app.query_one(Popup).display
        assert seat.prompt.text == "/co"


@requirement("tui:prompt:picture")
async def test_the_pasted_path_of_a_picture_attaches_it(sit: MakeTable, tmp_path: Path) -> None:
    picture = tmp_path / "a shot.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    table = sit()
    async with at(table) as seat:
        await paste(seat, str(picture).replace(" ", "\\ "))
        assert seat.prompt.text == f'@"{picture}" '
        seat.prompt.clear_all()
        await paste(seat, "/nowhere/b.png")
        assert seat.prompt.text == "/nowhere/b.png"
