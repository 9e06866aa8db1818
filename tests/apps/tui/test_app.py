"""The terminal agent as a person meets it, with a scripted conversation."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

import pytest
from rich.color import ColorType

from reverie.apps.tui.pieces import AnswerPiece, Call, Progress, UserPiece
from reverie.messages.message import Usage
from reverie.models.offline import REFUSAL
from reverie.models.ports import Ending, Retrying, TextDelta, ThinkingDelta, ToolUseStarted
from reverie.models.tokens.window import WindowLevel
from reverie.session.events import (
    AgentEnded,
    Attached,
    Notice,
    Status,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import at
from tests.apps.tui.scripted import FIGURES
from tests.requirements import requirement

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n same\n-old line\n+new line\n"


@requirement("tui:turn:streams")
async def test_an_answer_appears_before_it_is_complete(sit: MakeTable) -> None:
    gate = asyncio.Event()
    async with at(sit([TextDelta("The **first** half"), gate, TextDelta(" and the second.")])) as seat:
        await seat.enter("hello")
        await seat.sees("The first half")
        assert "second" not in seat.log.plain

        gate.set()

        await seat.sees("The first half and the second.")
        assert seat.log.pieces[0] == UserPiece("hello")


@requirement("tui:turn:calls-fold")
async def test_a_call_is_a_line_and_unfolds_by_key_and_by_click(sit: MakeTable) -> None:
    turn = [
        ToolUseStarted("1", "Edit"),
        ToolStarted("1", "Edit", {"file_path": "x.py"}, "Edit x.py"),
        ToolEnded("1", "Edit", "done", False, 0.1, {"diff": DIFF}),
        TextDelta("Done."),
    ]
    async with at(sit(turn)) as seat:
        await seat.enter("change it")
        await seat.sees("Done.")
        assert "● Edit x.py  +1 −1" in seat.log.plain
        assert "new line" not in seat.log.plain

        await seat.press("ctrl+o")
        assert "+new line" in seat.log.plain
        await seat.press("ctrl+o")
        assert "new line" not in seat.log.plain

        row = next(y for y, line in enumerate(seat.log.plain.split("\n")) if "Edit x.py" in line)
        await seat.pilot.click("#log", offset=(10, row))
        assert "+new line" in seat.log.plain


@requirement("tui:turn:calls-fold")
async def test_a_tool_at_work_shows_its_last_lines(sit: MakeTable) -> None:
    gate = asyncio.Event()
    turn = [
        ToolStarted("1", "Bash", {"command": "make test"}),
        ToolProgress("1", "one\ntwo\nthree\nfour"),
        gate,
        ToolEnded("1", "Bash", "all\nlines", True, 2.0),
    ]
    async with at(sit(turn)) as seat:
        await seat.enter("test")
        await seat.sees("four")
        assert "◌ Bash make test" in seat.log.plain
        assert "one" not in seat.log.plain

        gate.set()
        await seat.sees("● Bash make test  2.0 s")
        assert "all" in seat.log.plain, "the first line of a failure is shown"
        assert "lines" not in seat.log.plain


@requirement("tui:turn:retry")
async def test_a_failed_attempt_leaves_only_its_reason(sit: MakeTable) -> None:
    turn = [
        TextDelta("Half an ans"),
        ToolUseStarted("9", "Read"),
        Retrying("overloaded (529)", 2.0, 2),
        ThinkingDelta("again"),
        TextDelta("The whole answer."),
    ]
    async with at(sit(turn)) as seat:
        await seat.enter("hello")
        await seat.sees("The whole answer.")

        assert "Half" not in seat.log.plain
        assert "Read" not in seat.log.plain
        assert "overloaded (529); retrying in 2 s (attempt 2)" in seat.log.plain


@requirement("tui:turn:stops")
@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_one_key_stops_the_turn(sit: MakeTable, key: str) -> None:
    table = sit([ToolStarted("1", "Bash", {"command": "sleep 100"}), asyncio.Event()])
    async with at(table) as seat:
        await seat.enter("wait")
        await seat.sees("sleep 100")

        await seat.press(key)

        await seat.sees("stopped; type what to do instead")
        assert table.conversation.done.count("cancel") == 1
        call = seat.log.pieces[1]
        assert isinstance(call, Call)
        assert call.progress is Progress.REFUSED
        assert seat.app.is_running
        await seat.enter("go on")
        await seat.sees("You said: go on")


@requirement("tui:turn:stops")
async def test_ctrl_c_empties_the_input_and_twice_leaves(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.type("some words")
        await seat.press("ctrl+c")
        assert seat.prompt.text == ""
        assert "Press Ctrl-C again to exit" in seat.line("#status")

        await seat.press("ctrl+c")
        await seat.until(lambda: "close" in table.conversation.done)


@requirement("tui:turn:stops")
async def test_ctrl_d_deletes_and_on_an_empty_line_leaves(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        await seat.type("ab")
        await seat.press("left", "ctrl+d")
        assert seat.prompt.text == "a"

        await seat.press("backspace", "ctrl+d")
        await seat.until(lambda: "close" in table.conversation.done)


@requirement("tui:turn:queue")
async def test_words_typed_during_a_turn_wait_in_sight_and_join_at_the_boundary(sit: MakeTable) -> None:
    gate, end = asyncio.Event(), asyncio.Event()
    table = sit([TextDelta("Working"), gate, TextDelta("Heard."), end])
    async with at(table) as seat:
        await seat.enter("begin")
        await seat.sees("Working")
        await seat.enter("use pytest instead")
        assert seat.line("#queue") == "⋯ use pytest instead"
        assert "use pytest" not in seat.log.plain

        gate.set()

        await seat.sees("Heard.")
        assert [piece for piece in seat.log.pieces if isinstance(piece, UserPiece)] == [
            UserPiece("begin"),
            UserPiece("use pytest instead"),
        ]
        assert not seat.app.query_one("#queue").display
        end.set()
        await seat.until(lambda: not seat.app.is_busy)
        assert table.conversation.sent == ["begin", "use pytest instead"]


@requirement("tui:turn:queue")
async def test_after_a_stop_what_waited_returns_to_the_prompt(sit: MakeTable) -> None:
    table = sit([TextDelta("Working"), asyncio.Event()])
    async with at(table) as seat:
        await seat.enter("begin")
        await seat.sees("Working")
        await seat.enter("and then this")

        await seat.press("escape")

        await seat.until(lambda: seat.prompt.text == "and then this")
        assert table.conversation.sent == ["begin"]


@requirement("tui:turn:failure")
async def test_a_turn_that_fails_says_why(sit: MakeTable) -> None:
    ended = TurnEnded(Ending.FAILED, "the key was not accepted; set ANTHROPIC_API_KEY", 1, Usage(), None, 0.1, FIGURES)
    async with at(sit([ended])) as seat:
        await seat.enter("hello")
        await seat.sees("✗ the key was not accepted")
        await seat.enter("again")
        await seat.sees("You said: again")


@requirement("tui:turn:streams")
async def test_thoughts_and_what_joined_are_folded_to_a_line(sit: MakeTable) -> None:
    long = "a long line of thought " * 10
    turn = [
        Attached("memory", "recalled 2 memories"),
        ThinkingDelta(long),
        TextDelta("Yes."),
        Notice("mind this", "warning"),
    ]
    async with at(sit(turn)) as seat:
        await seat.enter("hello")
        await seat.sees("! mind this")
        assert "· recalled 2 memories" in seat.log.plain
        assert len([line for line in seat.log.plain.split("\n") if "thought" in line]) == 1

        await seat.press("ctrl+t")
        assert len([line for line in seat.log.plain.split("\n") if "thought" in line]) > 2


@requirement("tui:modes:cycle")
async def test_shift_tab_goes_through_the_modes(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        seen = []
        for _ in range(3):
            await seat.press("shift+tab")
            await seat.pilot.pause()
            seen.append(seat.app.conversation.status.mode)
        assert seen == ["acceptEdits", "plan", "default"]
        assert "asks first" in seat.line("#status")


@requirement("tui:status:shows")
async def test_the_status_line_follows_the_events(sit: MakeTable) -> None:
    full = Status("claude-sonnet-5", 170_000, 180_000, WindowLevel.ERROR, 0.5, 1.0, "plan", ("indexing",))
    gate = asyncio.Event()
    async with at(sit([full, gate]), size=(120, 24)) as seat:
        await seat.enter("hello")
        await seat.until(lambda: "94% nearly full" in seat.line("#status"))
        assert "1 in background" in seat.line("#status")
        assert "Esc stops" in seat.line("#activity")
        gate.set()
        await seat.until(lambda: not seat.app.is_busy)
        assert not seat.app.query_one("#activity").display


@requirement("tui:start:no-key")
async def test_without_a_key_three_lines_stand_first(sit: MakeTable) -> None:
    table = sit()
    table.greeting = REFUSAL
    async with at(table, size=(120, 24)) as seat:
        for line in REFUSAL.split("\n"):
            assert line in seat.screen()


@requirement("tui:colour:none")
async def test_without_colour_no_cell_has_one(sit: MakeTable) -> None:
    table = sit(
        [ToolStarted("1", "Bash", {"command": "ls"}), ToolEnded("1", "Bash", "x", True, 0.1), TextDelta("`code`")]
    )
    table.is_colourless = True
    async with at(table) as seat:
        await seat.enter("hello")
        await seat.sees("code")
        await seat.type("/co")
        styles = [
            segment.style
            for strip in seat.app.screen._compositor.render_strips()
            for line_filter in [seat.app.get_line_filters()]
            for segment in strip.apply_filter(line_filter[-1], seat.app.screen.background_colors[1])
            if segment.style is not None
        ]
        coloured = [
            style for style in styles if any(part and not part.is_default for part in (style.color, style.bgcolor))
        ]
        assert not coloured


@requirement("tui:colour:own")
async def test_only_the_terminals_own_colours_are_used(sit: MakeTable) -> None:
    text = "# Title\n\n`code` and [a link](http://x)\n\n```python\nfor a in b:\n    return 'x'  # why\n```\n\n> quote\n"
    turn = [ToolStarted("1", "Edit", {}), ToolEnded("1", "Edit", "x", False, 0.1, {"diff": DIFF}), TextDelta(text)]
    async with at(sit(turn), size=(80, 40)) as seat:
        await seat.enter("hello")
        await seat.sees("quote")
        await seat.press("ctrl+t")
        await seat.type("/co")
        found = {
            (segment.text, colour)
            for strip in seat.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None and colour.type not in (ColorType.DEFAULT, ColorType.STANDARD)
        }
        assert not found


@requirement("tui:width:cjk")
@pytest.mark.parametrize("width", [20, 41, 80, 121])
async def test_wide_text_never_leaves_the_screen(sit: MakeTable, width: int) -> None:
    from rich.cells import cell_len

    text = "最后一行在没有换行符时会丢失。" * 10 + "\n\n| 文件 | 行 |\n| --- | --- |\n| 订单 | 12 |\n"
    turn = [ToolStarted("1", "Bash", {"command": "echo " + "数据" * 60}), TextDelta(text)]
    async with at(sit(turn), size=(width, 20)) as seat:
        await seat.enter("修复导入测试" * 12)
        await seat.sees("订单")
        assert all(cell_len(line) <= width for line in seat.log.plain.split("\n"))
        assert all(cell_len(line) <= width for line in seat.screen().split("\n"))
        spoken = "".join(line.strip() for line in seat.log.plain.split("\n"))
        assert "最后一行在没有换行符时会丢失。" * 10 in spoken


@requirement("tui:log:long")
async def test_a_long_log_scrolls_to_its_beginning(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        seat.log.replace_all([AnswerPiece(f"answer number {number}") for number in range(400)])
        await seat.pilot.pause()
        assert "answer number 399" in seat.screen()
        assert "answer number 0\n" not in seat.log.plain

        for _ in range(3):
            await seat.press("ctrl+home")
            await seat.pilot.pause()
        assert "answer number 0\n" in seat.screen()
        await seat.enter("still there?")
        await seat.sees("You said: still there?")
        assert "You said" in seat.screen()


@requirement("tui:log:long")
async def test_the_end_stays_in_sight_when_the_prompt_grows(sit: MakeTable) -> None:
    gate = asyncio.Event()
    async with at(sit([TextDelta("line\n\n" * 30 + "the very end"), gate])) as seat:
        await seat.enter("hello")
        await seat.sees("the very end")
        seat.prompt.fill("a\nlong\ndraft\nof\nmany\nlines")
        await seat.until(lambda: seat.prompt.size.height == 6)
        await seat.until(lambda: "the very end" in seat.screen())
        gate.set()


@requirement("tui:log:long")
async def test_who_reads_further_up_is_left_in_peace(sit: MakeTable) -> None:
    gate = asyncio.Event()
    async with at(sit([TextDelta("begin\n\n" * 30), gate, TextDelta("the end")])) as seat:
        await seat.enter("hello")
        await seat.sees("begin")
        await seat.press("pageup")
        before = seat.screen()
        gate.set()
        await seat.sees("the end")
        assert "the end" not in seat.screen()
        assert before.split("\n")[0] == seat.screen().split("\n")[0]


@requirement("tui:log:copy")
async def test_what_is_selected_is_copied(sit: MakeTable) -> None:
    table = sit([TextDelta("copy these words")])
    async with at(table) as seat:
        await seat.enter("hello")
        await seat.sees("copy these words")
        row = next(y for y, line in enumerate(seat.log.plain.split("\n")) if "copy these" in line)
        await seat.pilot.mouse_down("#log", offset=(1, row))
        await seat.pilot.hover("#log", offset=(11, row))
        await seat.pilot.mouse_up("#log", offset=(11, row))
        await seat.until(lambda: bool(table.copied))
        assert table.copied[-1].startswith("copy these")


@requirement("tui:turn:streams")
async def test_notices_between_turns_are_shown(sit: MakeTable) -> None:
    table = sit()
    async with at(table) as seat:
        table.conversation.heard[0](Notice("the budget for background work is used up", "warning"))
        await seat.sees("! the budget for background work is used up")


@requirement("tui:agents:ended")
async def test_the_end_of_a_background_agent_is_told_between_turns(sit: MakeTable) -> None:
    table = sit()
    table.conversation.status = replace(FIGURES, background=("scout: reads",))
    async with at(table) as seat:
        assert "1 in background" in seat.line("#status")
        table.conversation.status = FIGURES
        table.conversation.heard[0](AgentEnded("a1", "scout", "completed", "\nThree files.\nAll small.", 0.0123))
        await seat.sees("agent scout finished (completed, $0.0123): Three files.")
        await seat.until(lambda: "background" not in seat.line("#status"))
        await seat.press("ctrl+o")
        await seat.sees("All small.")


@requirement("tui:commands:queued")
async def test_a_skill_typed_during_a_turn_runs_after_it_and_words_behind_it_later(sit: MakeTable) -> None:
    gate = asyncio.Event()
    table = sit([TextDelta("working"), gate, TextDelta(" done")])
    table.conversation.commands = (("review", "looks at it", ""),)
    async with at(table) as seat:
        await seat.enter("begin")
        await seat.sees("working")
        await seat.enter("/review now")
        await seat.enter("and then this")
        await seat.until(lambda: seat.line("#queue") == "⋯ /review now\n⋯ and then this")
        assert table.conversation.sent == ["begin"]
        gate.set()
        await seat.until(lambda: table.conversation.sent == ["begin", "/review now", "and then this"])
        await seat.sees("You said: and then this")


@requirement("tui:commands:queued")
async def test_a_command_that_waits_is_not_run_after_a_stop(sit: MakeTable) -> None:
    table = sit([TextDelta("working"), asyncio.Event()])
    async with at(table) as seat:
        await seat.enter("begin")
        await seat.sees("working")
        await seat.enter("/clear")
        await seat.press("escape")
        await seat.sees("/clear not run")
        assert table.conversation.done == ["begin", "cancel"]


@requirement("tui:commands:queued")
async def test_a_path_is_no_command(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        await seat.enter("/etc/hosts is broken")
        await seat.sees("You said: /etc/hosts is broken")


@requirement("tui:status:own")
async def test_the_users_own_line_is_told_of_the_session(sit: MakeTable) -> None:
    table = sit()
    script = "import json,sys; d=json.load(sys.stdin); print(d['model']['id'], d['context_window']['used_percentage'])"
    table.status_command = f'{sys.executable} -c "{script}"; echo more'
    async with at(table) as seat:
        await seat.until(lambda: seat.line("#own").startswith("claude-sonnet-5 "))
        await seat.enter("/status")
        await seat.sees("status line")


@requirement("tui:status:own")
async def test_a_status_line_that_fails_is_silent_and_named_on_demand(sit: MakeTable) -> None:
    table = sit()
    table.status_command = "echo broken script >&2; exit 3"
    async with at(table) as seat:
        await seat.until(lambda: bool(seat.app.line_problem))
        assert not seat.app.query_one("#own").display
        await seat.enter("/status")
        await seat.sees("exit code 3: broken script")
