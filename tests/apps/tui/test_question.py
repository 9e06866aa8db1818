"""Being asked for permission."""

from __future__ import annotations

import asyncio

import pytest

from reverie.apps.tui.question import Asking, ways
from reverie.models.ports import TextDelta
from reverie.permissions.approval import Approval, Question
from reverie.permissions.need import Act, Need
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import at
from tests.requirements import requirement

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n same\n-old line\n+new line\n"
EDIT = Question(
    "1", Need("Edit", Act.EDIT, summary="Edit x.py", preview=DIFF), "no rule covers x.py", ("Edit(src/**)",)
)
RUN = Question(
    "2", Need("Bash", Act.RUN, command="rm -rf build"), "it removes files", ("Bash(rm -rf build)", "Bash(rm:*)")
)


@requirement("tui:ask:answers")
@pytest.mark.parametrize(
    ("keys", "approval"),
    [
        (("enter",), Approval(True)),
        (("y",), Approval(True)),
        (("2",), Approval(True, "Edit(src/**)", "session")),
        (("down", "down", "enter"), Approval(True, "Edit(src/**)", "local")),
        (("escape",), Approval(False)),
        (("n", *"not now", "enter"), Approval(False, message="not now")),
        (("4", "escape", "1"), Approval(True)),
    ],
)
async def test_each_answer_can_be_given_by_keys(sit: MakeTable, keys: tuple[str, ...], approval: Approval) -> None:
    table = sit([EDIT, TextDelta("thanks")])
    async with at(table, size=(80, 30)) as seat:
        await seat.enter("change it")
        await seat.until(lambda: bool(seat.app.query(Asking)))
        shown = seat.screen()
        assert "Edit x.py  +1 −1" in shown
        assert "-old line" in shown
        assert "no rule covers x.py" in shown

        await seat.press(*("space" if key == " " else key for key in keys))

        await seat.sees("thanks")
        assert table.conversation.approvals == [approval]
        assert not seat.app.query(Asking)
        assert seat.prompt.has_focus


@requirement("tui:ask:withdrawn")
async def test_stopping_the_turn_takes_the_question_away(sit: MakeTable) -> None:
    table = sit([TextDelta("hm")])
    async with at(table) as seat:
        asked = asyncio.create_task(seat.app.approve(RUN))
        await seat.until(lambda: bool(seat.app.query(Asking)))
        asked.cancel()
        await seat.until(lambda: not seat.app.query(Asking))
        assert seat.app.query_one("#entry").display
        await seat.enter("go on")
        await seat.sees("hm")


@requirement("tui:ask:answers")
async def test_two_questions_come_one_after_the_other(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        both = [asyncio.create_task(seat.app.approve(question)) for question in (EDIT, RUN)]
        await seat.until(lambda: bool(seat.app.query(Asking)))
        assert "Edit x.py" in seat.screen()
        assert "rm -rf" not in seat.screen()
        await seat.press("y")
        await seat.until(lambda: "$ rm -rf build" in seat.screen())
        await seat.press("escape")
        assert [(await each).allowed for each in both] == [True, False]


@requirement("tui:ask:answers")
def test_a_plan_is_approved_with_a_mode() -> None:
    plan = Question("3", Need("ExitPlanMode", Act.NONE, preview="1. do it"), "a plan")

    assert [way.approval.mode for way in ways(plan)] == ["acceptEdits", "default", ""]
    assert ways(plan)[-1].asks_why


@requirement("tui:ask:answers")
async def test_a_long_diff_can_be_looked_through(sit: MakeTable) -> None:
    long = DIFF + "".join(f"+line {number}\n" for number in range(60))
    question = Question("1", Need("Edit", Act.EDIT, summary="Edit x.py", preview=long), "why")
    async with at(sit([question])) as seat:
        await seat.enter("go")
        await seat.until(lambda: bool(seat.app.query(Asking)))
        assert "line 59" not in seat.screen()
        assert "1. Yes" in seat.screen()
        for _ in range(8):
            await seat.press("pagedown")
        assert "line 59" in seat.screen()
        await seat.press("escape")
