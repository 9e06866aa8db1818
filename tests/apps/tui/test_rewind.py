"""`/rewind` with files."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from reverie.apps.tui.picker import Picker
from reverie.session.file_history import RestorePlan, Return
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import Seat, at
from tests.apps.tui.scripted import Table
from tests.apps.tui.test_commands import entries
from tests.requirements import requirement

FREE = Return(Path("/p/free.py"), RestorePlan.FREE, b"new\n", b"old\n")
OTHERS = Return(Path("/p/shared.py"), RestorePlan.OTHERS, b"theirs\n", b"old\n")
MADE = Return(Path("/p/made.py"), RestorePlan.FREE, b"new\n", None)
LOST = Return(Path("/p/large.bin"), RestorePlan.LOST, b"new", None)


async def _choose(seat: Seat, word: str) -> None:
    await seat.until(lambda: isinstance(seat.app.screen, Picker))
    before = seat.app.screen
    before.query_one(Input).value = word
    await seat.press("enter")
    await seat.until(lambda: seat.app.screen is not before)


def _spoken(table: Table, *changed: Return) -> Table:
    table.conversation.entries = entries("first", "second")
    table.conversation.prompts = (("id-0", "first"), ("id-4", "<bash-input>make</bash-input>"))
    table.conversation.changed = changed
    return table


@requirement("tui:rewind:files")
@pytest.mark.parametrize(
    ("word", "done"),
    [
        ("and 2", ["restore free.py made.py told=False", "rewind id-0"]),
        ("files are not", ["restore  told=False", "rewind id-0"]),
        ("the conversation is not", ["restore free.py made.py told=True"]),
    ],
)
async def test_the_user_says_what_goes_back(sit: MakeTable, word: str, done: list[str]) -> None:
    table = _spoken(sit(), FREE, MADE)
    async with at(table, size=(100, 30)) as seat:
        await seat.enter("/rewind")
        await _choose(seat, "first")
        await seat.until(lambda: isinstance(seat.app.screen, Picker))
        await _choose(seat, word)
        await seat.until(lambda: not seat.app.is_busy)
        assert table.conversation.done[1:] == done
        assert seat.prompt.text == ("first" if "rewind id-0" in done else "")


@requirement("tui:rewind:files")
@pytest.mark.parametrize(("word", "paths"), [("do not change", "free.py"), ("too", "free.py shared.py")])
async def test_what_somebody_else_changed_is_asked_about(sit: MakeTable, word: str, paths: str) -> None:
    table = _spoken(sit(), FREE, OTHERS, LOST)
    async with at(table, size=(100, 30)) as seat:
        await seat.enter("/rewind")
        await _choose(seat, "first")
        await _choose(seat, "and 2")
        await _choose(seat, word)
        await seat.until(lambda: not seat.app.is_busy)
        assert table.conversation.done[1:] == [f"restore {paths} told=False", "rewind id-0"]
        await seat.sees("not restored, no saved copy: large.bin")


@requirement("tui:rewind:files")
async def test_leaving_the_second_question_changes_nothing(sit: MakeTable) -> None:
    table = _spoken(sit(), FREE)
    async with at(table, size=(100, 30)) as seat:
        await seat.enter("/rewind")
        await _choose(seat, "first")
        await seat.until(lambda: isinstance(seat.app.screen, Picker))
        await seat.press("escape")
        await seat.until(lambda: not seat.app.is_busy)
        assert table.conversation.done == ["begin"]


@requirement("tui:rewind:picker")
async def test_a_command_of_the_user_is_offered_as_it_was_typed(sit: MakeTable) -> None:
    table = _spoken(sit())
    async with at(table) as seat:
        await seat.enter("/rewind")
        await _choose(seat, "make")
        await seat.until(lambda: seat.prompt.text == "!make")
