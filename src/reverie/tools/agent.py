"""The Agent tool: starts a subagent, a fork or a typed one, through a function that the session gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import flag, text
from reverie.tools.tool import ToolAnswer
from reverie.values import value

NAME = "Agent"


@value
class Order:
    """What the model wants of a child agent."""

    prompt: str
    description: str = ""
    kind: str = ""
    """The role; empty for a fork."""
    name: str = ""
    in_background: bool = False
    in_worktree: bool = False
    in_own_process: bool = False
    """As a teammate, which outlives the task and is reached by messages."""
    model: str = ""
    effort: str = ""
    progress: Callable[[str], None] = lambda _line: None
    """Hears what it is doing."""


StartAgent: TypeAlias = Callable[[Order], Awaitable[ToolAnswer]]


class AgentTool:
    """Hands work to a child agent."""

    def __init__(self, start_agent: StartAgent, roles: str = "") -> None:
        """`roles` are lines on agent types for the description, where no attachment tells them."""
        self._employ = start_agent
        spec = make_tool_spec(
            NAME,
            "agent",
            {
                "description": field("string", "The task in three to five words.", minLength=1),
                "prompt": field("string", "The directive for a fork, or the whole briefing.", minLength=1),
                "subagent_type": field("string", "The role; left out for a fork of this conversation."),
                "name": field("string", "A name by which it is reached while it runs."),
                "run_in_background": field("boolean", "Do not wait; you are told when it ends."),
                "model": field("string", "Another model than the role's or yours; never for a fork."),
                "isolation": field("string", "Give it a work tree of its own.", enum=["worktree"]),
                "own_process": field("boolean", "Start it as a teammate in a process of its own; needs `name`."),
            },
            required=("description", "prompt"),
        )
        self.spec = replace(spec, description=f"{spec.description}\n\n{roles}") if roles else spec

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        kind = text(arguments, "subagent_type")
        summary = f"{kind or 'Fork'}: {text(arguments, 'description')}"
        return Need(NAME, Act.NONE, subject=kind or "fork", summary=summary, preview=text(arguments, "prompt"))

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        return await self._employ(
            Order(
                prompt=text(arguments, "prompt"),
                description=text(arguments, "description"),
                kind=text(arguments, "subagent_type"),
                name=text(arguments, "name"),
                in_background=flag(arguments, "run_in_background"),
                in_worktree=text(arguments, "isolation") == "worktree",
                in_own_process=flag(arguments, "own_process"),
                model=text(arguments, "model"),
                progress=desk.progress,
            )
        )
