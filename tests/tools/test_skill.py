from __future__ import annotations

from pathlib import Path

import pytest

from reverie.extensions.skills import Skill, Skills
from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.policy import Policy
from reverie.permissions.rule import RuleKind
from reverie.tools.desk import Desk
from reverie.tools.skill import SkillTool
from reverie.tools.tool import ToolMistake
from tests.requirements import requirement
from tests.tools.kit import call, told

SKILLS = Skills((Skill("deploy", Path("deploy"), "user", for_model=False), Skill("review", Path("review"), "user")))


@requirement("extensions:skill:model")
async def test_the_model_invokes_a_skill_with_arguments(desk: Desk, tmp_path: Path) -> None:
    invoked: list[tuple[str, str]] = []

    async def invoke(skill: Skill, arguments: str) -> None:
        invoked.append((skill.name, arguments))

    tool = SkillTool(SKILLS.find, invoke)
    assert "review" in told(await call(tool, desk, skill="review", args="src"))
    assert invoked == [("review", "src")]
    policy = Policy(project=tmp_path, home=tmp_path)
    need = tool.need({"skill": "review"}, desk)
    assert decide(need, policy).verdict is PermissionVerdict.ALLOW
    assert decide(need, policy.with_rule("Skill(review)", RuleKind.DENY)).verdict is PermissionVerdict.DENY

    for name, why in (("deploy", "Only the user"), ("nothing", "There is no skill")):
        with pytest.raises(ToolMistake, match=why):
            await call(tool, desk, skill=name)
    assert len(invoked) == 1
