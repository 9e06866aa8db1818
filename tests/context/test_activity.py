from __future__ import annotations

import pytest

from reverie.context.activity import MOST, action, in_short, subject
from reverie.testing.build import tool_call
from tests.context.kit import Session
from tests.requirements import requirement


@pytest.mark.parametrize(
    ("tool", "parameters", "words"),
    [
        ("Read", {"file_path": "a.py"}, "read a.py"),
        ("Bash", {"command": "make   test\nmake lint"}, "ran make test make lint"),
        ("Grep", {"pattern": "TODO", "path": "src"}, "searched for TODO"),
        ("mcp__db__query", {"sql": "select 1"}, "used mcp__db__query"),
        ("Edit", {"file_path": "  "}, "edited"),
    ],
)
def test_an_action_is_said_as_a_person_would_say_it(tool: str, parameters: dict[str, str], words: str) -> None:
    assert action(tool_call(tool, "call_1", **parameters)) == words


def test_a_long_subject_is_cut() -> None:
    assert len(subject(tool_call("Bash", command="x" * 500))) == 80


@requirement("context:snip:oldest")
def test_actions_are_named_once_and_the_rest_is_counted() -> None:
    session = Session().say("go").work("Read", "x", file_path="a.py").work("Read", "x", file_path="a.py")
    for number in range(MOST + 2):
        session.work("Bash", "x", command=f"step {number}")

    assert in_short(session.view.items).startswith("read a.py (2 times); ran step 0")
    assert in_short(session.view.items).endswith("; and 3 more")
    assert in_short(session.view.items[:1]) == "talk without tools"
