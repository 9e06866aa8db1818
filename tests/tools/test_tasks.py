"""TodoWrite: the list at the desk, and in the facts that survive."""

from __future__ import annotations

import pytest

from reverie.context.facts import gather
from reverie.messages.blocks import Json
from reverie.tools.desk import Desk, Task
from reverie.tools.tasks import TodoWrite
from reverie.tools.tool import ToolMistake
from tests.context.kit import Session
from tests.requirements import requirement
from tests.tools.kit import call, told

LIST: list[Json] = [
    {"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
    {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"},
    {"content": "Run the tests", "status": "pending"},
]


@requirement("tools:tasks:survive")
async def test_the_list_stands_at_the_desk(desk: Desk) -> None:
    answer = await call(TodoWrite(), desk, todos=LIST)
    again = await call(TodoWrite(), desk, todos=[])

    assert "3 tasks, 2 of them open" in told(answer)
    assert answer.details["oldTodos"] == []
    assert again.details["oldTodos"] == [*LIST[:2], {"content": "Run the tests", "status": "pending", "activeForm": ""}]
    assert desk.tasks == ()


@requirement("tools:tasks:survive")
async def test_the_facts_of_a_conversation_see_the_open_tasks(desk: Desk) -> None:
    answer = await call(TodoWrite(), desk, todos=LIST)
    session = Session().say("go").work(TodoWrite().spec.name, told(answer), todos=LIST)

    seen = gather(session.view.items).open_todos
    assert [(todo.text, todo.status) for todo in seen] == [(task.content, task.status) for task in desk.tasks[1:]]
    assert desk.tasks[1] == Task("Fix the bug", "in_progress", "Fixing the bug")


@requirement("tools:tasks:survive")
async def test_a_task_of_the_wrong_shape_names_the_field(desk: Desk) -> None:
    with pytest.raises(ToolMistake, match=r"'todos\[1\]\.status' must be one of 'pending', 'in_progress', 'completed'"):
        await call(TodoWrite(), desk, todos=[LIST[0], {"content": "x", "status": "done"}])
    with pytest.raises(ToolMistake, match=r"'todos\[0\]\.content' is missing"):
        await call(TodoWrite(), desk, todos=[{"status": "pending"}])
