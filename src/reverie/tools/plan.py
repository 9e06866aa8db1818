"""ExitPlanMode: shows the plan to the user. The loop asks and leaves the mode."""

from __future__ import annotations

from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer

NAME = "ExitPlanMode"


class ExitPlanMode:
    """Ends planning. It runs when the plan was approved."""

    def __init__(self) -> None:
        plan = field("string", "The plan, in Markdown.", minLength=1)
        self.spec = make_tool_spec(NAME, "exit_plan_mode", {"plan": plan}, required=("plan",))

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        return Need(NAME, Act.NONE, summary="Begin with the plan", preview=text(arguments, "plan"))

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        plan = text(arguments, "plan")
        return ToolAnswer(
            f"The user approved the plan. Begin with it, and keep the task list up to date.\n\n{plan}",
            details={"plan": plan},
        )
