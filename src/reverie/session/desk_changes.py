"""What a tool changed at the desk and the user's scripts hear of: where the agent stands, and its list of tasks."""

from __future__ import annotations

from pathlib import Path

from reverie.extensions.hooks.verdict import HookVerdict, merged
from reverie.messages.blocks import JsonObject
from reverie.session.loop_hooks import FiresHooks
from reverie.tools.desk import Desk, Task
from reverie.values import value

_COMPLETED = "completed"


@value
class Before:
    """The desk as it was when a call began."""

    directory: Path
    tasks: tuple[Task, ...]


def noted(desk: Desk) -> Before:
    """What is compared afterwards."""
    return Before(desk.directory, desk.tasks)


async def announce_changes(was: Before, desk: Desk, hooks: FiresHooks) -> tuple[str, HookVerdict]:
    """Let hooks hear of it; why the list of tasks was put back, if one refused it, and what else they say."""
    said = []
    if desk.directory != was.directory:
        moved: JsonObject = {"old_cwd": str(was.directory), "new_cwd": str(desk.directory)}
        said.append(await hooks.fire("CwdChanged", moved))
    if desk.tasks != was.tasks:
        for event, facts in _task_events(was.tasks, desk.tasks):
            verdict = await hooks.fire(event, facts)
            said.append(verdict)
            if verdict.blocked is not None:
                desk.tasks = was.tasks
                reason = verdict.blocked or "A hook refused this change."
                return f"The list stays as it was ({facts['task_subject']}): {reason}", merged(said)
    return "", merged(said)


def _task_events(was: tuple[Task, ...], now: tuple[Task, ...]) -> list[tuple[str, JsonObject]]:
    """What is new on the list, and what became complete; a task is known by its words and named by its place."""
    known = {task.content: task.status for task in was}
    events: list[tuple[str, JsonObject]] = []
    for number, task in enumerate(now, 1):
        facts: JsonObject = {"task_id": str(number), "task_subject": task.content, "task_description": task.doing}
        if task.content not in known:
            events.append(("TaskCreated", facts))
        if task.status == _COMPLETED and known.get(task.content) != _COMPLETED:
            events.append(("TaskCompleted", facts))
    return events
