"""recall_span and ExitPlanMode."""

from __future__ import annotations

from functools import partial

import pytest

from reverie.context.spans import read_span
from reverie.permissions.need import Act
from reverie.tools.desk import Desk
from reverie.tools.plan import ExitPlanMode
from reverie.tools.span import RecallSpan
from reverie.tools.tool import ToolMistake
from tests.context.kit import Session
from tests.requirements import requirement
from tests.tools.kit import call, told


def tool_over(session: Session) -> RecallSpan:
    return RecallSpan(partial(read_span, session.entries, weigh=lambda text: len(text) // 4))


@requirement("tools:span:reads-again")
async def test_messages_are_read_again_by_id_and_by_subject(desk: Desk) -> None:
    session = Session().say("please look at src/a.py").work("Read", "secret sauce", file_path="src/a.py").reply("done")
    tool = tool_over(session)

    by_id = await call(tool, desk, first=session.uuid(0))
    by_subject = await call(tool, desk, subject="src/a.py")

    assert "please look at src/a.py" in told(by_id)
    assert "secret sauce" in told(by_subject)


@requirement("tools:span:reads-again")
async def test_a_long_span_goes_on_where_it_was_cut(desk: Desk) -> None:
    words = " ".join(f"word{number}" for number in range(8_000))
    session = Session().say(words)
    tool = tool_over(session)

    told_so_far, offset = "", 0
    for _ in range(20):
        answer = told(await call(tool, desk, first=session.uuid(0), offset=offset))
        part, _, rest = answer.partition("\n\n(this is a part of 1 messages; go on with offset ")
        told_so_far += part
        if not rest:
            break
        offset = int(rest.rstrip(")"))
    assert words in told_so_far


@requirement("tools:span:reads-again")
async def test_what_is_not_there_is_a_mistake(desk: Desk) -> None:
    tool = tool_over(Session().say("hello"))

    with pytest.raises(ToolMistake, match="'first'"):
        await call(tool, desk)
    with pytest.raises(ToolMistake):
        await call(tool, desk, first="ffffffff-dead")
    assert "Nothing" in told(await call(tool, desk, subject="no such thing"))


@requirement("tools:plan:shown")
async def test_the_plan_is_shown_as_written_and_repeated_when_approved(desk: Desk) -> None:
    plan = "# Plan\n\n1. Do it"
    tool = ExitPlanMode()

    need = tool.need({"plan": plan}, desk)
    answer = await call(tool, desk, plan=plan)

    assert (need.act, need.preview) == (Act.NONE, plan)
    assert told(answer).endswith(plan)
    assert answer.details["plan"] == plan
