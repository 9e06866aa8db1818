"""Commands behind `!`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from reverie.apps.tui.past import pieces_of
from reverie.apps.tui.pieces import Call
from reverie.messages.entries import Envelope, UserEntry
from reverie.messages.shell_words import input_words, output_words
from reverie.models.ports import TextDelta
from reverie.testing.build import user
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import at
from tests.requirements import requirement


@requirement("tui:shell:direct")
async def test_a_command_runs_at_once_and_is_told_to_the_conversation(sit: MakeTable) -> None:
    table = sit()
    (table.folder / "there.txt").write_text("", encoding="utf-8")
    async with at(table) as seat:
        await seat.enter("!ls && false")
        await seat.sees("there.txt")
        await seat.sees("exit code 1")
        assert table.conversation.sent == []
        assert table.conversation.told == [("ls && false", "there.txt\n", "exit code 1")]


@requirement("tui:shell:direct")
async def test_what_is_printed_appears_as_it_comes_and_ctrl_c_stops_it(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.enter("!printf '\\033[31mfirst\\033[0m\\n'; sleep 60; echo second")
        await seat.sees("first")
        await seat.until(lambda: "Esc stops" in seat.line("#activity"))
        assert seat.log.plain.endswith("     first")
        await seat.press("ctrl+c")
        await seat.sees("stopped by the user")
        assert [(output, ending) for _, output, ending in table.conversation.told] == [
            ("first\n", "stopped by the user")
        ]
        await seat.enter("hello")
        await seat.sees("You said: hello")


@requirement("tui:shell:direct")
async def test_a_command_that_ignores_the_stop_is_ended(sit: MakeTable, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    async with at(sit()) as seat:
        await seat.enter(f"!trap '' INT TERM; echo on; sleep 600; touch {marker}")
        await seat.sees("on")
        await seat.press("escape")
        await seat.sees("stopped by the user")
    assert not marker.exists()


@requirement("tui:shell:direct")
async def test_much_output_is_kept_within_bounds(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.enter("!seq 1 200000")
        await seat.until(lambda: bool(table.conversation.told))
    ((_, output, _),) = table.conversation.told
    assert output.startswith("1\n2\n")
    assert output.endswith("200000\n")
    assert "bytes left out" in output
    assert len(output) < 500_000


@requirement("tui:shell:direct")
async def test_a_command_runs_beside_a_turn(sit: MakeTable) -> None:
    gate = asyncio.Event()
    table = sit([TextDelta("working"), gate, TextDelta(" done")])
    async with at(table) as seat:
        await seat.enter("begin")
        await seat.sees("working")
        await seat.enter("!echo beside")
        await seat.until(lambda: bool(table.conversation.told))
        gate.set()
        await seat.sees("working done")


@requirement("tui:shell:direct")
def test_a_resumed_session_shows_commands_as_they_were() -> None:
    entries = [
        UserEntry(Envelope("a", None, "s", ""), user(input_words("ls")), source="typed"),
        UserEntry(Envelope("b", "a", "s", ""), user(output_words("a.txt\n")), source="system"),
    ]
    (piece,) = pieces_of(entries)
    assert isinstance(piece, Call)
    assert (piece.name, piece.summary, piece.output) == ("!", "ls", "a.txt\n")
