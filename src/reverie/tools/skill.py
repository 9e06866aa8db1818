"""The Skill tool: the model invokes a skill, through a function that the session gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reverie.extensions.skills import Skill
from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake

NAME = "Skill"


class SkillTool:
    """Invokes a skill by its name."""

    def __init__(
        self, find: Callable[[str], Skill | None], invoke: Callable[[Skill, str], Awaitable[ToolAnswer | None]]
    ) -> None:
        """`invoke` may answer in the place of the skill, such as with the report of an agent that ran it."""
        self._find = find
        self._invoke = invoke
        self.spec = make_tool_spec(
            NAME,
            "skill",
            {
                "skill": field("string", "The name of the skill.", minLength=1),
                "args": field("string", "What it is to work on."),
            },
            required=("skill",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        skill = self._get_skill(arguments)
        return Need(NAME, Act.NONE, subject=skill.name, summary=f"Skill {skill.name}", preview=text(arguments, "args"))

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        skill = self._get_skill(arguments)
        answered = await self._invoke(skill, text(arguments, "args"))
        if answered is not None:
            return answered
        return ToolAnswer(f"The skill {skill.name} is loaded; its text follows.", details={"commandName": skill.name})

    def _get_skill(self, arguments: JsonObject) -> Skill:
        name = text(arguments, "skill")
        skill = self._find(name)
        if skill is None:
            raise ToolMistake(f"There is no skill {name!r}. Use a name from the list of skills, or work without one.")
        if not skill.for_model:
            raise ToolMistake(f"Only the user may call the skill {skill.name!r}, as `/{skill.name}`.")
        return skill
