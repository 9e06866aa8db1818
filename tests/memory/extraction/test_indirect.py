from __future__ import annotations

import pytest

from tests.memory.extraction.kit import found
from tests.requirements import requirement


@requirement("extraction:finds")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("feedback", "I'd rather you show me the plan first than start right in."),
        ("feedback", "I'm not a fan of abbreviations in identifiers."),
        ("feedback", "Can you not commit without asking me?"),
        ("feedback", "Please stop adding comments that repeat the code."),
        ("feedback", "Don't bother with type stubs for scripts."),
        ("feedback", "The convention here is snake_case for columns."),
        ("feedback", "Going forward all new endpoints need an OpenAPI entry."),
        ("feedback", "Ask Nadia before changing anything in the billing code."),
        ("project", "Search is owned by the discovery squad."),
        ("project", "We ship on Thursdays."),
        ("project", "The deadline moved to next Friday."),
        ("project", "We've settled on FastAPI, the team knows it best."),
        ("user", "English isn't my first language, so keep the words simple."),
        ("user", "I've never worked with Kubernetes before, go slowly."),
        ("reference", "Questions about deploys go to #ops on Slack."),
        ("feedback", "能不能别每次都问我要不要继续？"),
        ("feedback", "别再给我写那么长的总结了。"),
        ("feedback", "变量名不要用拼音。"),
        ("feedback", "我们的约定是分支名以工单号开头。"),
        ("project", "权限问题找王芳。"),
        ("project", "上线时间推迟到下周三。"),
        ("project", "我们不用 MongoDB 了，因为事务支持太弱。"),
        ("user", "我没用过 Docker，讲细一点。"),
        ("reference", "会议纪要都放在语雀。"),
    ],
)
def test_what_is_not_said_as_an_order_is_found(kind: str, text: str) -> None:
    assert [each.type.value for each in found(text)] == [kind]


@requirement("extraction:not-the-task")
@pytest.mark.parametrize(
    "text",
    [
        "I'd rather have the logo on the left.",
        "Can you not use recursion here?",
        "Maybe we should always validate the input.",
        "Who owns the scheduler",
        "We decided to go for pizza.",
        "Draft a message to the team that the release is on Friday.",
        "The poem goes: never trust the river in spring.",
        "From now on call the variable total.",
        "Every row needs a delete icon on this page.",
        "这个接口必须返回列表，改一下。",
        "也许以后可以换成 Postgres。",
        "他说以后都不用写文档了。",
        "写一封邮件告诉客户周五上线。",
        "给所有按钮都加上点击效果。",
    ],
)
def test_its_likeness_for_the_task_at_hand_is_not(text: str) -> None:
    assert found(text) == ()
