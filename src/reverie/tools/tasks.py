"""TodoWrite: the model's to-do list; open items survive every reduction."""

from __future__ import annotations

from reverie.messages.blocks import Json, JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk, Task
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer

STATES = ("pending", "in_progress", "completed")


class TodoWrite:
    """Replaces the list."""

    def __init__(self) -> None:
        task: dict[str, Json] = {
            "type": "object",
            "properties": {
                "content": field("string", "What is to be done.", minLength=1),
                "status": field("string", "How far it is.", enum=[*STATES]),
                "activeForm": field("string", "The same as it happens, for the status line."),
            },
            "required": ["content", "status"],
        }
        todos = field("array", "The whole list, in order.", items=task)
        self.spec = make_tool_spec("TodoWrite", "todo_write", {"todos": todos}, required=("todos",))

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        return Need("TodoWrite", Act.NONE, summary=f"Update {len(_tasks(arguments))} tasks")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        before, desk.tasks = desk.tasks, _tasks(arguments)
        open_tasks = [task for task in desk.tasks if task.status != "completed"]
        under_way = [task.content for task in open_tasks if task.status == "in_progress"]
        answer = f"The list has {len(desk.tasks)} tasks, {len(open_tasks)} of them open."
        if len(under_way) > 1:
            answer += " More than one is in progress; finish one before the next."
        return ToolAnswer(answer, details={"oldTodos": _wire(before), "newTodos": _wire(desk.tasks)})


def _tasks(arguments: JsonObject) -> tuple[Task, ...]:
    todos = arguments.get("todos")
    return tuple(
        Task(text(todo, "content"), text(todo, "status"), text(todo, "activeForm"))
        for todo in (todos if isinstance(todos, list) else [])
        if isinstance(todo, dict)
    )


def _wire(tasks: tuple[Task, ...]) -> list[Json]:
    return [{"content": task.content, "status": task.status, "activeForm": task.doing} for task in tasks]
